/* enter_watch.c - the instructions of a hook: its arguments, its handler as often as that has something to tell, and the clauses of each event.
 * SPDX-License-Identifier: MIT
 *
 * bpf_loop() calls the step function, so that one hit can tell any number of events and the kernel's verifier looks at the clauses once. Most hits
 * tell nothing: the loop is for those whose handler, called once before it, did. */
#include <stddef.h>

#include "engine/watch.h"

enum {
	MOST_EVENTS = 1 << 20, /* of one hit */
	/* What the step function is given, on the entry's stack. */
	CTX_AT = -64,
	SLOT_AT = -56,
	FIRST_AT = -48, /* the event that was told before the loop */
	/* On the step function's own. */
	EVENT_AT = -24,
	VERSION_AT = -40,
};

static int hook_arg(int i)
{
	return offsetof(struct ray_slot, hook_args) + 8 * i;
}

/* ---- what the hook was called with ---- */

static void emit_syscall(const struct ray_entry *e, struct ray_piece *p)
{
	static const int regs[] = { RAY_REGS_DI, RAY_REGS_SI, RAY_REGS_DX, RAY_REGS_R10, RAY_REGS_R8, RAY_REGS_R9 };
	bool is_exit = e->kind == RAY_SITE_SYSCALL_EXIT;

	ray_enter_call_regs(p);
	for (size_t i = 0; i < RAY_COUNT(regs); i++) {
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, BPF_REG_0, regs[i]));
		ray_piece_emit(p, RAY_STORE(BPF_DW, RAY_SLOT_REG, BPF_REG_1, hook_arg((int)i)));
	}
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_CTX_REG, 8));
	if (is_exit) {
		ray_piece_emit(p, RAY_STORE(BPF_DW, RAY_SLOT_REG, BPF_REG_1, hook_arg(RAY_HOOK_RESULT)));
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, BPF_REG_10, RAY_STACK_NUMBER));
	}
	ray_piece_emit(p, RAY_STORE(BPF_DW, RAY_SLOT_REG, BPF_REG_1, hook_arg(RAY_HOOK_NUMBER)));
}

static void emit_function(const struct ray_entry *e, struct ray_piece *p)
{
	static const int regs[] = { RAY_REGS_DI, RAY_REGS_SI, RAY_REGS_DX, RAY_REGS_CX, RAY_REGS_R8, RAY_REGS_R9 };

	ray_enter_user_regs(p);
	for (size_t i = 0; i < RAY_COUNT(regs) && e->kind == RAY_SITE_UPROBE; i++) {
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_CTX_REG, regs[i]));
		ray_piece_emit(p, RAY_STORE(BPF_DW, RAY_SLOT_REG, BPF_REG_1, hook_arg((int)i)));
	}
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_CTX_REG, RAY_REGS_AX));
	ray_piece_emit(p, RAY_STORE(BPF_DW, RAY_SLOT_REG, BPF_REG_1, hook_arg(RAY_HOOK_RESULT)));
}

/* A tracepoint's first argument only: how many it has changes from kernel to kernel. */
static void emit_tracepoint(struct ray_piece *p)
{
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_CTX_REG, 0));
	ray_piece_emit(p, RAY_STORE(BPF_DW, RAY_SLOT_REG, BPF_REG_1, hook_arg(0)));
}

/* ---- its handler ---- */

/* R0 = what the handler tells. R1 is the number of the step. */
static void emit_handlers(const struct ray_entry *e, const char *const *handlers, struct ray_piece *p, uint32_t stop)
{
	uint32_t told = ray_piece_label(p);

	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_2, BPF_REG_1));
	ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, RAY_SLOT_REG, offsetof(struct ray_slot, index)));
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_3, RAY_SLOT_REG, offsetof(struct ray_slot, hook)));
	for (size_t i = 0; i < e->handler_count; i++) {
		uint32_t next = ray_piece_label(p);

		ray_piece_jump(p, RAY_JUMP_IMM(BPF_JNE, BPF_REG_3, (int32_t)i + 1), next);
		ray_piece_call_runtime(p, handlers[i]);
		ray_piece_jump(p, RAY_JUMP_ALWAYS, told);
		ray_piece_place(p, next);
	}
	ray_piece_jump(p, RAY_JUMP_ALWAYS, stop);
	ray_piece_place(p, told);
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_0, 0), stop);
}

void ray_watch_emit_body(const struct ray_entry *e, struct ray_piece *p, uint32_t out)
{
	if (e->kind == RAY_SITE_RAW_TRACEPOINT) {
		ray_piece_emit(p, RAY_STORE_IMM(BPF_DW, RAY_SLOT_REG, offsetof(struct ray_slot, hook), 1));
		emit_tracepoint(p);
	} else {
		ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, RAY_POINT_REG, offsetof(struct ray_point, probe)));
		ray_piece_emit(p, RAY_STORE(BPF_DW, RAY_SLOT_REG, BPF_REG_1, offsetof(struct ray_slot, hook)));
		if (e->kind == RAY_SITE_UPROBE || e->kind == RAY_SITE_URETPROBE)
			emit_function(e, p);
		else
			emit_syscall(e, p);
	}
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_1, 0));
	emit_handlers(e, e->handlers, p, out);
	ray_piece_emit(p, RAY_STORE(BPF_DW, BPF_REG_10, BPF_REG_0, FIRST_AT));
	ray_piece_emit(p, RAY_STORE(BPF_DW, BPF_REG_10, RAY_CTX_REG, CTX_AT));
	ray_piece_emit(p, RAY_STORE(BPF_DW, BPF_REG_10, RAY_SLOT_REG, SLOT_AT));
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_1, MOST_EVENTS));
	ray_piece_load_piece(p, BPF_REG_2, &e->step);
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_3, BPF_REG_10));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_ADD, BPF_REG_3, CTX_AT));
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_4, 0));
	ray_piece_emit(p, RAY_CALL_HELPER(BPF_FUNC_loop));
}

/* ---- one event ---- */

static int lately(size_t member)
{
	return (int)(offsetof(struct ray_slot, lately) + member);
}

/* The entry of slot->lately that the event in R0 may have, into the register of the point, and its key onto the stack and into R1. */
static void emit_lately(struct ray_piece *p)
{
	ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, RAY_SLOT_REG, offsetof(struct ray_slot, tgid)));
	ray_piece_emit(p, RAY_MOV_REG(RAY_POINT_REG, BPF_REG_1));
	ray_piece_emit(p, RAY_ALU_REG(BPF_XOR, RAY_POINT_REG, BPF_REG_0));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_AND, RAY_POINT_REG, RAY_LATELY - 1));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_MUL, RAY_POINT_REG, sizeof(struct ray_lately)));
	ray_piece_emit(p, RAY_ALU_REG(BPF_ADD, RAY_POINT_REG, RAY_SLOT_REG));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_LSH, BPF_REG_1, 32));
	ray_piece_emit(p, RAY_ALU_REG(BPF_OR, BPF_REG_1, BPF_REG_0));
	ray_piece_emit(p, RAY_STORE(BPF_DW, BPF_REG_10, BPF_REG_1, RAY_STACK_TGID));
	ray_piece_emit(p, RAY_STORE(BPF_DW, BPF_REG_10, BPF_REG_0, EVENT_AT));
}

/* Fills that entry from NODES. The version is from before the lookup: should NODES change meanwhile, nobody will believe what was found. */
static void emit_look_up(struct ray_piece *p, uint32_t stop)
{
	ray_piece_emit(p, RAY_STORE(BPF_DW, BPF_REG_10, BPF_REG_3, VERSION_AT));
	ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, RAY_SLOT_REG, offsetof(struct ray_slot, tgid)));
	ray_piece_emit(p, RAY_STORE(BPF_W, BPF_REG_10, BPF_REG_1, RAY_STACK_KEY));
	ray_enter_lookup(p, RAY_LINK_NODES, stop);
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, BPF_REG_10, EVENT_AT));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_MUL, BPF_REG_1, sizeof(struct ray_node_point)));
	ray_piece_emit(p, RAY_ALU_REG(BPF_ADD, BPF_REG_0, BPF_REG_1));
	for (size_t i = 0; i < sizeof(struct ray_node_point); i += 8) {
		ray_piece_emit(p,
			       RAY_LOAD(BPF_DW, BPF_REG_1, BPF_REG_0, (int)(offsetof(struct ray_watched, points) + i)));
		ray_piece_emit(
			p, RAY_STORE(BPF_DW, RAY_POINT_REG, BPF_REG_1, lately(offsetof(struct ray_lately, point) + i)));
	}
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, BPF_REG_10, RAY_STACK_TGID));
	ray_piece_emit(p, RAY_STORE(BPF_DW, RAY_POINT_REG, BPF_REG_1, lately(offsetof(struct ray_lately, key))));
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, BPF_REG_10, VERSION_AT));
	ray_piece_emit(p, RAY_STORE(BPF_DW, RAY_POINT_REG, BPF_REG_1, lately(offsetof(struct ray_lately, version))));
}

/* The process's point for the event in R0; next if nobody wants it there. What is known of the process is looked up only now: most calls
 * have nothing to tell. */
static void emit_point(struct ray_piece *p, uint32_t next, uint32_t stop)
{
	uint32_t miss = ray_piece_label(p), hit = ray_piece_label(p);

	emit_lately(p);
	ray_piece_load_map_value(p, BPF_REG_3, RAY_LINK_STATE, offsetof(struct ray_state, nodes_version));
	ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_3, BPF_REG_3, 0));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_ADD, BPF_REG_3, 1));
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_2, RAY_POINT_REG, lately(offsetof(struct ray_lately, key))));
	ray_piece_jump(p, RAY_JUMP_REG(BPF_JNE, BPF_REG_2, BPF_REG_1), miss);
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_2, RAY_POINT_REG, lately(offsetof(struct ray_lately, version))));
	ray_piece_jump(p, RAY_JUMP_REG(BPF_JEQ, BPF_REG_2, BPF_REG_3), hit);
	ray_piece_place(p, miss);
	emit_look_up(p, stop);
	ray_piece_place(p, hit);
	ray_piece_emit(p, RAY_ALU_IMM(BPF_ADD, RAY_POINT_REG, lately(offsetof(struct ray_lately, point))));
	ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, RAY_POINT_REG, offsetof(struct ray_point, probe)));
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_1, 0), next);
	ray_piece_emit(p, RAY_STORE(BPF_W, RAY_SLOT_REG, BPF_REG_1, offsetof(struct ray_slot, probe)));
}

/* R0 = the event of this step, whose number is R1; R2 is what the loop was given. */
static void emit_event(const struct ray_entry *e, struct ray_piece *p, uint32_t stop)
{
	uint32_t is_first = ray_piece_label(p);

	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_0, BPF_REG_2, FIRST_AT - CTX_AT));
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_1, 0), is_first);
	emit_handlers(e, e->more, p, stop);
	ray_piece_place(p, is_first);
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JGE, BPF_REG_0, RAY_NODE_EVENT_COUNT), stop);
}

void ray_watch_emit_step(struct ray_trace *t, struct ray_entry *e)
{
	struct ray_piece *p = &e->step;
	uint32_t stop = ray_piece_label(p), next = ray_piece_label(p);
	struct ray_entry_labels labels = { stop, stop };

	p->name = "dt_event";
	ray_piece_emit(p, RAY_LOAD(BPF_DW, RAY_CTX_REG, BPF_REG_2, 0));
	ray_piece_emit(p, RAY_LOAD(BPF_DW, RAY_SLOT_REG, BPF_REG_2, SLOT_AT - CTX_AT));
	emit_event(e, p, stop);
	emit_point(p, next, stop);
	ray_enter_activity(e, p, stop);
	ray_enter_zero_locals(t->plan, p);
	ray_enter_clauses(t, e, p, &labels);
	ray_piece_place(p, next);
	ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_0, RAY_SLOT_REG, offsetof(struct ray_slot, is_last)));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_AND, BPF_REG_0, 1));
	ray_piece_emit(p, RAY_EXIT_INSN);
	ray_piece_place(p, stop);
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_0, 1));
	ray_piece_emit(p, RAY_EXIT_INSN);
}
