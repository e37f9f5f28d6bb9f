/* enter_args.c - how an entry gets its arguments out of the context it is called with.
 * SPDX-License-Identifier: MIT
 *
 * Only those that a clause uses. Sites that share a program and differ (USDT) have rules in their points, which the runtime follows; whatever
 * is the same for all of an entry becomes instructions here. */
#include <stddef.h>

#include "engine/enter.h"

static int arg_at(int i)
{
	return offsetof(struct ray_slot, args) + 8 * i;
}

static int spill_at(int i)
{
	return offsetof(struct ray_slot, spills) + 8 * i;
}

static void emit_args_clear(struct ray_piece *p, uint32_t which)
{
	for (int i = 0; i < RAY_ARGS; i++)
		if (which & 1U << i)
			ray_piece_emit(p, RAY_STORE_IMM(BPF_DW, RAY_SLOT_REG, arg_at(i), 0));
}

uint32_t ray_entry_args_needed(const struct ray_entry *e)
{
	uint32_t needed = e->args_used & ((1U << RAY_ARGS) - 1);

	if (e->sites.n == 1 && e->sites.at[0]->is_about_task)
		needed |= 1;

	for (size_t i = 0; i < e->sites.n; i++) {
		const struct ray_site *site = e->sites.at[i];

		for (size_t k = 0; site && k < site->condition_count; k++) {
			needed |= 1U << site->conditions[k].arg;
			if (site->conditions[k].op == RAY_COMPARE_EQ_ARG)
				needed |= 1U << site->conditions[k].value;
		}
	}
	return needed;
}

/* ---- system calls ---- */

enum { CALL_ARGS = 6, FIRST_CALL_ARG = 2 /* of a return probe's */ };

/* Where argument i comes from. Without rules: from the call's own argument i. On return arg0 and arg1 are both what it returns, and
 * then comes what it was called with, which the registers still hold. */
static struct ray_fetch syscall_rule(const struct ray_entry *e, const struct ray_site *site, int i)
{
	if (site->fetch_count)
		return (size_t)i < site->fetch_count ? site->fetch[i] : (struct ray_fetch){ 0 };
	if (e->kind == RAY_SITE_SYSCALL_ENTER)
		return (struct ray_fetch){ .kind = RAY_FETCH_RAW,
					   .value = i < RAY_RAW_NUMBER ? i : RAY_RAW_NUMBER + 1 };
	if (i < FIRST_CALL_ARG)
		return (struct ray_fetch){ .kind = RAY_FETCH_RAW };
	if (i < FIRST_CALL_ARG + CALL_ARGS)
		return (struct ray_fetch){ .kind = RAY_FETCH_RAW, .value = RAY_RAW_CALLED + i - FIRST_CALL_ARG };
	return (struct ray_fetch){ .kind = RAY_FETCH_NONE };
}

/* R1 = a call's argument, or its number, or what it returns: `value` of RAY_FETCH_RAW. */
static void emit_syscall_word(const struct ray_entry *e, struct ray_piece *p, int64_t value)
{
	static const int regs[] = { RAY_REGS_DI, RAY_REGS_SI, RAY_REGS_DX, RAY_REGS_R10, RAY_REGS_R8, RAY_REGS_R9 };
	bool is_enter = e->kind == RAY_SITE_SYSCALL_ENTER;
	int64_t argument = is_enter ? value : value - RAY_RAW_CALLED;

	if (value == RAY_RAW_NUMBER && is_enter)
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_CTX_REG, 8));
	else if (value == RAY_RAW_NUMBER)
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, BPF_REG_10, RAY_STACK_NUMBER));
	else if (!is_enter && value == 0)
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_CTX_REG, 8));
	else if (argument >= 0 && argument < CALL_ARGS) {
		ray_enter_call_regs(p);
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, BPF_REG_0, regs[argument]));
	} else
		ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_1, 0));
}

static void emit_syscall_args(const struct ray_entry *e, const struct ray_site *site, struct ray_piece *p,
			      uint32_t needed)
{
	for (int i = 0; i < RAY_ARGS; i++) {
		struct ray_fetch rule = syscall_rule(e, site, i);

		if (!(needed & 1U << i))
			continue;
		if (rule.kind == RAY_FETCH_RAW) {
			emit_syscall_word(e, p, rule.value);
			ray_enter_extend(p, BPF_REG_1, &rule);
			ray_enter_store_arg(p, i, BPF_REG_1);
		} else {
			ray_enter_fetch(p, i, &rule);
		}
	}
}

/* errno is set when the value is one. */
static void emit_syscall_exit(const struct ray_entry *e, const struct ray_site *site, struct ray_piece *p,
			      uint32_t needed)
{
	uint32_t fine = ray_piece_label(p);

	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_CTX_REG, 8));
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JSGE, BPF_REG_1, 0), fine);
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JSLE, BPF_REG_1, -4096), fine);
	ray_piece_emit(p, RAY_ALU_IMM(BPF_NEG, BPF_REG_1, 0));
	ray_piece_emit(p, RAY_STORE(BPF_W, RAY_SLOT_REG, BPF_REG_1, offsetof(struct ray_slot, error)));
	ray_piece_place(p, fine);
	emit_syscall_args(e, site, p, needed);
}

/* ---- profile ---- */

/* The interrupted pc is arg0 in the kernel, arg1 in a program. */
static void emit_profile(struct ray_piece *p, uint32_t needed)
{
	uint32_t kernel = ray_piece_label(p);
	uint32_t done = ray_piece_label(p);

	emit_args_clear(p, needed | 3);
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_2, RAY_CTX_REG, RAY_REGS_IP));
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_CTX_REG, RAY_REGS_CS));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_AND, BPF_REG_1, 3));
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_1, 0), kernel);
	ray_enter_store_arg(p, 1, BPF_REG_2);
	ray_piece_jump(p, RAY_JUMP_ALWAYS, done);
	ray_piece_place(p, kernel);
	ray_enter_store_arg(p, 0, BPF_REG_2);
	ray_piece_emit(p, RAY_STORE(BPF_DW, RAY_SLOT_REG, BPF_REG_2, offsetof(struct ray_slot, kernel_pc)));
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_2, RAY_CTX_REG, RAY_REGS_SP));
	ray_piece_emit(p, RAY_STORE(BPF_DW, RAY_SLOT_REG, BPF_REG_2, offsetof(struct ray_slot, kernel_sp)));
	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_2, RAY_CTX_REG, RAY_REGS_BP));
	ray_piece_emit(p, RAY_STORE(BPF_DW, RAY_SLOT_REG, BPF_REG_2, offsetof(struct ray_slot, kernel_fp)));
	ray_piece_place(p, done);
}

/* ---- uprobes ---- */

void ray_enter_user_regs(struct ray_piece *p)
{
	static const struct {
		int reg, at;
	} saved[] = {
		{ RAY_REGS_IP, offsetof(struct ray_slot, user_pc) },
		{ RAY_REGS_SP, offsetof(struct ray_slot, user_sp) },
		{ RAY_REGS_BP, offsetof(struct ray_slot, user_fp) },
	};

	for (size_t i = 0; i < RAY_COUNT(saved); i++) {
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_CTX_REG, saved[i].reg));
		ray_piece_emit(p, RAY_STORE(BPF_DW, RAY_SLOT_REG, BPF_REG_1, saved[i].at));
	}
}

/* The calling convention: six in registers, the rest above the return address. */
static void emit_call_args(struct ray_piece *p, uint32_t needed)
{
	static const int regs[] = { RAY_REGS_DI, RAY_REGS_SI, RAY_REGS_DX, RAY_REGS_CX, RAY_REGS_R8, RAY_REGS_R9 };

	emit_args_clear(p, needed & ~0x3fU);
	for (int i = 0; i < RAY_ARGS; i++) {
		if (!(needed & 1U << i))
			continue;
		if (i < (int)RAY_COUNT(regs)) {
			ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_CTX_REG, regs[i]));
			ray_enter_store_arg(p, i, BPF_REG_1);
		} else {
			ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_3, RAY_CTX_REG, RAY_REGS_SP));
			ray_piece_emit(p, RAY_ALU_IMM(BPF_ADD, BPF_REG_3, 8 * (i - (int)RAY_COUNT(regs) + 1)));
			ray_enter_read(p, arg_at(i), 8, BPF_FUNC_probe_read_user);
		}
	}
}

/* Rules of the point: the runtime follows them over a copy of the registers. */
static void emit_point_args(struct ray_piece *p, uint32_t needed, uint32_t plain)
{
	ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, RAY_POINT_REG, offsetof(struct ray_point, fetch_count)));
	ray_piece_jump(p, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_1, 0), plain);
	emit_args_clear(p, needed);
	for (int i = 0; i < RAY_REGS_SIZE / 8; i++) {
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_CTX_REG, 8 * i));
		ray_piece_emit(p, RAY_STORE(BPF_DW, RAY_SLOT_REG, BPF_REG_1, spill_at(i)));
	}
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_1, RAY_CTX_REG));
	ray_piece_emit(p, RAY_CALL_HELPER(BPF_FUNC_get_attach_cookie));
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_2, BPF_REG_0));
	ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_1, RAY_SLOT_REG, offsetof(struct ray_slot, index)));
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_3, needed));
	ray_piece_call_runtime(p, "ray_fetch_args");
}

static bool has_rules(const struct ray_entry *e)
{
	if (e->grows)
		return true;
	for (size_t i = 0; i < e->sites.n; i++)
		if (e->sites.at[i]->fetch_count)
			return true;
	return false;
}

static void emit_uprobe(const struct ray_entry *e, struct ray_piece *p, uint32_t needed)
{
	uint32_t plain = ray_piece_label(p);
	uint32_t done = ray_piece_label(p);

	ray_enter_user_regs(p);
	if (needed && has_rules(e)) {
		emit_point_args(p, needed, plain);
		ray_piece_jump(p, RAY_JUMP_ALWAYS, done);
	}
	ray_piece_place(p, plain);
	if (e->kind == RAY_SITE_UPROBE) {
		emit_call_args(p, needed);
	} else {
		emit_args_clear(p, needed);
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_CTX_REG, RAY_REGS_AX));
		ray_enter_store_arg(p, 1, BPF_REG_1);
	}
	ray_piece_place(p, done);
}

/* ---- tracepoints ---- */

static void emit_fetches(const struct ray_site *site, struct ray_piece *p, uint32_t needed)
{
	for (size_t i = 0; i < RAY_ARGS; i++)
		if (needed & 1U << i)
			ray_enter_fetch(p, i, i < site->fetch_count ? &site->fetch[i] : &(struct ray_fetch){ 0 });
}

/* pid and tid are those of the task in arg0. */
static void emit_subject(struct ray_piece *p)
{
	static const struct {
		uint32_t constant;
		int at;
	} halves[] = { { RAY_LINK_TASK_PID, 0 }, { RAY_LINK_TASK_TGID, 4 } };

	for (size_t i = 0; i < RAY_COUNT(halves); i++) {
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_3, RAY_SLOT_REG, arg_at(0)));
		ray_piece_load_const(p, BPF_REG_1, halves[i].constant);
		ray_piece_emit(p, RAY_ALU_REG(BPF_ADD, BPF_REG_3, BPF_REG_1));
		ray_enter_read(p, offsetof(struct ray_slot, pid_tgid) + halves[i].at, 4, BPF_FUNC_probe_read_kernel);
	}
}

/* ---- all ---- */

static void emit_condition(struct ray_piece *p, const struct ray_condition *c, uint32_t release)
{
	static const uint8_t leaves[] = {
		[RAY_COMPARE_EQ] = BPF_JNE,  [RAY_COMPARE_NE] = BPF_JEQ,     [RAY_COMPARE_LT] = BPF_JSGE,
		[RAY_COMPARE_GE] = BPF_JSLT, [RAY_COMPARE_EQ_ARG] = BPF_JNE, [RAY_COMPARE_MASK] = BPF_JEQ,
	};

	ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1, RAY_SLOT_REG, arg_at(c->arg)));
	if (c->op == RAY_COMPARE_EQ_ARG) {
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_2, RAY_SLOT_REG, arg_at(c->value)));
		ray_piece_jump(p, RAY_JUMP_REG(leaves[c->op], BPF_REG_1, BPF_REG_2), release);
	} else if (c->op == RAY_COMPARE_MASK) {
		ray_piece_emit(p, RAY_ALU_IMM(BPF_AND, BPF_REG_1, c->value));
		ray_piece_jump(p, RAY_JUMP_IMM(leaves[c->op], BPF_REG_1, 0), release);
	} else {
		ray_piece_jump(p, RAY_JUMP_IMM(leaves[c->op], BPF_REG_1, c->value), release);
	}
}

static const struct ray_site *any_site(const struct ray_entry *e)
{
	static const struct ray_site none;

	for (size_t i = 0; i < e->sites.n; i++)
		if (e->sites.at[i])
			return e->sites.at[i];
	return &none; /* so far: its sites come while it runs */
}

void ray_entry_emit_args(const struct ray_entry *e, struct ray_piece *p, const struct ray_entry_labels *labels)
{
	uint32_t needed = ray_entry_args_needed(e);
	const struct ray_site *site = any_site(e);

	switch (e->kind) {
	case RAY_SITE_SYSCALL_ENTER:
		emit_syscall_args(e, site, p, needed);
		break;
	case RAY_SITE_SYSCALL_EXIT:
		emit_syscall_exit(e, site, p, needed);
		break;
	case RAY_SITE_PROFILE:
	case RAY_SITE_TICK:
		emit_profile(p, needed);
		break;
	case RAY_SITE_UPROBE:
	case RAY_SITE_URETPROBE:
		emit_uprobe(e, p, needed);
		break;
	case RAY_SITE_TRACEPOINT:
	case RAY_SITE_RAW_TRACEPOINT:
		emit_fetches(site, p, needed);
		break;
	default:
		emit_args_clear(p, needed);
	}
	for (size_t i = 0; i < site->condition_count; i++)
		emit_condition(p, &site->conditions[i], labels->release);
	if (site->is_about_task)
		emit_subject(p);
}
