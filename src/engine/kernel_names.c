/* kernel_names.c - see kernel_names.h. SPDX-License-Identifier: MIT */
#include "engine/kernel_names.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/piece.h"

enum { TEXT_ROOM = 512, RAW_ARGUMENTS = 12, FORMAT_ROOM = 8 };

struct ray_kernel_names {
	int program, texts;
	char *text; /* what the program printed: the memory of its map */
	size_t mapped;
};

/* Helpers take a format only from memory that nobody can change any more. */
static int create_format(void)
{
	static const char format[FORMAT_ROOM] = "%pS";
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_RDONLY_PROG);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "noderay", sizeof(uint32_t), FORMAT_ROOM, 1, &opts);
	uint32_t key = 0;

	if (fd >= 0 && (bpf_map_update_elem(fd, &key, format, BPF_ANY) || bpf_map_freeze(fd))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The address is its first argument. */
static int load(int texts, int format)
{
	const struct bpf_insn program[] = {
		RAY_LOAD(BPF_DW, BPF_REG_1, BPF_REG_1, 0),
		RAY_STORE(BPF_DW, BPF_REG_10, BPF_REG_1, -8),
		RAY_INSN(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_VALUE, 0, texts),
		RAY_INSN(0, 0, 0, 0, 0),
		RAY_MOV_IMM(BPF_REG_2, TEXT_ROOM),
		RAY_INSN(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_3, BPF_PSEUDO_MAP_VALUE, 0, format),
		RAY_INSN(0, 0, 0, 0, 0),
		RAY_MOV_REG(BPF_REG_4, BPF_REG_10),
		RAY_ALU_IMM(BPF_ADD, BPF_REG_4, -8),
		RAY_MOV_IMM(BPF_REG_5, 8),
		RAY_CALL_HELPER(BPF_FUNC_snprintf),
		RAY_MOV_IMM(BPF_REG_0, 0),
		RAY_EXIT_INSN,
	};

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "noderay", "Dual MIT/GPL", program, RAY_COUNT(program),
			     NULL);
}

struct ray_kernel_names *ray_kernel_names_create(void)
{
	ray_auto(ray_kernel_names, n) = calloc(1, sizeof(*n));
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	ray_auto_fd int format = create_format();
	void *memory;

	if (!n)
		return NULL;
	n->program = -1;
	n->texts = bpf_map_create(BPF_MAP_TYPE_ARRAY, "noderay", sizeof(uint32_t), TEXT_ROOM, 1, &opts);
	if (format < 0 || n->texts < 0)
		return NULL;
	n->mapped = (size_t)sysconf(_SC_PAGESIZE);
	memory = mmap(NULL, n->mapped, PROT_READ, MAP_SHARED, n->texts, 0);
	if (memory == MAP_FAILED)
		return NULL;
	n->text = memory;
	n->program = load(n->texts, format);
	return n->program < 0 ? NULL : ray_take(n);
}

void ray_kernel_names_free(struct ray_kernel_names *n)
{
	if (!n)
		return;
	if (n->text)
		munmap(n->text, n->mapped);
	if (n->texts >= 0)
		close(n->texts);
	if (n->program >= 0)
		close(n->program);
	free(n);
}

bool ray_kernel_names_ask(void *arg, uint64_t address, char *text, size_t size)
{
	const struct ray_kernel_names *n = arg;
	uint64_t arguments[RAW_ARGUMENTS] = { address };
	union bpf_attr attr = { 0 };

	attr.test.prog_fd = (uint32_t)n->program;
	attr.test.ctx_in = (uint64_t)(uintptr_t)arguments;
	attr.test.ctx_size_in = sizeof(arguments);
	while (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr)) < 0)
		if (errno != EINTR && errno != EAGAIN)
			return false;
	if (strnlen(n->text, TEXT_ROOM) >= size)
		return false;
	strcpy(text, n->text);
	return true;
}
