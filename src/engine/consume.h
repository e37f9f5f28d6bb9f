/* consume.h - what the files of the consumer share; for consume.c, actions.c, ring.c, field_*.c, print*.c, aggregate*.c, speculate.c and drops.c.
 * SPDX-License-Identifier: MIT
 *
 *   consume.c          takes records, prints heads and faults
 *   actions.c          what statements ask of user space
 *   ring.c             the ring buffer, mapped
 *   field_value.c      values out of records and keys
 *   field_name.c       what stacks, symbols and probes in them are called
 *   print.c            the layouts of trace() and of tuples
 *   print_type.c       print(): a typed value as C would write it
 *   aggregate.c        snapshots, clear and trunc
 *   aggregate_epoch.c  replaces the kernel's elements without losing a count
 *   aggregate_keys.c   keys, and which of them read the same
 *   aggregate_words.c  what functions add up
 *   aggregate_sort.c   in which order
 *   aggregate_print.c  printa() and the dump at the end
 *   facts.c            the same as named values, for a view
 *   speculate.c, drops.c */
#ifndef RAY_ENGINE_CONSUME_H
#define RAY_ENGINE_CONSUME_H

#include <stdio.h>

#include "base/hashmap.h"
#include "base/text.h"
#include "engine/internal.h"
#include "view/fact.h"

/* ---- ring.c ---- */

struct ray_ring {
	volatile unsigned long *taken, *given; /* positions: ours to write, the kernel's */
	const char *data;
	size_t size, page;
	unsigned long looked; /* how far ray_ring_look_ahead() has been */
	unsigned long at;     /* position of the record that fn is called with; between calls, of the next record */
};

/* A record is valid until the next call. */
typedef struct ray_error *ray_ring_fn(void *arg, const void *record, size_t size);
RAY_MUST_USE struct ray_error *ray_ring_open(int fd, size_t size, struct ray_ring *ret);
void ray_ring_close(struct ray_ring *r);
struct ray_ring_limit {
	uint64_t end_ns;    /* CLOCK_MONOTONIC; 0: none */
	uint32_t signal_ms; /* milliseconds after a terminating signal */
};
/* Consumes the records in the ring, and those added in the meantime, up to the size of the ring. Stops at the limit
 * or at an error of fn; at least one record is consumed. */
RAY_MUST_USE struct ray_error *ray_ring_take(struct ray_ring *r, const struct ray_ring_limit *limit, ray_ring_fn *fn,
					     void *arg);
/* Discards all records and returns their number. */
uint64_t ray_ring_skip(struct ray_ring *r);
/* Position behind the last record that programs have sent. */
unsigned long ray_ring_end(const struct ray_ring *r);
/* What will be taken, without taking it; each record is shown once. */
RAY_MUST_USE struct ray_error *ray_ring_look_ahead(struct ray_ring *r, ray_ring_fn *fn, void *arg);

/* ---- aggregate.c ---- */

/* One key of the current epoch as the kernel has it, without CPU and owner. */
struct ray_agg_raw {
	uint8_t *key;
	int64_t *words; /* lanes * words: what the elements of all CPUs hold */
	int64_t *base;	/* likewise: the part of them from before the last clear() or trunc(); NULL: nothing */
	uint32_t group;
	bool is_seen; /* by this snapshot: words are valid */
};

/* Keys that read the same: one key for the user. */
struct ray_agg_group {
	uint64_t hash;
	const uint8_t *key; /* of the first of them */
	uint8_t *own_key;   /* the same, once its epoch has ended; else NULL: it is the raw key's */
	char **texts;	    /* by field: names of stacks, symbols, probes; NULL elsewhere */
	int64_t *words;	    /* lanes * words: the value, of this snapshot */
	int64_t *settled;   /* likewise: the part of it from epochs that have ended; NULL: nothing */
	bool is_hidden;	    /* removed by trunc(), and nothing was counted since */
	/* For sorting: */
	const struct ray_agg *agg;
	long double weight;
	int64_t at_zero;
};

struct ray_agg {
	const struct ray_agg_plan *plan;
	int fd, short_fd; /* short_fd: of keys with a short string; -1: there is none */
	int near_fd;	  /* of the array of elements that are at hand; -1 */
	uint32_t lanes;	  /* 1, or one per CPU with aggpercpu */
	bool has_texts;	  /* some field must be read before keys can be compared */
	bool has_map;	  /* groups are found by what they read; else each raw key is its own */
	bool is_fleeting; /* usym() and its like: names that are gone when their process is */
	bool is_printed;
	int64_t normal;
	uint64_t taken_ns;	  /* when the snapshot was taken; 0: there is none */
	unsigned long taken_at;	  /* ray_ring_end() at that time */
	uint32_t epoch, capacity; /* capacity: elements that the map has room for */
	size_t hidden;		  /* groups */
	bool must_end;		  /* the epoch */
	uint64_t ended_ns;	  /* when the last one did */
	RAY_VEC(struct ray_agg_raw) raw;
	RAY_VEC(struct ray_agg_group) groups;
	RAY_HASHMAP(uint32_t) raw_map, group_map; /* their numbers */
};

RAY_MUST_USE struct ray_error *ray_aggs_create(struct ray_consumer *c);
void ray_aggs_free(struct ray_consumer *c);
/* Now and then: names what may not have a name for long. */
RAY_MUST_USE struct ray_error *ray_aggs_name(struct ray_consumer *c);
/* What the kernel has counted, at least until the present record was sent. */
RAY_MUST_USE struct ray_error *ray_agg_snapshot(struct ray_consumer *c, struct ray_agg *a);
/* Adds the keys and values of an epoch's elements. is_over: no program uses them any more, so they are deleted. */
RAY_MUST_USE struct ray_error *ray_agg_read(struct ray_consumer *c, struct ray_agg *a, uint32_t epoch, bool is_over);
RAY_MUST_USE struct ray_error *ray_agg_clear(struct ray_consumer *c, struct ray_agg *a);
/* The n largest stay, or with n < 0 the -n smallest. */
RAY_MUST_USE struct ray_error *ray_agg_trunc(struct ray_consumer *c, struct ray_agg *a, int64_t n);

/* ---- aggregate_keys.c ---- */

/* The key, made if it is new; its first 8 bytes are 0. Valid until the next call. NULL: no memory. */
struct ray_agg_raw *ray_agg_key(struct ray_consumer *c, struct ray_agg *a, const void *key);
size_t ray_agg_lane_words(const struct ray_agg *a); /* words of all lanes */
void ray_agg_reset_lanes(const struct ray_agg *a, int64_t *words);
/* Makes *words if there are none yet, and resets them. */
bool ray_agg_reset_room(const struct ray_agg *a, int64_t **words);
/* Frees all raw keys and the hidden groups; false: no memory. */
bool ray_agg_forget(struct ray_agg *a);
/* The groups that a user sees; *ret is to be freed. false: no memory. */
bool ray_agg_shown(struct ray_agg *a, struct ray_agg_group ***ret, size_t *count_ret);
void ray_agg_keys_free(struct ray_agg *a);

/* ---- aggregate_epoch.c ---- */

/* Ends the epochs that must end and whose snapshots no record needs any more. */
RAY_MUST_USE struct ray_error *ray_aggs_end_epochs(struct ray_consumer *c);
/* Called after clear() and trunc(): decides whether the epoch has to end. */
void ray_agg_plan_end(struct ray_agg *a);

/* ---- aggregate_words.c ---- */

void ray_agg_reset(const struct ray_agg_plan *plan, int64_t *words);
/* Adds (or takes the smaller, the larger of) what `from` has. */
void ray_agg_merge(const struct ray_agg_plan *plan, int64_t *into, const int64_t *from);
/* Whether they are as after ray_agg_reset(). */
bool ray_agg_is_reset(const struct ray_agg_plan *plan, const int64_t *words);
/* What was added since the words were `what`. Of min and max: the value, if it has changed since; else it is reset. */
void ray_agg_subtract(const struct ray_agg_plan *plan, int64_t *from, const int64_t *what);
/* avg and stddev worked out; the others' first word. Divided by normal. */
int64_t ray_agg_number(const struct ray_agg_plan *plan, const int64_t *words, int64_t normal);

/* ---- aggregate_sort.c ---- */

struct ray_agg_order {
	bool by_key, reverse;
	uint32_t key_position;
};

struct ray_agg_order ray_agg_order_of(const struct ray_trace_options *o);
struct ray_histogram;
/* false: its function makes none. */
bool ray_agg_histogram(const struct ray_agg_plan *plan, const int64_t *words, int64_t normal,
		       struct ray_histogram *ret);
/* Of all lanes; ret has room for plan->words. */
void ray_agg_total(const struct ray_agg *a, const struct ray_agg_group *g, int64_t *ret);
/* Sets weight and at_zero of every group. */
void ray_agg_weigh(struct ray_agg *a);
/* Groups of one aggregation or of several (by number of aggregation first). */
void ray_agg_sort(struct ray_agg_group **groups, size_t count, const struct ray_agg_order *order);
/* By value, largest first; ties by key. */
void ray_agg_sort_descending(struct ray_agg_group **groups, size_t count);
int ray_agg_compare_keys(const struct ray_agg_group *a, const struct ray_agg_group *b, uint32_t position);

/* A row of a printa() with several aggregations: at[i] is the group of the i-th, never NULL. */
struct ray_agg_row {
	const struct ray_agg_group *key; /* one that is really there */
	const struct ray_agg_group **at;
};
/* Sorted by the values in the order of the columns, from `position` on. */
void ray_agg_sort_rows(struct ray_agg_row *rows, size_t count, size_t columns, size_t position,
		       const struct ray_agg_order *order);

/* ---- aggregate_print.c ---- */

RAY_MUST_USE struct ray_error *ray_agg_printa(struct ray_consumer *c, const struct ray_statement *s);
/* What nobody printed. */
RAY_MUST_USE struct ray_error *ray_aggs_dump(struct ray_consumer *c);

/* ---- facts.c ---- */

/* What a format calls its values. */
struct ray_fact_shape {
	const struct ray_format *format;
	char *name;
	char **fields; /* one per conversion that takes a value */
	size_t field_count;
	uint8_t *guesses; /* see struct ray_fact */
	char *next;	  /* of what the next statement adds; "" if it has none */
};

/* The statements of a record, one after the other, then told to settings.on_fact. */
void ray_fact_begin(struct ray_consumer *c);
void ray_fact_add_printf(struct ray_consumer *c, const struct ray_format *format, const struct ray_value *values,
			 size_t count);
void ray_fact_add_value(struct ray_consumer *c, const struct ray_value *value);
void ray_fact_end(struct ray_consumer *c, const struct ray_record *r);
/* A row of a printa(): keys in the order of the format's plain conversions, values in that of %@. A value that is a histogram's is none
 * itself. row NULL: there are no more. */
struct ray_fact_row {
	const struct ray_value *keys;
	const struct ray_fact_field *values; /* without names */
	size_t key_count, value_count;
};
void ray_fact_tell_row(struct ray_consumer *c, const struct ray_format *format, const struct ray_fact_row *row);
void ray_facts_free(struct ray_consumer *c);

/* ---- speculate.c ---- */

struct ray_speculation {
	uint8_t *bytes; /* records, each rounded up to 8 */
	size_t size, room;
	size_t counted; /* against specsize */
};

void ray_speculations_free(struct ray_consumer *c);
void ray_speculation_hold(struct ray_consumer *c, const struct ray_record *r);
RAY_MUST_USE struct ray_error *ray_speculation_commit(struct ray_consumer *c, uint32_t id);
void ray_speculation_discard(struct ray_consumer *c, uint32_t id);

/* ---- drops.c ---- */

void ray_consumer_tell_drops(struct ray_consumer *c); /* now, whatever statusrate says */

/* ---- consume.c ---- */

struct ray_flow {
	uint32_t tid;
	int indent;
};

struct ray_consumer {
	struct ray_trace *t;
	struct ray_ring ring;
	struct ray_text out; /* not written yet */
	FILE *file;	     /* where it goes: settings.out, or what freopen() opened */
	FILE *opened;	     /* by freopen(); NULL: none */
	bool has_heading;
	uint32_t last_probe, last_clause;
	RAY_VEC(struct ray_flow) flows;
	RAY_VEC(struct ray_value) values;
	RAY_VEC(struct ray_text) texts; /* of values that had to be named */
	struct ray_agg *aggs;		/* by id */
	size_t agg_count;
	uint64_t named_ns;			      /* when ray_aggs_name() last looked */
	RAY_VEC(struct ray_speculation) speculations; /* by id - 1 */
	uint64_t speculative_drops;
	uint64_t canceled;	   /* system() commands that were not started after a signal */
	uint64_t unread;	   /* records skipped at the deadline after a signal */
	struct ray_state reported; /* the counts that were told */
	uint64_t reported_ns;	   /* when */
	uint64_t reported_speculative_drops;
	RAY_VEC(struct ray_fact_shape) shapes;
	RAY_VEC(struct ray_fact_field) fact_fields;
	uint8_t *fact_guesses;		   /* of the record's first format */
	const char *fact_name, *fact_next; /* of the record's fact; of what its next statement adds */
	size_t fact_values;		   /* of c->values: those of statements before */
	const struct ray_record *printing; /* whose statement is being done; NULL: none's */
};

RAY_MUST_USE struct ray_error *ray_consume_data(struct ray_consumer *c, const struct ray_record *r);
/* Writes what is waiting. */
void ray_consumer_flush(struct ray_consumer *c);
/* A message of its own line on settings.notes, "dtrace: " in front. */
void ray_consumer_note(struct ray_consumer *c, const char *fmt, ...) RAY_PRINTF(2, 3);

/* ---- field_value.c ---- */

/* Reads count fields out of bytes into c->values from `first` on; false: they do not fit, or no memory. */
bool ray_values_read(struct ray_consumer *c, size_t first, const struct ray_field *fields, size_t count,
		     const void *bytes, size_t size);
void ray_field_value(const struct ray_field *f, const void *bytes, const char *name, size_t name_length,
		     struct ray_value *ret);

/* ---- field_name.c ---- */

bool ray_field_is_stack(const struct ray_field *f);
/* What a field needs that is not in it: names of stacks, symbols and probes. */
bool ray_field_is_named(const struct ray_field *f);
bool ray_field_is_fleeting(const struct ray_field *f); /* the name is gone with its process */
void ray_field_name(struct ray_consumer *c, const struct ray_field *f, const void *bytes, struct ray_text *out);
/* Of a stack: its frames. NULL: it is none, or there is none. */
const struct ray_fact_stack *ray_field_stack(struct ray_consumer *c, const struct ray_field *f, const void *bytes);

/* ---- print.c ---- */

void ray_print_traced(struct ray_consumer *c, const struct ray_field *f, const struct ray_value *v);
/* In a tuple: columns of DTrace's widths. */
void ray_print_key(struct ray_consumer *c, const struct ray_field *f, const struct ray_value *v, struct ray_text *out);
void ray_print_raw(const void *bytes, size_t size, struct ray_text *out);
void ray_print_stack(const struct ray_value *v, uint32_t indent, struct ray_text *out);

/* ---- actions.c ---- */

/* What one statement asks of user space: prints into c->out, or acts. Errors are those that end the trace; what goes
 * wrong with one action is told as a fault of its clause. */
RAY_MUST_USE struct ray_error *ray_step_do(struct ray_consumer *c, const struct ray_record *r,
					   const struct ray_probe *p, const struct ray_step *step);

/* ---- print_type.c ---- */

/* At most limit bytes of them. */
void ray_print_typed(const struct ray_type *type, const void *bytes, size_t size, size_t limit, struct ray_text *out);

#endif
