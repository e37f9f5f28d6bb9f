/* internal.h - the trace as its own parts see it: who makes what, in the order of a run.
 * SPDX-License-Identifier: MIT
 *
 *   plan.c       where everything lies                        -> plan
 *   gen*.c       one piece of code per clause                 -> clauses[i].code
 *   enter*.c     groups sites into programs, writes entries   -> programs, points
 *   maps.c       creates the maps                             -> maps
 *   link.c load.c  pieces + runtime -> one program each, loaded -> programs[i].fd
 *   attach*.c    hangs them in                                -> links
 *   progeny.c    keeps to the targets and what they start     -> the map TARGETS
 *   watch.c kin.c  what hooks tell, in processes that run and that will -> the maps NODES, NODE_KIN
 *   run.c        BEGIN and END, activity, the loop
 *   consume.c, print*.c, aggregate*.c, speculate.c, drops.c   records -> text */
#ifndef RAY_ENGINE_INTERNAL_H
#define RAY_ENGINE_INTERNAL_H

#include "engine/piece.h"
#include "engine/engine.h"
#include "engine/kernel_orc.h"
#include "engine/maps.h"
#include "engine/plan.h"
#include "kern/wire.h"

/* One BPF program: an entry for one kind of place, which calls the clauses that a point asks for. */
struct ray_entry {
	enum ray_site_kind kind;
	const char *group, *name; /* of a tracepoint */
	struct ray_piece code;
	const struct ray_clause **clauses; /* bit i of ray_point.clauses; at most 128 */
	size_t clause_count;
	uint32_t args_used;			/* of all of them */
	uint32_t first_point, point_count;	/* SYSCALL_*: point = first_point + number of the call */
	RAY_VEC(const struct ray_site *) sites; /* by point - first_point; NULL where nothing is (system calls) */
	RAY_VEC(const struct ray_probe *) probes;
	int fd; /* of the loaded program; -1 */
	uint32_t prog_type;
	uint32_t expected_attach_type; /* 0 but for uprobe_multi and system calls */
	uint32_t attach_type_id;       /* of system calls: the tracepoint's, in the kernel's BTF */
	bool is_watch;		       /* a hook's: it calls handlers, and clauses for what they tell (watch.h) */
	const char **handlers;	       /* by number - 1; of the first event of a hit */
	const char **more;	       /* of further ones */
	size_t handler_count;
	struct ray_piece step; /* what one event runs */
	bool grows;	       /* gets more sites while it runs (follow.c) */
};

enum { RAY_TRACE_MAPS = RAY_LINK_MAP_COUNT };

struct ray_watch;      /* probe/watch.h */
struct ray_consumer;   /* consume.c */
struct ray_stacker;    /* stacks.c: user stacks, from ids to names */
struct ray_follow;     /* follow.c */
struct ray_object;     /* object.c */
struct ray_kernel_btf; /* kernel_btf.c */

/* A probe of the node provider, and who wants it. */
struct ray_watched_probe {
	struct ray_probe *probe;
	struct ray_watch *watch;
	uint32_t event;
	const struct ray_clause **clauses;
	size_t clause_count;
};

/* Keeps something hung in. */
struct ray_link {
	int fd;
	pid_t pid; /* the process that it is about; 0: no certain one */
};

struct ray_late_point {
	pid_t pid;
	uint32_t point;
};

struct ray_late_site {
	struct ray_entry *entry;
	const struct ray_site *site;
	uint32_t point;
};

struct ray_trace {
	struct ray_arena *arena;
	struct ray_program *program;
	struct ray_catalogue *catalogue;
	struct ray_trace_settings settings;
	struct ray_trace_options options; /* a copy; setopt() changes it */
	struct ray_plan *plan;
	struct ray_piece *clause_code;		 /* by clause index */
	struct ray_piece fault_code;		 /* where a clause that faults leads to (enter_code.c) */
	const struct ray_clause **error_clauses; /* of dtrace:::ERROR */
	size_t error_clause_count;
	RAY_VEC(struct ray_entry *) entries;
	RAY_VEC(struct ray_point) points;
	uint64_t watched; /* bits of the events of node that clauses have, or may get */
	uint64_t unread;  /* RAY_UNREAD_*: texts that none of them reads */
	RAY_VEC(struct ray_watched_probe) watched_probes;
	RAY_VEC(const struct ray_clause *) watch_clauses; /* bit i of struct ray_node_point */
	RAY_VEC(struct ray_watch *) watches;
	bool has_calls;			  /* hooks at system calls hang; else functions stand in for them */
	int maps[RAY_TRACE_MAPS];	  /* by RAY_LINK_*; -1 where not needed */
	int *own_maps;			  /* by number - RAY_MAP_OWN */
	volatile struct ray_state *state; /* mapped */
	uint32_t *epochs;		  /* mapped; ray_agg_owner() of aggregations that have epochs; NULL: none has */
	struct ray_barrier barrier;
	uint64_t *targets, *node_bits;	     /* of the maps TARGETS and NODE_BITS, mapped; NULL: not needed */
	struct ray_object *object;	     /* the runtime, once something is linked */
	int btf;			     /* its types in the kernel; 0: not loaded yet */
	struct ray_kernel_btf *kernel_btf;   /* once a constant needs it */
	struct ray_kernel_orc kernel_orc;    /* likewise */
	bool has_kernel_orc;		     /* it was looked for */
	uint32_t strings_used, strings_size; /* bytes of the map STRINGS */
	uint32_t probes_size;		     /* elements of the map PROBES */
	uint32_t ring_size, slot_count;
	int epoll; /* readable when there is something to do; -1 before the start */
	RAY_VEC(struct ray_link) links;
	RAY_VEC(struct ray_late_site) late;	    /* sites that are not attached yet */
	RAY_VEC(struct ray_late_point) late_points; /* of processes that came later */
	RAY_VEC(uint32_t) free_points;		    /* of those that have ended */
	struct ray_consumer *consumer;
	uint64_t switch_ns; /* when the buffer is read next; 0: whenever there is something */
	struct ray_stacker *stacker;
	struct ray_kins *kins;	   /* NULL: nobody wants processes that do not run yet */
	struct ray_follow *follow; /* NULL: no probe can come later */
	bool is_started, is_stopped;
	bool wants_stacks; /* some clause takes a user stack */
};

/* kin.c: a probe by the number in a record; NULL if there is none. */
const struct ray_probe *ray_trace_probe(struct ray_trace *t, uint32_t id);
/* engine.c: ray_trace_fd() becomes readable when fd does. */
RAY_MUST_USE struct ray_error *ray_trace_watch(struct ray_trace *t, int fd);
/* clause_number.c: N of dt_clause_N. probe tells which of its descriptions is meant; NULL: the first. */
uint32_t ray_clause_number(const struct ray_program *program, uint32_t index, const struct ray_probe *probe);

/* gen.c. c->name is set; emits a function (ctx in R1, slot pointer in R2) -> 0. */
RAY_MUST_USE struct ray_error *ray_gen_clause(struct ray_trace *t, const struct ray_clause *clause,
					      struct ray_piece *c);
/* How many instructions it begins with that only a function needs: they put what it is called with where an entry has it already. */
uint32_t ray_gen_head(const struct ray_trace *t);
/* On the stack of a clause, or of the entry that it stands in: what the task keeps, once that was looked for. */
enum { RAY_STACK_TASK = -40 };
/* enter.c: whether some probe of the clause tells of another thread than the one that runs. */
bool ray_clause_is_about_task(struct ray_trace *t, const struct ray_clause *clause);
/* enter.c: an entry without code, for sites like this one. NULL: no memory. */
struct ray_entry *ray_entry_create(struct ray_trace *t, const struct ray_site *site);
/* enter.c: fills entries and points. */
RAY_MUST_USE struct ray_error *ray_entries_create(struct ray_trace *t);
/* maps.c. What nothing uses stays -1, and so do the maps of the stack walker, which stacks.c makes. Needs the entries. */
RAY_MUST_USE struct ray_error *ray_maps_create(struct ray_trace *t);
/* Lets probefunc and its like name a probe that came after the start. */
RAY_MUST_USE struct ray_error *ray_maps_name_probe(struct ray_trace *t, const struct ray_probe *probe);
/* Which maps (RAY_LINK_*) the code of the entries uses. */
RAY_MUST_USE struct ray_error *ray_maps_used(struct ray_trace *t, bool used[RAY_LINK_MAP_COUNT]);

/* constants.c. How a slot lies in its map: after what the plan knows comes the runtime's own work area; offsets are and-ed with
 * mask, and `block` more bytes follow, so that any area of the plan at any masked offset stays inside. */
struct ray_slot_shape {
	uint32_t work_at, mask, block, value_size;
};
void ray_slot_shape(const struct ray_plan *plan, struct ray_slot_shape *ret);
RAY_MUST_USE struct ray_error *ray_kernel_typedef(struct ray_trace *t, const char *name, uint32_t *ret);
RAY_MUST_USE struct ray_error *ray_link_constant(struct ray_trace *t, uint32_t number, uint64_t *ret);
/* load.c: links and loads one entry; all of them. */
RAY_MUST_USE struct ray_error *ray_entry_load(struct ray_trace *t, struct ray_entry *e);
RAY_MUST_USE struct ray_error *ray_entries_load(struct ray_trace *t);
RAY_MUST_USE struct ray_error *ray_trace_object(struct ray_trace *t, const struct ray_object **ret); /* read once */
RAY_MUST_USE struct ray_error *ray_load_denied(const char *what); /* with the remedy */
void ray_load_close(struct ray_trace *t);			  /* what loading kept: object and types */
/* attach.c: all of them, but BEGIN, END and ERROR. */
RAY_MUST_USE struct ray_error *ray_entries_attach(struct ray_trace *t);
void ray_entries_detach(struct ray_trace *t);
/* run.c: BEGIN or END by BPF_PROG_TEST_RUN. */
RAY_MUST_USE struct ray_error *ray_entry_run(struct ray_trace *t, enum ray_site_kind kind);

/* consume.c */
RAY_MUST_USE struct ray_error *ray_consumer_create(struct ray_trace *t, struct ray_consumer **ret);
void ray_consumer_free(struct ray_consumer *c);
/* Consumes and prints records: TURN for 100 ms at most; ALL without a limit; END and AFTER_END until the deadline
 * after a signal, and counts the rest. */
enum ray_drain { RAY_DRAIN_TURN, RAY_DRAIN_ALL, RAY_DRAIN_END, RAY_DRAIN_AFTER_END };
RAY_MUST_USE struct ray_error *ray_consumer_drain(struct ray_consumer *c, enum ray_drain how);
/* At the end: aggregations that nobody printed, and the last drops. */
RAY_MUST_USE struct ray_error *ray_consumer_finish(struct ray_consumer *c);
/* Now and then (statusrate): drops since the last call. */
void ray_consumer_report_drops(struct ray_consumer *c);

/* stacks.c. record is a RAY_RECORD_STACK; named at once, while its objects still are where they were. */
RAY_MUST_USE struct ray_error *ray_stacker_create(struct ray_trace *t, struct ray_stacker **ret);
void ray_stacker_free(struct ray_stacker *s);
RAY_DEFINE_AUTO(ray_stacker, ray_stacker_free)
/* A process that has mapped its libraries by now. */
void ray_stacker_look(struct ray_stacker *s, uint32_t tgid);
void ray_stacker_take(struct ray_stacker *s, const struct ray_record *record);
/* Between records: forgets what was known for long, or takes too much memory. Not while records are held back. */
void ray_stacker_age(struct ray_stacker *s);
/* Is it known, or nothing to be known? */
bool ray_stacker_has(const struct ray_stacker *s, const struct ray_stack_ref *ref);
/* The stack as lines (each ends with \n, without indent); style of DTrace: module`function+0x12, JS: name (file:line:col). */
void ray_stacker_print(struct ray_stacker *s, const struct ray_stack_ref *ref, enum ray_value_kind kind,
		       uint32_t frames, struct ray_text *out);
/* The same as frames; NULL: no stack was had. */
const struct ray_fact_stack *ray_stacker_frames(struct ray_stacker *s, const struct ray_stack_ref *ref);
/* Of the kernel, with what looks at it left out; NULL: nothing is left, or no memory. */
const struct ray_fact_stack *ray_stacker_kernel_frames(struct ray_stacker *s, const uint64_t *addresses, size_t count);
/* usym (kind 's'), ufunc ('f'), umod ('m'), uaddr ('a') of an address in a process; sym, func, mod of the kernel with tgid 0. */
void ray_stacker_symbol(struct ray_stacker *s, uint32_t tgid, uint64_t address, char kind, struct ray_text *out);

/* Does this address of the kernel belong to a BPF program, or to what calls one at a tracepoint? */
bool ray_stacker_is_own(struct ray_stacker *s, uint64_t address);

#endif
