/* gen.c - one clause becomes one BPF function. See gen.h for how values are kept.
 * SPDX-License-Identifier: MIT
 *
 * Knows the plan (where things lie) and the program; knows no probes, no file descriptors, no kernel. What is
 * recorded is collected in the slot and sent once, at the end; a fault or a predicate that is false leaves before. */
#include "engine/gen.h"

enum { ISLANDS_APART = 20000 };

static void gen_statement(struct ray_gen *g, const struct ray_statement *s, const struct ray_step *step)
{
	switch (s->kind) {
	case RAY_STATEMENT_EXPR:
		ray_gen_effect(g, s->expr);
		break;
	case RAY_STATEMENT_ACTION:
		ray_gen_action(g, s, step);
		break;
	case RAY_STATEMENT_AGGREGATE:
		ray_gen_aggregate(g, s);
		break;
	case RAY_STATEMENT_DEFAULT:
		break;
	}
	g->temps = 0;
}

/* Where faults, and whatever ends the clause early, lead to. */
static void gen_end(struct ray_gen *g)
{
	ray_piece_place(g->c, g->out);
	ray_gen_emit(g, RAY_MOV_IMM(R0, 0));
	ray_gen_emit(g, RAY_EXIT_INSN);
	ray_gen_faults_emit(g);
}

/* Jumps reach 32767 instructions far: a long clause has more than one end. */
static void gen_island(struct ray_gen *g, size_t *last)
{
	uint32_t over;

	if (g->c->insns.n - *last < ISLANDS_APART)
		return;
	over = ray_piece_label(g->c);
	/* Always taken, but the verifier must see a way to the end even if nothing leads there. */
	ray_gen_emit(g, RAY_MOV_IMM(R0, 0));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R0, 0), over);
	gen_end(g);
	ray_piece_place(g->c, over);
	g->out = ray_piece_label(g->c);
	*last = g->c->insns.n;
}

static void gen_body(struct ray_gen *g)
{
	const struct ray_clause_plan *plan = g->clause_plan;
	size_t next = 0, island = 0;

	if (g->clause->predicate)
		ray_gen_branch(g, g->clause->predicate, 0, false, g->out);
	g->temps = 0;
	for (size_t i = 0; i < g->clause->statement_count; i++) {
		const struct ray_statement *s = &g->clause->statements[i];
		static const struct ray_step none;
		const struct ray_step *step = &none;

		g->action = i + 1;
		if (next < plan->step_count && plan->steps[next].statement == s)
			step = &plan->steps[next++];
		gen_statement(g, s, step);
		gen_island(g, &island);
	}
}

static void gen_function(struct ray_gen *g)
{
	uint32_t size = g->clause_plan->sent_size;

	ray_gen_emit(g, RAY_MOV_REG(CTX, R1));
	ray_gen_emit(g, RAY_MOV_REG(SLOT, R2));
	if (g->plan->task_size)
		ray_gen_emit(g, RAY_STORE_IMM(BPF_DW, BPF_REG_10, RAY_STACK_TASK, 0));
	if (g->clause_plan->is_packed) { /* where the first packed value goes; each moves it on */
		ray_gen_emit(g, RAY_MOV_IMM(R1, g->clause_plan->sent_size));
		ray_gen_slot_store(g, BPF_W, g->plan->record_at + offsetof(struct ray_record, size), R1);
	}
	gen_body(g);
	if (size) {
		ray_gen_emit(g, RAY_MOV_IMM(R1, RAY_RECORD_DATA));
		ray_gen_slot_store(g, BPF_W, g->plan->record_at + offsetof(struct ray_record, kind), R1);
		ray_piece_load_u64(g->c, R2, g->plan->record_at);
		ray_piece_load_u64(g->c, R3, g->clause_plan->is_packed ? 0 : size);
		ray_gen_call(g, "ray_record_send");
	}
	gen_end(g);
}

/* See gen_function(). */
uint32_t ray_gen_head(const struct ray_trace *t)
{
	return t->plan->task_size ? 3 : 2;
}

struct ray_error *ray_gen_clause(struct ray_trace *t, const struct ray_clause *clause, struct ray_piece *c)
{
	struct ray_gen g = {
		.trace = t, .plan = t->plan, .clause = clause, .clause_plan = &t->plan->clauses[clause->index], .c = c
	};

	g.out = ray_piece_label(c);
	gen_function(&g);
	ray_vec_free(&g.faults);
	if (g.err)
		return g.err;
	if (!ray_piece_finish(c))
		return ray_error_new(RAY_FAILED, "line %d: the clause is too long", clause->where.line);
	return NULL;
}
