/* kernel_orc.c - see kernel_orc.h. SPDX-License-Identifier: MIT */
#include "engine/kernel_orc.h"

#include <bpf/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/error.h"
#include "engine/kernel_btf.h"
#include "engine/piece.h"
#include "kern/wire.h"

/* The names of symbols, then their addresses: the value of a map that a program in the kernel fills in. */
enum { STARTS, STARTS_END, ROWS, ROWS_END, TEXT, TEXT_END, GRAPH, RETURN, SYMBOLS };
enum { NAME_ROOM = 32 };

struct symbols {
	char names[SYMBOLS][NAME_ROOM];
	uint64_t addresses[SYMBOLS];
};

/* As it is since Linux 6.4: no `end`, which was a type of row then; and `signal`. */
static bool is_of_this_shape(const struct ray_kernel_btf *btf)
{
	static const struct {
		const char *name;
		uint32_t at;
	} members[] = { { "sp_offset", 0 }, { "bp_offset", 2 }, { "sp_reg", 4 },
			{ "bp_reg", 4 },    { "type", 5 },	{ "signal", 5 } };
	struct ray_error *err;
	uint32_t at = 0;

	for (size_t i = 0; i < RAY_COUNT(members); i++) {
		err = ray_kernel_btf_offset(btf, "orc_entry", members[i].name, &at);
		ray_error_free(err);
		if (err || at != members[i].at)
			return false;
	}
	err = ray_kernel_btf_offset(btf, "orc_entry", "end", &at);
	ray_error_free(err);
	return err != NULL;
}

/* A symbol that there is not leaves 0. */
static int load(int map)
{
	struct bpf_insn program[SYMBOLS * 10 + 2];
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_SLEEPABLE);
	size_t n = 0;

	for (int i = 0; i < SYMBOLS; i++) {
		const struct bpf_insn one[] = {
			RAY_INSN(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_VALUE, 0, map),
			RAY_INSN(0, 0, 0, 0, i * NAME_ROOM),
			RAY_MOV_IMM(BPF_REG_2, NAME_ROOM),
			RAY_MOV_IMM(BPF_REG_3, 0),
			RAY_INSN(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_4, BPF_PSEUDO_MAP_VALUE, 0, map),
			RAY_INSN(0, 0, 0, 0, (int)offsetof(struct symbols, addresses) + i * 8),
			RAY_CALL_HELPER(BPF_FUNC_kallsyms_lookup_name),
		};

		memcpy(&program[n], one, sizeof(one));
		n += RAY_COUNT(one);
	}
	program[n++] = RAY_MOV_IMM(BPF_REG_0, 0);
	program[n++] = RAY_EXIT_INSN;
	return bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "noderay", "Dual MIT/GPL", program, n, &opts);
}

static bool ask(struct symbols *s)
{
	ray_auto_fd int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "noderay", sizeof(uint32_t), sizeof(*s), 1, NULL);
	ray_auto_fd int program = -1;
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	uint32_t key = 0;

	if (map < 0 || bpf_map_update_elem(map, &key, s, BPF_ANY))
		return false;
	program = load(map);
	return program >= 0 && !bpf_prog_test_run_opts(program, &opts) && !bpf_map_lookup_elem(map, &key, s);
}

void ray_kernel_orc_find(const struct ray_kernel_btf *btf, struct ray_kernel_orc *ret)
{
	struct symbols s = { .names = { [STARTS] = "__start_orc_unwind_ip",
					[STARTS_END] = "__stop_orc_unwind_ip",
					[ROWS] = "__start_orc_unwind",
					[ROWS_END] = "__stop_orc_unwind",
					[TEXT] = "_stext",
					[TEXT_END] = "_etext",
					[GRAPH] = "return_to_handler",
					[RETURN] = "arch_rethook_trampoline" } };
	const uint64_t *at = s.addresses;

	*ret = (struct ray_kernel_orc){ 0 };
	if (!is_of_this_shape(btf) || !ask(&s))
		return;
	if (!at[STARTS] || !at[ROWS] || at[STARTS_END] <= at[STARTS] || !at[TEXT] || at[TEXT_END] <= at[TEXT])
		return;
	*ret = (struct ray_kernel_orc){ .starts = at[STARTS],
					.rows = at[ROWS],
					.count = (at[STARTS_END] - at[STARTS]) / 4,
					/* It has no name of its own. */
					.index = at[ROWS_END] ? (at[ROWS_END] + 3) & ~3ULL : 0,
					.text_start = at[TEXT],
					.text_end = at[TEXT_END],
					.graph_hook = at[GRAPH],
					.return_hook = at[RETURN] };
}
