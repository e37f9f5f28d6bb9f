/* plan.h - where everything lies: in the slot, in records, in keys, in maps.
 * SPDX-License-Identifier: MIT
 *
 * Made once from the checked program, before any code: the generator writes to these places, the consumer reads from
 * them. */
#ifndef RAY_ENGINE_PLAN_H
#define RAY_ENGINE_PLAN_H

#include "engine/options.h"
#include "kern/wire.h"
#include "lang/program.h"

/* Bytes that stand for one value, at a multiple of 8. Integers, pointers and floats always take 8 bytes, integers
 * sign- or zero-extended by their type, in keys and in records; strings take `size` bytes (16 at least), NUL-
 * terminated and zero-padded, or 8: then the value is the ID of the probe whose part `expr` names (probefunc...); a
 * user stack is a struct ray_stack_ref, a kernel stack size / 8 addresses; symbols (usym...) two words, tgid (0:
 * kernel) and address; by-reference data its bytes. */
struct ray_field {
	uint32_t offset, size; /* in a record: from the start of struct ray_record */
	uint32_t frames;       /* of stacks */
	const struct ray_type *type;
	enum ray_value_kind kind;
	bool is_packed;		     /* in a record: a struct ray_packed stands there; `size` is the most it may be */
	const struct ray_expr *expr; /* of a statement like ustack(20): a CALL made up for it */
};

/* What the consumer does for one statement of a clause. */
struct ray_step {
	const struct ray_statement *statement;
	uint32_t action; /* its number in the clause, from 1: told in faults */
	/* Its recorded values: one per argument that is no aggregation. tracemem: the bytes, then the dynamic size if
	 * one is given. print of a pointer or of by-reference data: the address, then the bytes pointed to (type is
	 * the target's). */
	const struct ray_field *fields;
	size_t field_count;
};

struct ray_clause_plan {
	const struct ray_clause *clause;
	struct ray_step *steps; /* only those that leave something in the record, or act in user space */
	size_t step_count;
	uint32_t
		record_size; /* with struct ray_record, strings as long as they may be: what options about sizes mean; 0: the clause sends nothing */
	uint32_t sent_size; /* what is sent at least: all but what is packed */
	uint32_t room;	    /* that making it takes: that, and what is packed as long as it may be */
	bool is_packed;	    /* some of it is: records have their own sizes */
};

/* A tuple: an aggregation's or an associative array's. For an array and for self-> the first 8 bytes are the
 * variable's scope and id, for self-> the next 8 are the thread; fields' offsets count them in. */
struct ray_key_plan {
	const struct ray_field *fields;
	size_t field_count;
	uint32_t size;
};

struct ray_agg_plan {
	const struct ray_aggregation *aggregation;
	/* Begins with 8 bytes: the CPU, and in the upper half the owner, see ray_agg_owner(). So each CPU has elements
	 * of its own, made when it first needs them: per-CPU maps allocate for all CPUs, slowly, and fail when keys
	 * come in a burst. */
	struct ray_key_plan key;
	/* 8 bytes each of data: 1 count sum min max, 2 avg (count, sum), 4 stddev (count, sum, sum of squares low,
	 * high), 127 quantize, ... */
	uint32_t words;
	/* 8 + 8 * words; the first word of min and max is 1 once the other holds a value (who clears one writes
	 * zeros), 0 elsewhere. */
	uint32_t value_size;
	uint32_t map;	/* number for RAY_REF_MAP */
	bool is_shared; /* its map, with others whose keys and values are of the same sizes */
	/* Elements can be replaced by new ones (aggregate_epoch.c). Programs read the owner of the elements that they
	 * make and update from this offset of the map epochs_map. */
	bool has_epochs;
	uint32_t epoch_at;
	/* Aggregations that are always filled together have one element for a key: element_size bytes, of which those from value_at on are
	 * this one's. The first word of each part is 1 once it holds something. */
	bool has_mates;
	uint32_t value_at, element_size;
	/* Keys whose last field is a string that is short (RAY_SHORT_KEY) are in a map of their own, without most of its zeros: hashing
	 * and comparing those would take longer than all the rest. 0: there is none. */
	uint32_t short_size, short_map;
	/* Most short keys have their elements at hand: 1 << near_bits places for each CPU in an array, which the key chooses from. The first key to
	 * come to a place has it for good; others are in the hash. near_words: of the key, behind the CPU's; near_size: of a place, a struct
	 * ray_agg_place and the element; 0: there is none. */
	uint32_t near_size, near_map, near_words, near_bits;
};

static inline bool ray_agg_is_extreme(const struct ray_aggregation *a)
{
	return a->function == RAY_AGG_MIN || a->function == RAY_AGG_MAX;
}

enum { RAY_AGG_EPOCHS = 256 }; /* numbers of epochs, used in turn; only two are ever in use */

/* Which aggregation an element belongs to, where the map has those of several, and in which epoch it was made. */
static inline uint32_t ray_agg_owner(const struct ray_agg_plan *a, uint32_t epoch)
{
	return (a->is_shared ? a->aggregation->id : 0) | epoch << 24;
}

enum ray_agg_place_state { RAY_AGG_PLACE_FREE, RAY_AGG_PLACE_TAKEN, RAY_AGG_PLACE_BUSY /* somebody takes it */ };

struct ray_agg_place {
	uint64_t state; /* enum ray_agg_place_state */
	uint64_t key[]; /* near_words */
};

static inline uint32_t ray_agg_place_head(const struct ray_agg_plan *a)
{
	return sizeof(struct ray_agg_place) + 8 * a->near_words;
}

/* self-> variables and associative arrays whose keys and values have the same sizes share one hash map. */
struct ray_dynvar_class {
	uint32_t key_size, value_size;
	uint32_t map;
};

struct ray_variable_plan {
	const struct ray_variable *variable;
	uint32_t offset; /* global: in the element of map `globals`; this->: in the slot */
	uint32_t size;	 /* of strings in globals and this->: with the 8 bytes in front that are 0 while it is NULL */
	struct ray_key_plan key; /* dynamic ones */
	uint32_t class_index;	 /* into classes */
	bool is_in_task;	 /* a number of self->: not in a hash, but at `offset` of what the task itself keeps */
};

/* Frames of a kernel stack that may be ours and the tracepoint's, in front of those that were asked for. */
enum { RAY_STACK_OWN = 6 };

enum { RAY_MAP_OWN = 1000 }; /* numbers of maps that only this program has, from here on */

struct ray_plan {
	struct ray_arena *arena;
	const struct ray_program *program;
	const struct ray_trace_options *options;
	struct ray_clause_plan *clauses;		       /* by clause index */
	struct ray_agg_plan *aggregations;		       /* by id */
	struct ray_variable_plan *variables[RAY_SCOPE_INLINE]; /* by scope and id */
	RAY_VEC(struct ray_dynvar_class) classes;
	uint32_t globals_size, globals_map;
	uint32_t epochs_size, epochs_map; /* of aggregations that have epochs */
	uint32_t task_size, task_map;	  /* self-> that are numbers */
	uint32_t map_count;		  /* of own maps */
	/* The slot's memory: offsets from its start (struct ray_slot included). */
	uint32_t locals_at, locals_size;
	uint32_t strings_at; /* string constants, written into every slot before the start */
	uint32_t strings_size;
	uint32_t temps_at, temp_size, temp_count; /* strings being worked on */
	uint32_t key_at, key_size;
	uint32_t short_at;	       /* a word: whether the key that was made last has a short string */
	uint32_t value_at, value_size; /* a value on its way into a variable */
	uint32_t event_at, event_size; /* struct ray_node_area, if hooks can fill it; else no bytes */
	uint32_t zeros_at, zeros_size; /* never written: new elements start from it */
	uint32_t record_at, record_size, record_room; /* the largest record; the room that making one takes */
	uint32_t scratch_at, scratch_size;	      /* alloca, copyin */
	uint32_t slot_size;
	uint8_t *string_bytes;		 /* strings_size of them */
	struct ray_plan_string *strings; /* where each constant is; plan.c's own */
};

RAY_MUST_USE struct ray_error *ray_plan_create(const struct ray_program *program,
					       const struct ray_trace_options *options, struct ray_arena *arena,
					       struct ray_plan **ret);
/* Offset in the slot of a string constant; one longer than strsize is cut. */
uint32_t ray_plan_string(const struct ray_plan *plan, const char *text, size_t length);

#endif
