/* gen_builtin.c - built-in variables. SPDX-License-Identifier: MIT */
#include "engine/gen.h"

enum { REGISTERS = 21, /* words of struct pt_regs on x86-64 */ FRAME = BPF_REG_10 };

typedef void builtin_fn(struct ray_gen *g, const struct ray_expr *e, unsigned d);

static void load_word(struct ray_gen *g, uint8_t size, int offset, unsigned d)
{
	uint8_t reg = ray_gen_target(d, R1);

	ray_gen_emit(g, RAY_LOAD(size, reg, SLOT, offset));
	ray_gen_set(g, d, reg);
}

static void gen_argument(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	load_word(g, BPF_DW, SLOT_AT(args) + 8 * (int)(e->variable->builtin - RAY_BUILTIN_ARG0), d);
}

static void gen_errno(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	(void)e;
	load_word(g, BPF_W, SLOT_AT(error), d);
}

static void gen_id(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	(void)e;
	load_word(g, BPF_W, SLOT_AT(probe), d);
}

/* An enabled probe: the probe and the clause. */
static void gen_epid(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	(void)e;
	ray_gen_emit(g, RAY_LOAD(BPF_W, R0, SLOT, SLOT_AT(probe)));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_LSH, R0, 32));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_OR, R0, g->clause->index + 1));
	ray_gen_set(g, d, R0);
}

static void gen_zero(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	(void)e;
	ray_gen_set_u64(g, d, 0);
}

/* Helpers that tell two numbers at once. */
static void half(struct ray_gen *g, int helper, bool is_upper, unsigned d)
{
	if (helper == BPF_FUNC_get_current_pid_tgid)
		ray_gen_thread(g);
	else
		ray_gen_emit(g, RAY_CALL_HELPER(helper));
	ray_gen_emit(g, is_upper ? RAY_ALU_IMM(BPF_RSH, R0, 32) : RAY_MOV32_REG(R0, R0));
	ray_gen_set(g, d, R0);
}

static void gen_ids(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	switch (e->variable->builtin) {
	case RAY_BUILTIN_PID:
		half(g, BPF_FUNC_get_current_pid_tgid, true, d);
		break;
	case RAY_BUILTIN_TID:
		half(g, BPF_FUNC_get_current_pid_tgid, false, d);
		break;
	case RAY_BUILTIN_GID:
		half(g, BPF_FUNC_get_current_uid_gid, true, d);
		break;
	default:
		half(g, BPF_FUNC_get_current_uid_gid, false, d);
	}
}

static void gen_helper(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	ray_gen_emit(g,
		     RAY_CALL_HELPER(e->variable->builtin == RAY_BUILTIN_CPU	   ? BPF_FUNC_get_smp_processor_id :
				     e->variable->builtin == RAY_BUILTIN_CURTHREAD ? BPF_FUNC_get_current_task :
										     BPF_FUNC_get_current_cgroup_id));
	ray_gen_set(g, d, R0);
}

/* Read once per firing, so that all uses agree. */
static void gen_timestamp(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	uint32_t known = ray_piece_label(g->c);

	(void)e;
	ray_gen_emit(g, RAY_LOAD(BPF_DW, R0, SLOT, SLOT_AT(timestamp)));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JNE, R0, 0), known);
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_ktime_get_ns));
	ray_gen_emit(g, RAY_STORE(BPF_DW, SLOT, R0, SLOT_AT(timestamp)));
	ray_piece_place(g->c, known);
	ray_gen_set(g, d, R0);
}

static void gen_walltimestamp(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	(void)e;
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_ktime_get_ns));
	ray_piece_load_map_value(g->c, R1, RAY_LINK_STATE, offsetof(struct ray_state, wall_offset));
	ray_gen_emit(g, RAY_LOAD(BPF_DW, R1, R1, 0));
	ray_gen_emit(g, RAY_ALU_REG(BPF_ADD, R0, R1));
	ray_gen_set(g, d, R0);
}

static void gen_runtime_number(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	ray_gen_call(g, e->variable->builtin == RAY_BUILTIN_PPID ? "ray_ppid" : "ray_vtimestamp");
	ray_gen_set(g, d, R0);
	ray_gen_check_fault(g);
}

static void gen_runtime_string(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	const char *function = e->variable->builtin == RAY_BUILTIN_CWD	    ? "ray_cwd" :
			       e->variable->builtin == RAY_BUILTIN_ROOT	    ? "ray_root" :
			       e->variable->builtin == RAY_BUILTIN_EXECNAME ? "ray_execname" :
									      "ray_probe_part";

	ray_piece_load_u64(g->c, R2, ray_gen_temp(g));
	if (e->variable->builtin >= RAY_BUILTIN_PROBEPROV && e->variable->builtin <= RAY_BUILTIN_PROBENAME)
		ray_gen_emit(g, RAY_MOV_IMM(R3, e->variable->builtin - RAY_BUILTIN_PROBEPROV));
	ray_gen_call(g, function);
	ray_gen_set(g, d, R0);
	ray_gen_check_fault(g);
}

/* The second frame of a stack of two, or 0. */
static void gen_caller(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	uint32_t fine = ray_piece_label(g->c);

	(void)e;
	ray_gen_emit(g, RAY_STORE_IMM(BPF_DW, FRAME, -8, 0));
	ray_gen_emit(g, RAY_STORE_IMM(BPF_DW, FRAME, -16, 0));
	ray_gen_emit(g, RAY_MOV_REG(R1, CTX));
	ray_gen_emit(g, RAY_MOV_REG(R2, FRAME));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_ADD, R2, -16));
	ray_gen_emit(g, RAY_MOV_IMM(R3, 16));
	ray_gen_emit(g, RAY_MOV_IMM(R4, 0));
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_get_stack));
	ray_gen_emit(g, RAY_LOAD(BPF_DW, R1, FRAME, -8));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JSGE, R0, 0), fine);
	ray_gen_emit(g, RAY_MOV_IMM(R1, 0));
	ray_piece_place(g->c, fine);
	ray_gen_set(g, d, R1);
}

static void gen_depth(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	uint32_t fine = ray_piece_label(g->c);

	(void)e;
	ray_gen_emit(g, RAY_MOV_REG(R1, CTX));
	ray_gen_slot_pointer(g, R2, g->plan->value_at);
	ray_gen_emit(g, RAY_MOV_IMM(R3, g->plan->options->maxframes * 8));
	ray_gen_emit(g, RAY_MOV_IMM(R4, 0));
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_get_stack));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JSGE, R0, 0), fine);
	ray_gen_emit(g, RAY_MOV_IMM(R0, 0));
	ray_piece_place(g->c, fine);
	ray_gen_emit(g, RAY_ALU_IMM(BPF_RSH, R0, 3));
	ray_gen_set(g, d, R0);
}

/* User stacks are walked by our own walker, as ustack() is: the kernel's sees only code that keeps frame pointers. */
static void gen_user_stack(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	ray_gen_call(g, e->variable->builtin == RAY_BUILTIN_UCALLER ? "ray_ucaller" : "ray_ustackdepth");
	ray_gen_set(g, d, R0);
}

static builtin_fn *const builtins[] = {
	[RAY_BUILTIN_ARG0] = gen_argument,
	[RAY_BUILTIN_ARG1] = gen_argument,
	[RAY_BUILTIN_ARG2] = gen_argument,
	[RAY_BUILTIN_ARG3] = gen_argument,
	[RAY_BUILTIN_ARG4] = gen_argument,
	[RAY_BUILTIN_ARG5] = gen_argument,
	[RAY_BUILTIN_ARG6] = gen_argument,
	[RAY_BUILTIN_ARG7] = gen_argument,
	[RAY_BUILTIN_ARG8] = gen_argument,
	[RAY_BUILTIN_ARG9] = gen_argument,
	[RAY_BUILTIN_PID] = gen_ids,
	[RAY_BUILTIN_TID] = gen_ids,
	[RAY_BUILTIN_UID] = gen_ids,
	[RAY_BUILTIN_GID] = gen_ids,
	[RAY_BUILTIN_PPID] = gen_runtime_number,
	[RAY_BUILTIN_VTIMESTAMP] = gen_runtime_number,
	[RAY_BUILTIN_EXECNAME] = gen_runtime_string,
	[RAY_BUILTIN_PROBEPROV] = gen_runtime_string,
	[RAY_BUILTIN_PROBEMOD] = gen_runtime_string,
	[RAY_BUILTIN_PROBEFUNC] = gen_runtime_string,
	[RAY_BUILTIN_PROBENAME] = gen_runtime_string,
	[RAY_BUILTIN_CWD] = gen_runtime_string,
	[RAY_BUILTIN_ROOT] = gen_runtime_string,
	[RAY_BUILTIN_TIMESTAMP] = gen_timestamp,
	[RAY_BUILTIN_WALLTIMESTAMP] = gen_walltimestamp,
	[RAY_BUILTIN_ERRNO] = gen_errno,
	[RAY_BUILTIN_CALLER] = gen_caller,
	[RAY_BUILTIN_UCALLER] = gen_user_stack,
	[RAY_BUILTIN_STACKDEPTH] = gen_depth,
	[RAY_BUILTIN_USTACKDEPTH] = gen_user_stack,
	[RAY_BUILTIN_EPID] = gen_epid,
	[RAY_BUILTIN_ID] = gen_id,
	[RAY_BUILTIN_IPL] = gen_zero,
	[RAY_BUILTIN_JID] = gen_zero,
	[RAY_BUILTIN_CPU] = gen_helper,
	[RAY_BUILTIN_CURTHREAD] = gen_helper,
	[RAY_BUILTIN_CGROUP] = gen_helper,
};

void ray_gen_builtin(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	enum ray_builtin which = e->variable->builtin;
	builtin_fn *handler = which < sizeof(builtins) / sizeof(builtins[0]) ? builtins[which] : NULL;

	if (handler)
		handler(g, e, d);
	else
		ray_gen_fail(g, &e->where, "internal: a built-in variable that the checker should have replaced");
}

/* Registers that the kernel keeps in the task, numbered after those of struct pt_regs: ds, es, fsbase, gsbase,
 * trapno. */
static void thread_register(struct ray_gen *g, uint32_t which, unsigned d)
{
	static const struct {
		uint8_t constant, size;
	} kept[] = { { RAY_LINK_TASK_DS, 2 },
		     { RAY_LINK_TASK_ES, 2 },
		     { RAY_LINK_TASK_FSBASE, 8 },
		     { RAY_LINK_TASK_GSBASE, 8 },
		     { RAY_LINK_TASK_TRAP, 8 } };

	if (which >= sizeof(kept) / sizeof(kept[0])) {
		ray_gen_set_u64(g, d, 0);
		return;
	}
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_get_current_task));
	ray_piece_load_const(g->c, R2, kept[which].constant);
	ray_gen_emit(g, RAY_ALU_REG(BPF_ADD, R2, R0));
	ray_gen_emit(g, RAY_MOV_IMM(R3, kept[which].size));
	ray_gen_call(g, "ray_load");
	ray_gen_set(g, d, R0);
	ray_gen_check_fault(g);
}

/* The registers that the current task's user code had when it came into the kernel. The checker lets only constants
 * through. */
void ray_gen_uregs(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	uint64_t which = e->args[0]->value;

	if (which >= REGISTERS) {
		thread_register(g, which - REGISTERS, d);
		return;
	}
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_get_current_task_btf));
	ray_gen_emit(g, RAY_MOV_REG(R1, R0));
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_task_pt_regs));
	ray_gen_emit(g, RAY_LOAD(BPF_DW, R1, R0, which * 8));
	ray_gen_set(g, d, R1);
}
