/* gen_action.c - actions: what they leave in the record, and what they do at once.
 * SPDX-License-Identifier: MIT */
#include <signal.h>

#include "engine/gen.h"

static void record_field(struct ray_gen *g, const struct ray_field *f)
{
	if (!ray_gen_field_address(g, f, f->expr, 0))
		ray_gen_field_evaluate(g, f, f->expr, 0);
	/* In a key NULL is an empty string; recorded it would hide a mistake. */
	if (f->kind == RAY_VALUE_STRING && f->expr->kind != RAY_EXPR_STRING && !ray_gen_field_is_direct(f, f->expr))
		ray_gen_check_null(g, 0);
	ray_gen_field_store(g, f, f->expr, 0, g->plan->record_at + f->offset);
	g->temps = 0;
}

/* No probe fires any more once exit() has run, on any CPU; the first code given is the one. */
static void act_exit(struct ray_gen *g, const struct ray_step *step)
{
	uint32_t again = ray_piece_label(g->c);

	record_field(g, &step->fields[0]);
	ray_piece_load_map_value(g->c, R1, RAY_LINK_STATE, 0);
	ray_gen_emit(g, RAY_MOV_IMM(R2, 1));
	ray_gen_emit(g, RAY_ATOMIC(BPF_DW, BPF_ADD | BPF_FETCH, R1, R2, offsetof(struct ray_state, exit_count)));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JNE, R2, 0), again);
	ray_gen_emit(g, RAY_STORE(BPF_W, R1, R6, offsetof(struct ray_state, exit_code)));
	ray_gen_emit(g, RAY_STORE_IMM(BPF_W, R1, offsetof(struct ray_state, activity), RAY_DRAINING));
	ray_piece_place(g->c, again);
}

/* Bytes at an address; with a dynamic size, no more than that. */
static void act_tracemem(struct ray_gen *g, const struct ray_step *step)
{
	const struct ray_field *bytes = &step->fields[0];
	uint32_t fits = ray_piece_label(g->c), none = ray_piece_label(g->c);

	ray_gen_expr(g, bytes->expr, 0);
	if (step->field_count > 1) {
		ray_gen_expr(g, step->fields[1].expr, 1);
		ray_gen_slot_store(g, BPF_DW, g->plan->record_at + step->fields[1].offset, R7);
	}
	ray_piece_load_u64(g->c, R4, bytes->size);
	if (step->field_count > 1) {
		ray_piece_jump(g->c, RAY_JUMP_REG(BPF_JGE, R7, R4), fits);
		ray_gen_emit(g, RAY_MOV_REG(R4, R7));
		ray_piece_place(g->c, fits);
		ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R4, 0), none);
	}
	ray_gen_get_into(g, 0, R3);
	ray_piece_load_u64(g->c, R2, g->plan->record_at + bytes->offset);
	ray_gen_call(g, "ray_copy");
	ray_gen_check_fault(g);
	ray_piece_place(g->c, none);
}

/* The same, but what cannot be read is no fault: the record says how much it was. */
static void act_tracebuf(struct ray_gen *g, const struct ray_statement *s, const struct ray_step *step)
{
	ray_gen_expr(g, s->args[0], 0);
	if (s->arg_count > 2)
		ray_gen_expr(g, s->args[2], 1);
	ray_gen_get_into(g, 0, R3);
	if (s->arg_count > 2)
		ray_gen_get_into(g, 1, R5);
	else
		ray_piece_load_u64(g->c, R5, step->fields[1].size);
	ray_piece_load_u64(g->c, R2, g->plan->record_at + step->fields[0].offset);
	ray_piece_load_u64(g->c, R4, step->fields[1].size);
	ray_gen_call(g, s->function->id == RAY_FN_TRACEBUF ? "ray_trace_bytes" : "ray_trace_text");
}

static void act_tracesock(struct ray_gen *g, const struct ray_statement *s, const struct ray_step *step)
{
	ray_gen_expr(g, s->args[0], 0);
	ray_gen_get_into(g, 0, R3);
	ray_piece_load_u64(g->c, R2, g->plan->record_at + step->fields[0].offset);
	ray_gen_call(g, "ray_trace_socket");
}

static void act_print(struct ray_gen *g, const struct ray_step *step)
{
	const struct ray_field *data = &step->fields[1];

	ray_gen_expr(g, step->fields[0].expr, 0);
	ray_gen_slot_store(g, BPF_DW, g->plan->record_at + step->fields[0].offset, R6);
	if (step->field_count < 2 || !data->size)
		return;
	ray_gen_get_into(g, 0, R3);
	ray_piece_load_u64(g->c, R2, g->plan->record_at + data->offset);
	ray_piece_load_u64(g->c, R4, data->size);
	ray_gen_call(g, ray_type_is_string(data->type) ? "ray_str_store" : "ray_copy");
	ray_gen_check_fault(g);
}

static void act_signal(struct ray_gen *g, const struct ray_statement *s)
{
	if (s->function->id == RAY_FN_STOP)
		ray_gen_set_u64(g, 0, SIGSTOP);
	else
		ray_gen_expr(g, s->args[0], 0);
	ray_gen_emit(g, RAY_MOV_REG(R1, R6));
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_send_signal));
}

/* A record that could never be kept is not made: its clause ends at speculate(). */
static bool fits_speculation(const struct ray_gen *g)
{
	uint32_t size = g->plan->clauses[g->clause->index].record_size;

	return size <= g->plan->options->specsize + RAY_RECORD_HEAD_EXTRA;
}

static void act_speculation(struct ray_gen *g, const struct ray_statement *s)
{
	if (s->function->id == RAY_FN_SPECULATE && !fits_speculation(g)) {
		/* Always taken, but written as a condition: the verifier refuses code that nothing leads to. */
		ray_gen_count(g, offsetof(struct ray_state, spec_drops));
		ray_gen_emit(g, RAY_MOV_IMM(R0, 0));
		ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R0, 0), g->out);
		return;
	}
	ray_gen_expr(g, s->args[0], 0);
	ray_gen_emit(g, RAY_MOV_REG(R2, R6));
	ray_gen_call(g, s->function->id == RAY_FN_SPECULATE ? "ray_speculate" :
			s->function->id == RAY_FN_COMMIT    ? "ray_commit" :
							      "ray_discard");
	ray_gen_check_fault(g);
	/* The rest of the clause is for the speculation alone: without one there is nothing to do. */
	if (s->function->id == RAY_FN_SPECULATE)
		ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R0, 0), g->out);
}

void ray_gen_action(struct ray_gen *g, const struct ray_statement *s, const struct ray_step *step)
{
	switch (s->function->id) {
	case RAY_FN_EXIT:
		act_exit(g, step);
		break;
	case RAY_FN_TRACEMEM:
		act_tracemem(g, step);
		break;
	case RAY_FN_TRACEBUF:
	case RAY_FN_TRACESTR:
		act_tracebuf(g, s, step);
		break;
	case RAY_FN_TRACESOCK:
		act_tracesock(g, s, step);
		break;
	case RAY_FN_PRINT:
		act_print(g, step);
		break;
	case RAY_FN_STOP:
	case RAY_FN_RAISE:
		act_signal(g, s);
		break;
	case RAY_FN_SPECULATE:
	case RAY_FN_COMMIT:
	case RAY_FN_DISCARD:
		act_speculation(g, s);
		break;
	default:
		for (size_t i = 0; i < step->field_count; i++)
			record_field(g, &step->fields[i]);
	}
}
