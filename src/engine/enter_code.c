/* enter_code.c - the instructions of an entry: from the moment something fires to the clauses, and out again.
 * SPDX-License-Identifier: MIT
 *
 * In this order, so that what does not concern us costs least: is it our process, which point, is tracing on, a free slot, arguments,
 * the clauses that the point asks for. Between clauses it looks whether exit() was called. */
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "engine/progeny.h"
#include "engine/watch.h"
#include "probe/syscall.h"

enum { ZERO_BY_WORDS = 128, INLINE_MOST = 512, INLINE_TOTAL = 8192 /* instructions */ };

static const char *const kind_names[RAY_SITE_KINDS] = {
	[RAY_SITE_BEGIN] = "dt_begin",		 [RAY_SITE_END] = "dt_end",
	[RAY_SITE_PROFILE] = "dt_profile",	 [RAY_SITE_TICK] = "dt_tick",
	[RAY_SITE_SYSCALL_ENTER] = "dt_syscall", [RAY_SITE_SYSCALL_EXIT] = "dt_sysret",
	[RAY_SITE_UPROBE] = "dt_uprobe",	 [RAY_SITE_URETPROBE] = "dt_uretprobe",
	[RAY_SITE_TRACEPOINT] = "dt_tracepoint", [RAY_SITE_RAW_TRACEPOINT] = "dt_rawtp",
};

static uint32_t activity_wanted(enum ray_site_kind kind)
{
	return kind == RAY_SITE_BEGIN ? RAY_INACTIVE : kind == RAY_SITE_END ? RAY_DRAINING : RAY_ACTIVE;
}

static uint64_t ctx_kind(enum ray_site_kind kind)
{
	switch (kind) {
	case RAY_SITE_BEGIN:
	case RAY_SITE_END:
		return RAY_CTX_TEST_RUN;
	case RAY_SITE_PROFILE:
	case RAY_SITE_TICK:
		return RAY_CTX_PERF;
	case RAY_SITE_UPROBE:
		return RAY_CTX_UPROBE;
	case RAY_SITE_URETPROBE:
		return RAY_CTX_URETPROBE;
	case RAY_SITE_TRACEPOINT:
		return RAY_CTX_TP;
	default:
		return RAY_CTX_RAW_TP;
	}
}

/* R0 = map[key on the stack], or goto none. */
void ray_enter_lookup(struct ray_piece *p, uint32_t map, uint32_t none)
{
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_2, BPF_REG_10));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_ADD, BPF_REG_2, RAY_STACK_KEY));
	ray_piece_load_map(p, BPF_REG_1, map);
	ray_piece_emit(p, RAY_CALL_HELPER(BPF_FUNC_map_lookup_elem));
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_0, 0), none);
}

/* R0 = the registers of the process: both tracepoints of system calls tell them first, and the verifier knows what they are. */
void ray_enter_call_regs(struct ray_piece *p)
{
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_0, RAY_CTX_REG, 0));
}

/* R1 = number of the system call; out if it is a 32-bit program's. On return the number is in the registers only. */
static void emit_syscall_number(const struct ray_entry *e, struct ray_piece *p, uint32_t out)
{
	uint32_t known;

	ray_enter_call_regs(p);
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_2, BPF_REG_0, RAY_REGS_CS));
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_2, RAY_CS_USER32), out);
	if (e->kind == RAY_SITE_SYSCALL_ENTER) {
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_CTX_REG, 8));
		return;
	}
	known = ray_piece_label(p);
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, BPF_REG_0, RAY_REGS_ORIG_AX));
	ray_piece_emit(p, RAY_STORE(BPF_DW, BPF_REG_10, BPF_REG_1, RAY_STACK_NUMBER));
	/* What returns from a signal handler has all registers as they were before it: the kernel takes the number away. */
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JNE, BPF_REG_1, -1), known);
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_2, RAY_CTX_REG, 8));
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_2, -ENOSYS), out);
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_1, SYS_rt_sigreturn));
	ray_piece_place(p, known);
}

/* Leaves the point in its register, unless it is the only one. */
static void emit_point(const struct ray_entry *e, struct ray_piece *p, uint32_t out)
{
	bool is_syscall = e->kind == RAY_SITE_SYSCALL_ENTER || e->kind == RAY_SITE_SYSCALL_EXIT;

	if (is_syscall)
		emit_syscall_number(e, p, out);
	if (ray_entry_is_single(e)) {
		if (is_syscall)
			ray_piece_jump(p, RAY_JUMP_IMM(BPF_JNE, BPF_REG_1, e->sites.at[0]->number), out);
		return;
	}
	if (is_syscall) {
		ray_piece_jump(p, RAY_JUMP_IMM(BPF_JGE, BPF_REG_1, RAY_SYSCALL_LIMIT), out);
		ray_piece_emit(p, RAY_ALU_IMM(BPF_ADD, BPF_REG_1, e->first_point));
	} else {
		ray_piece_emit(p, RAY_MOV_REG(BPF_REG_1, RAY_CTX_REG));
		ray_piece_emit(p, RAY_CALL_HELPER(BPF_FUNC_get_attach_cookie));
		ray_piece_emit(p, RAY_MOV_REG(BPF_REG_1, BPF_REG_0));
	}
	ray_piece_emit(p, RAY_STORE(BPF_W, BPF_REG_10, BPF_REG_1, RAY_STACK_KEY));
	ray_enter_lookup(p, RAY_LINK_POINTS, out);
	ray_piece_emit(p, RAY_MOV_REG(RAY_POINT_REG, BPF_REG_0));
	if (is_syscall) { /* a hole: nobody asked for this call */
		ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, RAY_POINT_REG, offsetof(struct ray_point, probe)));
		ray_piece_jump(p, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_1, 0), out);
	}
}

void ray_enter_activity(const struct ray_entry *e, struct ray_piece *p, uint32_t label)
{
	ray_piece_load_map_value(p, BPF_REG_1, RAY_LINK_STATE, offsetof(struct ray_state, activity));
	ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, BPF_REG_1, 0));
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JNE, BPF_REG_1, activity_wanted(e->kind)), label);
}

/* Only in the processes that have a bit in the map. */
static void emit_bit(struct ray_piece *p, uint32_t map, uint32_t out)
{
	ray_piece_emit(p, RAY_CALL_HELPER(BPF_FUNC_get_current_pid_tgid));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_RSH, BPF_REG_0, 32));
	ray_piece_emit(p, RAY_STORE(BPF_DW, BPF_REG_10, BPF_REG_0, RAY_STACK_TGID));
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_1, BPF_REG_0));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_RSH, BPF_REG_1, 6));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_AND, BPF_REG_1, RAY_TARGET_WORDS - 1));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_LSH, BPF_REG_1, 3));
	ray_piece_load_map_value(p, BPF_REG_2, map, 0);
	ray_piece_emit(p, RAY_ALU_REG(BPF_ADD, BPF_REG_2, BPF_REG_1));
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, BPF_REG_2, 0));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_AND, BPF_REG_0, 63));
	ray_piece_emit(p, RAY_ALU_REG(BPF_RSH, BPF_REG_1, BPF_REG_0));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_AND, BPF_REG_1, 1));
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_1, 0), out);
}

/* Only in the processes that are watched, or followed. BEGIN, END and ticks are nobody's. */
static void emit_processes(const struct ray_trace *t, const struct ray_entry *e, struct ray_piece *p, uint32_t out)
{
	if (e->is_watch)
		emit_bit(p, RAY_LINK_NODE_BITS, out);
	else if (ray_progeny_is_wanted(t) && e->kind != RAY_SITE_BEGIN && e->kind != RAY_SITE_END &&
		 e->kind != RAY_SITE_TICK)
		emit_bit(p, RAY_LINK_TARGETS, out);
}

/* One process only, one CPU only. */
static void emit_filters(const struct ray_trace *t, const struct ray_entry *e, struct ray_piece *p, uint32_t out)
{
	bool is_uprobe = e->kind == RAY_SITE_UPROBE || e->kind == RAY_SITE_URETPROBE;
	uint32_t any;

	if (is_uprobe) {
		any = ray_piece_label(p);
		ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, RAY_POINT_REG, offsetof(struct ray_point, tgid)));
		ray_piece_jump(p, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_1, 0), any);
		ray_piece_emit(p, RAY_CALL_HELPER(BPF_FUNC_get_current_pid_tgid));
		ray_piece_emit(p, RAY_ALU_IMM(BPF_RSH, BPF_REG_0, 32));
		ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, RAY_POINT_REG, offsetof(struct ray_point, tgid)));
		ray_piece_jump(p, RAY_JUMP_REG(BPF_JNE, BPF_REG_0, BPF_REG_1), out);
		ray_piece_place(p, any);
	}
	if (t->options.cpu >= 0 && e->kind != RAY_SITE_BEGIN && e->kind != RAY_SITE_END) {
		ray_piece_emit(p, RAY_CALL_HELPER(BPF_FUNC_get_smp_processor_id));
		ray_piece_jump(p, RAY_JUMP_IMM(BPF_JNE, BPF_REG_0, t->options.cpu), out);
	}
}

/* A slot that nobody has: several per CPU, as one firing may interrupt another. */
static void emit_slot_take(struct ray_piece *p, uint32_t out)
{
	uint32_t taken = ray_piece_label(p);
	uint32_t none = ray_piece_label(p);

	ray_piece_emit(p, RAY_CALL_HELPER(BPF_FUNC_get_smp_processor_id));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_MUL, BPF_REG_0, RAY_SLOTS_PER_CPU));
	ray_piece_emit(p, RAY_STORE(BPF_W, BPF_REG_10, BPF_REG_0, RAY_STACK_KEY));
	for (int i = 0; i < RAY_SLOTS_PER_CPU; i++) {
		ray_enter_lookup(p, RAY_LINK_SLOTS, none);
		ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_1, 1));
		ray_piece_emit(p, RAY_ATOMIC(BPF_W, BPF_XCHG, BPF_REG_0, BPF_REG_1, offsetof(struct ray_slot, busy)));
		ray_piece_jump(p, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_1, 0), taken);
		ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, BPF_REG_10, RAY_STACK_KEY));
		ray_piece_emit(p, RAY_ALU_IMM(BPF_ADD, BPF_REG_1, 1));
		ray_piece_emit(p, RAY_STORE(BPF_W, BPF_REG_10, BPF_REG_1, RAY_STACK_KEY));
	}
	ray_piece_place(p, none);
	ray_piece_load_map_value(p, BPF_REG_2, RAY_LINK_STATE, offsetof(struct ray_state, slot_drops));
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_1, 1));
	ray_piece_emit(p, RAY_ATOMIC(BPF_DW, BPF_ADD, BPF_REG_2, BPF_REG_1, 0));
	/* It may have been a close(). */
	ray_piece_load_map_value(p, BPF_REG_2, RAY_LINK_STATE, offsetof(struct ray_state, doubts));
	ray_piece_emit(p, RAY_ATOMIC(BPF_DW, BPF_ADD, BPF_REG_2, BPF_REG_1, 0));
	ray_piece_jump(p, RAY_JUMP_ALWAYS, out);
	ray_piece_place(p, taken);
	ray_piece_emit(p, RAY_MOV_REG(RAY_SLOT_REG, BPF_REG_0));
	ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, BPF_REG_10, RAY_STACK_KEY));
	ray_piece_emit(p, RAY_STORE(BPF_W, RAY_SLOT_REG, BPF_REG_1, offsetof(struct ray_slot, index)));
}

static void emit_zero(struct ray_piece *p, uint32_t offset)
{
	ray_piece_emit(p, RAY_STORE_IMM(BPF_DW, RAY_SLOT_REG, offset, 0));
}

/* this-> begins as 0. A read that fails clears its destination: many words at once. */
void ray_enter_zero_locals(const struct ray_plan *plan, struct ray_piece *p)
{
	if (plan->locals_size <= ZERO_BY_WORDS) {
		for (uint32_t i = 0; i < plan->locals_size; i += 8)
			emit_zero(p, plan->locals_at + i);
		return;
	}
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_1, RAY_SLOT_REG));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_ADD, BPF_REG_1, plan->locals_at));
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_2, plan->locals_size));
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_3, 0));
	ray_piece_emit(p, RAY_CALL_HELPER(BPF_FUNC_probe_read_kernel));
}

static void emit_slot_fill(const struct ray_trace *t, const struct ray_entry *e, struct ray_piece *p)
{
	static const uint16_t zeroed[] = {
		offsetof(struct ray_slot, pid_tgid), offsetof(struct ray_slot, error), /* and fault */
		offsetof(struct ray_slot, user_pc),  offsetof(struct ray_slot, user_sp),
		offsetof(struct ray_slot, user_fp),  offsetof(struct ray_slot, kernel_pc),
	};

	if (ray_entry_is_single(e)) {
		ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_1, e->probes.at[0]->id));
	} else if (e->is_watch) { /* each event has its own */
		ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_1, 0));
	} else {
		ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, RAY_POINT_REG, offsetof(struct ray_point, probe)));
	}
	ray_piece_emit(p, RAY_STORE(BPF_W, RAY_SLOT_REG, BPF_REG_1, offsetof(struct ray_slot, probe)));
	for (size_t i = 0; i < RAY_COUNT(zeroed); i++)
		emit_zero(p, zeroed[i]);
	if (e->is_watch) { /* handlers ask for the time, too */
		emit_zero(p, offsetof(struct ray_slot, timestamp));
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, BPF_REG_10, RAY_STACK_TGID));
		/* and is_last, which is 0 */
		ray_piece_emit(p, RAY_STORE(BPF_DW, RAY_SLOT_REG, BPF_REG_1, offsetof(struct ray_slot, tgid)));
	}
	ray_piece_emit(p, RAY_STORE_IMM(BPF_DW, RAY_SLOT_REG, offsetof(struct ray_slot, ctx_kind), ctx_kind(e->kind)));
	ray_enter_zero_locals(t->plan, p);
}

static void emit_clause_fill(const struct ray_clause *clause, struct ray_piece *p)
{
	ray_piece_emit(p, RAY_STORE_IMM(BPF_W, RAY_SLOT_REG, offsetof(struct ray_slot, clause), clause->index));
	emit_zero(p, offsetof(struct ray_slot, timestamp));
	emit_zero(p, offsetof(struct ray_slot, speculation)); /* and scratch_used */
}

/* Also a fault's: the clauses of ERROR are called in the same way. */
static void emit_call(struct ray_trace *t, const struct ray_clause *clause, struct ray_piece *p)
{
	emit_clause_fill(clause, p);
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_1, RAY_CTX_REG));
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_2, RAY_SLOT_REG));
	ray_piece_call_piece(p, &t->clause_code[clause->index]);
	ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, RAY_SLOT_REG, offsetof(struct ray_slot, fault)));
}

/* A short clause stands where it would be called: a call takes as long as all that many of them do. What fires once is left as it is. */
static bool is_inline(const struct ray_trace *t, const struct ray_entry *e, size_t i)
{
	return e->kind != RAY_SITE_BEGIN && e->kind != RAY_SITE_END && e->code.insns.n < INLINE_TOTAL &&
	       e->step.insns.n < INLINE_TOTAL && t->clause_code[e->clauses[i]->index].insns.n <= INLINE_MOST;
}

static void emit_clause(struct ray_trace *t, const struct ray_entry *e, struct ray_piece *p, size_t i)
{
	uint32_t end;

	if (!is_inline(t, e, i)) {
		emit_call(t, e->clauses[i], p);
		return;
	}
	end = ray_piece_label(p);
	emit_clause_fill(e->clauses[i], p);
	ray_piece_inline(p, &t->clause_code[e->clauses[i]->index], ray_gen_head(t), end);
	ray_piece_place(p, end);
	ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, RAY_SLOT_REG, offsetof(struct ray_slot, fault)));
}

static void emit_wanted(struct ray_trace *t, const struct ray_entry *e, struct ray_piece *p, size_t i,
			const struct ray_entry_labels *labels)
{
	uint32_t next = ray_piece_label(p);

	if (!ray_entry_is_single(e)) {
		struct bpf_insn test = RAY_INSN(BPF_JMP32 | BPF_JSET | BPF_K, BPF_REG_1, 0, 1, (int32_t)(1U << i % 32));

		ray_piece_emit(p, RAY_LOAD(BPF_DW, RAY_POINT_REG, BPF_REG_10, RAY_STACK_POINT));
		ray_piece_emit(
			p, RAY_LOAD(BPF_W, BPF_REG_1, RAY_POINT_REG, offsetof(struct ray_point, clauses) + i / 32 * 4));
		ray_piece_emit(p, test);
		ray_piece_jump(p, RAY_JUMP_ALWAYS, next);
	}
	if (i)
		ray_enter_activity(e, p, labels->release);
	emit_clause(t, e, p, i);
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_1, 0), next);
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_1, RAY_CTX_REG));
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_2, RAY_SLOT_REG));
	ray_piece_call_piece(p, &t->fault_code);
	ray_piece_place(p, next);
}

void ray_enter_clauses(struct ray_trace *t, const struct ray_entry *e, struct ray_piece *p,
		       const struct ray_entry_labels *labels)
{
	if (!ray_entry_is_single(e))
		ray_piece_emit(p, RAY_STORE(BPF_DW, BPF_REG_10, RAY_POINT_REG, RAY_STACK_POINT));
	if (t->plan->task_size)
		ray_piece_emit(p, RAY_STORE_IMM(BPF_DW, BPF_REG_10, RAY_STACK_TASK, 0));
	for (size_t i = 0; i < e->clause_count; i++)
		emit_wanted(t, e, p, i, labels);
}

void ray_entry_emit(struct ray_trace *t, struct ray_entry *e)
{
	struct ray_piece *p = &e->code;
	struct ray_entry_labels labels = { ray_piece_label(p), ray_piece_label(p) };

	p->name = kind_names[e->kind];
	ray_piece_emit(p, RAY_MOV_REG(RAY_CTX_REG, BPF_REG_1));
	emit_processes(t, e, p, labels.out);
	if (!e->is_watch || e->kind != RAY_SITE_RAW_TRACEPOINT)
		emit_point(e, p, labels.out);
	ray_enter_activity(e, p, labels.out);
	emit_filters(t, e, p, labels.out);
	emit_slot_take(p, labels.out);
	emit_slot_fill(t, e, p);
	if (e->is_watch) {
		ray_watch_emit_body(e, p, labels.release);
		ray_watch_emit_step(t, e);
	} else {
		ray_entry_emit_args(e, p, &labels);
		ray_enter_clauses(t, e, p, &labels);
	}
	ray_piece_place(p, labels.release);
	ray_piece_emit(p, RAY_STORE_IMM(BPF_W, RAY_SLOT_REG, offsetof(struct ray_slot, busy), 0));
	ray_piece_place(p, labels.out);
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_0, 0));
	ray_piece_emit(p, RAY_EXIT_INSN);
}

/* ---- faults ---- */

enum { ERROR_ID = 3, ERROR_ARGS = 6 };

static void emit_send(struct ray_piece *p)
{
	ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, RAY_SLOT_REG, offsetof(struct ray_slot, index)));
	ray_piece_call_runtime(p, "ray_fault_send");
}

static void emit_copy(struct ray_piece *p, uint8_t size, uint8_t to, int to_at, uint8_t from, int from_at)
{
	ray_piece_emit(p, RAY_LOAD(size, BPF_REG_1, from, from_at));
	ray_piece_emit(p, RAY_STORE(size, to, BPF_REG_1, to_at));
}

/* Where the interrupted probe's arguments wait, on the stack. */
static int saved_at(int i)
{
	return -8 * (i + 2);
}

/* arg1 the probe, arg2 the clause, arg3 the instruction, arg4 the fault, arg5 its value. */
static void emit_error_args(struct ray_piece *p)
{
	static const uint16_t from[] = {
		[1] = offsetof(struct ray_slot, probe),
		[2] = offsetof(struct ray_slot, clause),
		[3] = offsetof(struct ray_slot, fault_pc),
		[4] = offsetof(struct ray_slot, fault),
	};

	for (int i = 0; i < ERROR_ARGS; i++)
		emit_copy(p, BPF_DW, BPF_REG_10, saved_at(i), RAY_SLOT_REG, offsetof(struct ray_slot, args) + 8 * i);
	emit_copy(p, BPF_DW, BPF_REG_10, -8, RAY_SLOT_REG, offsetof(struct ray_slot, probe)); /* and clause */
	emit_zero(p, offsetof(struct ray_slot, args));
	for (int i = 1; i < (int)RAY_COUNT(from); i++) {
		ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, RAY_SLOT_REG, from[i]));
		ray_piece_emit(p, RAY_STORE(BPF_DW, RAY_SLOT_REG, BPF_REG_1, offsetof(struct ray_slot, args) + 8 * i));
	}
	emit_copy(p, BPF_DW, RAY_SLOT_REG, offsetof(struct ray_slot, args) + 40, RAY_SLOT_REG,
		  offsetof(struct ray_slot, fault_value));
	ray_piece_emit(p, RAY_STORE_IMM(BPF_W, RAY_SLOT_REG, offsetof(struct ray_slot, probe), ERROR_ID));
}

/* The function that a faulting clause leads to: tells it, then runs the clauses of ERROR. A fault in one of those is told
 * too, and that is all. */
void ray_entry_emit_fault(struct ray_trace *t, struct ray_piece *p)
{
	p->name = "dt_error";
	ray_piece_emit(p, RAY_MOV_REG(RAY_CTX_REG, BPF_REG_1));
	ray_piece_emit(p, RAY_MOV_REG(RAY_SLOT_REG, BPF_REG_2));
	emit_send(p);
	if (t->error_clause_count)
		emit_error_args(p);
	for (size_t i = 0; i < t->error_clause_count; i++) {
		uint32_t fine = ray_piece_label(p);

		ray_piece_emit(p, RAY_STORE_IMM(BPF_W, RAY_SLOT_REG, offsetof(struct ray_slot, fault), 0));
		emit_call(t, t->error_clauses[i], p);
		ray_piece_jump(p, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_1, 0), fine);
		emit_send(p);
		ray_piece_place(p, fine);
	}
	if (t->error_clause_count) {
		for (int i = 0; i < ERROR_ARGS; i++)
			emit_copy(p, BPF_DW, RAY_SLOT_REG, offsetof(struct ray_slot, args) + 8 * i, BPF_REG_10,
				  saved_at(i));
		emit_copy(p, BPF_DW, RAY_SLOT_REG, offsetof(struct ray_slot, probe), BPF_REG_10, -8);
	}
	ray_piece_emit(p, RAY_STORE_IMM(BPF_W, RAY_SLOT_REG, offsetof(struct ray_slot, fault), 0));
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_0, 0));
	ray_piece_emit(p, RAY_EXIT_INSN);
}
