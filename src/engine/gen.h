/* gen.h - the code generator, as its own parts see it.
 * SPDX-License-Identifier: MIT
 *
 * A clause is one BPF function: R9 is the slot, R8 the context. Values of expressions live on a stack of positions: 0
 * is R6, 1 is R7, the next ones are words in the slot (spills); R0 to R5 are for what happens inside one step, and
 * lost at every call. All values are numbers: pointers that the verifier knows are made, used and forgotten within a
 * step.
 *
 * Every function that evaluates takes the position for its result; positions above it are free, those below are kept.
 */
#ifndef RAY_ENGINE_GEN_H
#define RAY_ENGINE_GEN_H

#include "engine/internal.h"
#include "engine/plan_walk.h"
#include "lang/functions.h"

enum {
	R0 = BPF_REG_0,
	R1 = BPF_REG_1,
	R2 = BPF_REG_2,
	R3 = BPF_REG_3,
	R4 = BPF_REG_4,
	R5 = BPF_REG_5,
	R6 = BPF_REG_6,
	R7 = BPF_REG_7,
	CTX = BPF_REG_8,
	SLOT = BPF_REG_9,
};

/* Where a fault is told from: out of the way of what normally runs. */
struct ray_gen_fault {
	uint32_t label;
	uint32_t action;
	uint32_t kind; /* 0: the runtime has stored it already */
};

struct ray_gen {
	struct ray_trace *trace;
	const struct ray_plan *plan;
	const struct ray_clause *clause;
	const struct ray_clause_plan *clause_plan;
	struct ray_piece *c;
	uint32_t out;	 /* label: the end, without a record */
	uint32_t action; /* the statement, from 1; 0: the predicate */
	uint32_t temps;	 /* in use */
	RAY_VEC(struct ray_gen_fault) faults;
	struct ray_error *err; /* the first */
};

#define SLOT_AT(member) ((int)offsetof(struct ray_slot, member))

/* ---- gen_base.c: positions, calls, faults ---- */
void ray_gen_fail(struct ray_gen *g, const struct ray_where *where, const char *what);
void ray_gen_emit(struct ray_gen *g, struct bpf_insn insn);
/* The register that holds the position: R6, R7, or spare, into which the value is loaded. */
uint8_t ray_gen_get(struct ray_gen *g, unsigned d, uint8_t spare);
void ray_gen_get_into(struct ray_gen *g, unsigned d, uint8_t reg);
void ray_gen_set(struct ray_gen *g, unsigned d, uint8_t reg);
/* The register to compute into: R6, R7 or spare; followed by ray_gen_set(). */
uint8_t ray_gen_target(unsigned d, uint8_t spare);
void ray_gen_set_u64(struct ray_gen *g, unsigned d, uint64_t value);
/* Access to the slot at any offset; R5 may be lost. */
void ray_gen_slot_load(struct ray_gen *g, uint8_t size, uint8_t reg, uint32_t offset);
void ray_gen_slot_store(struct ray_gen *g, uint8_t size, uint32_t offset, uint8_t reg);
void ray_gen_slot_pointer(struct ray_gen *g, uint8_t reg, uint32_t offset);
/* R0 = process << 32 | thread: the running one, or whom the probe is about. */
void ray_gen_thread(struct ray_gen *g);
/* Calls a function of the runtime whose first argument is the slot's index; the other arguments are in R2..R5. Result
 * in R0. */
void ray_gen_call(struct ray_gen *g, const char *function);
/* To be called where the runtime may have stored a fault. */
void ray_gen_check_fault(struct ray_gen *g);
/* A fault if the address at the position is 0. */
void ray_gen_check_null(struct ray_gen *g, unsigned d);
/* A label to jump to for a fault of our own; R1 holds its value (address). */
uint32_t ray_gen_fault_label(struct ray_gen *g, enum ray_fault kind);
void ray_gen_faults_emit(struct ray_gen *g);
uint32_t ray_gen_temp(struct ray_gen *g); /* offset in the slot of a free temporary */
/* A pointer in R1 becomes a number (the address) at the position. */
void ray_gen_set_address(struct ray_gen *g, unsigned d, uint8_t pointer);
/* Makes the number in reg fit the type, as C's conversion does. */
void ray_gen_normalise(struct ray_gen *g, uint8_t reg, const struct ray_type *type);
uint8_t ray_gen_size_code(uint64_t size); /* BPF_B.. */
/* *(u64 *)(state + offset) += 1; uses R1, R2. */
void ray_gen_count(struct ray_gen *g, uint32_t offset);
void ray_gen_count_cpu(struct ray_gen *g, uint32_t offset); /* an element per CPU: RAY_DROP_CPUS */

/* ---- gen_expr.c ---- */
void ray_gen_expr(struct ray_gen *g, const struct ray_expr *e, unsigned d);
/* For what it does: its value is not asked for. */
void ray_gen_effect(struct ray_gen *g, const struct ray_expr *e);
/* Goes to the label if e is true (or false), else on. */
void ray_gen_branch(struct ray_gen *g, const struct ray_expr *e, unsigned d, bool if_true, uint32_t label);

/* ---- gen_arith.c: a (position) op b (position, or a constant) -> position of a ---- */
struct ray_gen_operand {
	bool is_constant;
	int32_t constant;
	unsigned d;
};
void ray_gen_arith(struct ray_gen *g, enum ray_op op, const struct ray_type *type, unsigned d,
		   struct ray_gen_operand b);
bool ray_gen_fits_imm(const struct ray_expr *e);
void ray_gen_compare_branch(struct ray_gen *g, const struct ray_expr *e, unsigned d, bool if_true, uint32_t label);

/* ---- gen_place.c: lvalues ---- */
enum ray_place_kind { RAY_PLACE_SLOT, RAY_PLACE_GLOBAL, RAY_PLACE_DYNAMIC, RAY_PLACE_ADDRESS };
struct ray_place {
	enum ray_place_kind kind;
	const struct ray_variable_plan *variable; /* not of ADDRESS */
	const struct ray_expr *element;		  /* DYNAMIC: its args are at positions from keys_d on */
	unsigned keys_d, d;			  /* d: of the ADDRESS */
	uint32_t offset;			  /* from the slot's, the element's or the address's start */
	uint32_t limit;				  /* where the variable ends, as offset counts; not of ADDRESS */
	bool has_index;				  /* plus a number of bytes at position index_d */
	unsigned index_d;
	bool is_whole; /* a variable or element itself, nothing inside of it */
	bool has_flag; /* a string variable: the 8 bytes at offset - 8 tell whether it is NULL */
	const struct ray_type *type;
	uint32_t bit_shift, bit_width; /* of a bit-field, in the container of bit_size bytes at offset */
	uint32_t bit_size;
};
/* Evaluates what the place depends on at positions from d on; returns the next free one. */
unsigned ray_gen_place(struct ray_gen *g, const struct ray_expr *e, unsigned d, struct ray_place *p);
/* Reads the place into position d; for by-reference types its address (strings: a tagged one). */
void ray_gen_place_load(struct ray_gen *g, const struct ray_place *p, unsigned d);
/* Stores the value at position d; free is the first free position. */
void ray_gen_place_store(struct ray_gen *g, const struct ray_place *p, unsigned d, unsigned free);
void ray_gen_place_address(struct ray_gen *g, const struct ray_place *p, unsigned d);
bool ray_gen_is_place(const struct ray_expr *e);

/* ---- gen_dynamic.c: self-> and associative arrays ---- */
/* Builds the key; R0 is then the element's address, or 0. */
void ray_gen_dynamic_find(struct ray_gen *g, const struct ray_place *p);
/* The value at position d into a whole variable: 0 deletes it. */
void ray_gen_dynamic_store(struct ray_gen *g, const struct ray_place *p, unsigned d);
/* R0 is the element's address; it is made, full of zeros, if there is none. */
void ray_gen_dynamic_make(struct ray_gen *g, const struct ray_place *p);

/* ---- gen_builtin.c, gen_call.c ---- */
void ray_gen_builtin(struct ray_gen *g, const struct ray_expr *e, unsigned d);
void ray_gen_uregs(struct ray_gen *g, const struct ray_expr *e, unsigned d);
void ray_gen_subroutine(struct ray_gen *g, const struct ray_expr *e, unsigned d);

/* ---- gen_field.c: values into records and keys ---- */
/* Some values (stacks, execname) go straight to their place. */
bool ray_gen_field_is_direct(const struct ray_field *f, const struct ray_expr *e);
/* At position d; values that go straight to their place are not evaluated. */
void ray_gen_field_evaluate(struct ray_gen *g, const struct ray_field *f, const struct ray_expr *e, unsigned d);
/* Instead: only the address of a string that lies in memory, which is read when it is stored. false, and nothing done: it must be evaluated. */
bool ray_gen_field_address(struct ray_gen *g, const struct ray_field *f, const struct ray_expr *e, unsigned d);
/* The value (at position d, if it was evaluated) into the slot at offset. */
void ray_gen_field_store(struct ray_gen *g, const struct ray_field *f, const struct ray_expr *e, unsigned d,
			 uint32_t offset);

/* ---- gen_action.c, gen_aggregate.c ---- */
void ray_gen_action(struct ray_gen *g, const struct ray_statement *s, const struct ray_step *step);
void ray_gen_aggregate(struct ray_gen *g, const struct ray_statement *s);
bool ray_gen_has_bins(const struct ray_aggregation *a);
/* The value in R6 becomes the number of its bin. */
void ray_gen_bin(struct ray_gen *g, const struct ray_aggregation *a);

#endif
