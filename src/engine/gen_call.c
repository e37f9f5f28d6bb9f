/* gen_call.c - subroutines: one row says which function of the runtime does it, and how it is called.
 * SPDX-License-Identifier: MIT */
#include "engine/gen.h"

struct shape {
	const char *function;
	bool has_result_temp; /* the first argument is where the string goes */
	uint8_t args;	      /* how many the runtime takes; missing ones are `missing` */
	int64_t missing;
};

static const struct shape shapes[RAY_FN_COUNT_] = {
	[RAY_FN_ALLOCA] = { "ray_alloca", false, 1, 0 },
	[RAY_FN_BASENAME] = { "ray_basename", true, 1, 0 },
	[RAY_FN_BCOPY] = { "ray_bcopy", false, 3, 0 },
	[RAY_FN_CLEANPATH] = { "ray_cleanpath", true, 1, 0 },
	[RAY_FN_COPYIN] = { "ray_copyin", false, 2, 0 },
	[RAY_FN_COPYINSTR] = { "ray_copyinstr", true, 2, INT32_MAX },
	[RAY_FN_COPYINTO] = { "ray_copyinto", false, 3, 0 },
	[RAY_FN_COPYOUT] = { "ray_copyout", false, 3, 0 },
	[RAY_FN_COPYOUTSTR] = { "ray_copyoutstr", false, 3, 0 },
	[RAY_FN_D_PATH] = { "ray_d_path", true, 1, 0 },
	[RAY_FN_DIRNAME] = { "ray_dirname", true, 1, 0 },
	[RAY_FN_CWD] = { "ray_cwd", true, 0, 0 },
	[RAY_FN_FD_FS] = { "ray_fd_fs", true, 1, 0 },
	[RAY_FN_FD_MOUNT] = { "ray_fd_mount", true, 1, 0 },
	[RAY_FN_FD_NAME] = { "ray_fd_name", true, 1, 0 },
	[RAY_FN_FD_NUMBER] = { "ray_fd_number", false, 2, 0 },
	[RAY_FN_FD_PATH] = { "ray_fd_path", true, 1, 0 },
	[RAY_FN_PSARGS] = { "ray_psargs", true, 0, 0 },
	[RAY_FN_ROOT] = { "ray_root", true, 0, 0 },
	[RAY_FN_INDEX] = { "ray_index", false, 3, INT64_MIN },
	[RAY_FN_INET_NTOA] = { "ray_inet_ntoa", true, 1, 0 },
	[RAY_FN_INET_NTOA6] = { "ray_inet_ntoa6", true, 2, 0 },
	[RAY_FN_INET_NTOP] = { "ray_inet_ntop", true, 2, 0 },
	[RAY_FN_JSON] = { "ray_json", true, 2, 0 },
	[RAY_FN_LINK_NTOP] = { "ray_link_ntop", true, 2, 0 },
	[RAY_FN_LLTOSTR] = { "ray_lltostr", true, 2, 0 },
	[RAY_FN_PEEK] = { "ray_peek", false, 1, 0 },
	[RAY_FN_PROGENYOF] = { "ray_progenyof", false, 1, 0 },
	[RAY_FN_RAND] = { "ray_rand", false, 0, 0 },
	[RAY_FN_RINDEX] = { "ray_rindex", false, 3, INT64_MIN },
	[RAY_FN_SPECULATION] = { "ray_speculation", false, 0, 0 },
	[RAY_FN_STRCHR] = { "ray_strchr", true, 2, 0 },
	[RAY_FN_STRIP] = { "ray_strip", true, 1, 0 },
	[RAY_FN_STRJOIN] = { "ray_strjoin", true, 2, 0 },
	[RAY_FN_STRLEN] = { "ray_strlen", false, 1, 0 },
	[RAY_FN_STRRCHR] = { "ray_strrchr", true, 2, 0 },
	[RAY_FN_STRSTR] = { "ray_strstr", true, 2, 0 },
	[RAY_FN_STRTOK] = { "ray_strtok", true, 2, 0 },
	[RAY_FN_SUBSTR] = { "ray_substr", true, 3, INT64_MAX },
	[RAY_FN_TOLOWER] = { "ray_tolower", true, 1, 0 },
	[RAY_FN_TOUPPER] = { "ray_toupper", true, 1, 0 },
};

static void call_runtime(struct ray_gen *g, const struct ray_expr *e, const struct shape *s, unsigned d)
{
	uint8_t reg = R2;

	for (size_t i = 0; i < e->arg_count; i++)
		ray_gen_expr(g, e->args[i], d + i);
	if (s->has_result_temp)
		ray_piece_load_u64(g->c, reg++, ray_gen_temp(g));
	for (size_t i = 0; i < s->args; i++, reg++) {
		if (i < e->arg_count)
			ray_gen_get_into(g, d + i, reg);
		else
			ray_piece_load_u64(g->c, reg, s->missing);
	}
	ray_gen_call(g, s->function);
	ray_gen_set(g, d, R0);
	ray_gen_check_fault(g);
}

static void swap_bytes(struct ray_gen *g, const struct ray_expr *e, int bits, unsigned d)
{
	uint8_t reg;

	ray_gen_expr(g, e->args[0], d);
	reg = ray_gen_get(g, d, R1);
	ray_gen_emit(g, RAY_INSN(BPF_ALU | BPF_END | BPF_TO_BE, reg, 0, 0, bits));
	ray_gen_set(g, d, reg);
}

/* Device numbers inside of the kernel: 12 bits, then 20. */
static void device(struct ray_gen *g, const struct ray_expr *e, bool is_major, unsigned d)
{
	uint8_t reg;

	ray_gen_expr(g, e->args[0], d);
	reg = ray_gen_get(g, d, R1);
	ray_gen_emit(g, is_major ? RAY_ALU_IMM(BPF_RSH, reg, 20) : RAY_ALU_IMM(BPF_AND, reg, (1 << 20) - 1));
	ray_gen_normalise(g, reg, e->type);
	ray_gen_set(g, d, reg);
}

/* The first word of the lock at args[0], and-ed with mask: at d. */
static void lock_word(struct ray_gen *g, const struct ray_expr *e, int size, int32_t mask, unsigned d)
{
	ray_gen_expr(g, e->args[0], d);
	ray_gen_get_into(g, d, R2);
	ray_gen_emit(g, RAY_MOV_IMM(R3, size));
	ray_gen_call(g, "ray_load");
	ray_gen_check_fault(g);
	ray_gen_emit(g, RAY_ALU_IMM(BPF_AND, R0, mask));
	ray_gen_set(g, d, R0);
}

static void to_truth(struct ray_gen *g, unsigned d)
{
	uint32_t end = ray_piece_label(g->c);
	uint8_t reg = ray_gen_get(g, d, R1);

	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, reg, 0), end);
	ray_gen_emit(g, RAY_MOV_IMM(reg, 1));
	ray_piece_place(g->c, end);
	ray_gen_set(g, d, reg);
}

/* A mutex begins with its owner, whose lowest three bits are flags; a queued rwlock with a counter: readers above bit
 * 8, the writer's byte below. */
static bool gen_lock(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	switch (e->function->id) {
	case RAY_FN_MUTEX_OWNED:
		lock_word(g, e, 8, -8, d);
		to_truth(g, d);
		return true;
	case RAY_FN_MUTEX_OWNER:
		lock_word(g, e, 8, -8, d);
		return true;
	case RAY_FN_MUTEX_TYPE_ADAPTIVE:
		ray_gen_expr(g, e->args[0], d);
		ray_gen_set_u64(g, d, 1);
		return true;
	case RAY_FN_MUTEX_TYPE_SPIN:
		ray_gen_expr(g, e->args[0], d);
		ray_gen_set_u64(g, d, 0);
		return true;
	case RAY_FN_RW_READ_HELD:
		lock_word(g, e, 4, ~0x1ff, d);
		to_truth(g, d);
		return true;
	case RAY_FN_RW_WRITE_HELD:
	case RAY_FN_RW_ISWRITER:
		lock_word(g, e, 4, 0xff, d);
		to_truth(g, d);
		return true;
	default:
		return false;
	}
}

void ray_gen_subroutine(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	switch (e->function->id) {
	case RAY_FN_HTONS:
	case RAY_FN_NTOHS:
		swap_bytes(g, e, 16, d);
		return;
	case RAY_FN_HTONL:
	case RAY_FN_NTOHL:
		swap_bytes(g, e, 32, d);
		return;
	case RAY_FN_HTONLL:
	case RAY_FN_NTOHLL:
		swap_bytes(g, e, 64, d);
		return;
	case RAY_FN_GETMAJOR:
	case RAY_FN_GETMINOR:
		device(g, e, e->function->id == RAY_FN_GETMAJOR, d);
		return;
	default:
		break;
	}
	if (shapes[e->function->id].function)
		call_runtime(g, e, &shapes[e->function->id], d);
	else if (!gen_lock(g, e, d))
		ray_gen_fail(g, &e->where, "internal: a function that has no value");
}
