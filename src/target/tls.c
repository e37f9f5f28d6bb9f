/* tls.c - see tls.h. SPDX-License-Identifier: MIT */
#include "target/tls.h"
#include "target/proc.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

/* Every thread descriptor begins with a pointer to itself, then one to its dtv (x86-64 ABI). */
enum {
	DTV = 8,
	GLIBC_SELF = 0x10,
	GLIBC_AFTER_SELF = 0x18, /* two ints, never the descriptor's address */
	MUSL_NEXT = 0x18,
	MUSL_TID = 0x30,
	MUSL_SPECIFIC = 0x80,
	FIRST_KEYS = 32,	/* glibc: so many values lie in the descriptor, 16 bytes each */
	SEARCH_BELOW = 0x800,	/* robust list: how far its descriptor may begin below it; it is 0x2e0 */
	SEARCH_ABOVE = 1 << 20, /* musl: how far above the stack pointer a descriptor is looked for */
	MAX_THREADS = 1 << 16,
};

static bool read_word(struct ray_target *t, uint64_t address, uint64_t *ret)
{
	return ray_target_read(t, address, ret, sizeof(*ret)) == sizeof(*ret);
}

static bool is_glibc(struct ray_target *t, uint64_t p)
{
	uint64_t w[4];

	return ray_target_read(t, p, w, sizeof(w)) == sizeof(w) && w[0] == p && w[GLIBC_SELF / 8] == p &&
	       w[GLIBC_AFTER_SELF / 8] != p;
}

/* A ring of descriptors: the next one's previous is this one. */
static bool is_musl(struct ray_target *t, uint64_t p)
{
	uint64_t w[4], back;

	return ray_target_read(t, p, w, sizeof(w)) == sizeof(w) && w[0] == p && w[MUSL_NEXT / 8] &&
	       read_word(t, w[MUSL_NEXT / 8] + 0x10, &back) && back == p;
}

/* glibc registers each thread's list of robust mutexes, which is a field of its descriptor. */
static uint64_t from_robust_list(struct ray_target *t, int tid)
{
	unsigned char *bytes = NULL;
	uint64_t window[SEARCH_BELOW / 8];
	uint64_t head, start;
	size_t length, i;

	if (syscall(SYS_get_robust_list, tid, &bytes, &length) || !bytes)
		return 0;
	head = (uint64_t)(uintptr_t)bytes;
	if (head % 8 || head < SEARCH_BELOW)
		return 0;
	start = head - SEARCH_BELOW;
	/* The descriptor may be the first thing in its mapping: then less lies below. */
	while (start < head && ray_target_read(t, start, window, head - start) != head - start)
		start = (start | 0xfff) + 1;
	for (i = start < head ? (head - start) / 8 : 0; i-- > 0;)
		if (window[i] == start + i * 8 && is_glibc(t, start + i * 8))
			return start + i * 8;
	return 0;
}

/* Stack pointer of a thread that waits in a system call; 0 of one that runs. */
static uint64_t waiting_sp(struct ray_target *t, int tid)
{
	struct ray_proc_syscall s;

	return ray_proc_syscall(ray_target_pid(t), tid, &s) == RAY_PROC_WAITS ? s.sp & ~7ull : 0;
}

/* The descriptor lies above the stack in one mapping with it, or in one that follows at once. */
static uint64_t above_stack(struct ray_target *t, uint64_t sp)
{
	uint64_t chunk[512], at = sp, i, n;

	while (at - sp < SEARCH_ABOVE) {
		n = ray_target_read(t, at, chunk, sizeof(chunk)) / 8;
		for (i = 0; i < n; i++) {
			if (chunk[i] == at + i * 8 && (is_glibc(t, at + i * 8) || is_musl(t, at + i * 8)))
				return at + i * 8;
		}
		if (n < RAY_COUNT(chunk))
			return 0;
		at += sizeof(chunk);
	}
	return 0;
}

/* A thread's id as its own pid namespace counts, which is what its descriptor holds. */
static int inner_tid(int pid, int tid)
{
	char text[16384], *line, *last;

	ray_proc_read(text, sizeof(text), "/proc/%d/task/%d/status", pid, tid);
	line = strstr(text, "\nNSpid:");
	if (!line)
		return tid;
	line[1 + strcspn(line + 1, "\n")] = '\0';
	last = strrchr(line, '\t');
	return last ? atoi(last + 1) : tid;
}

static void set_by_inner(struct ray_target *t, struct ray_tls_thread *threads, size_t count, uint32_t inner,
			 uint64_t pointer)
{
	for (size_t i = 0; i < count; i++)
		if (!threads[i].pointer && inner_tid(ray_target_pid(t), threads[i].tid) == (int)inner)
			threads[i].pointer = pointer;
}

static void walk_musl_ring(struct ray_target *t, struct ray_tls_thread *threads, size_t count, uint64_t first)
{
	uint64_t at = first;
	uint32_t inner;

	for (size_t i = 0; i < MAX_THREADS; i++) {
		if (!is_musl(t, at) || ray_target_read(t, at + MUSL_TID, &inner, sizeof(inner)) != sizeof(inner))
			return;
		set_by_inner(t, threads, count, inner, at);
		if (!read_word(t, at + MUSL_NEXT, &at) || at == first)
			return;
	}
}

static void search_missing(struct ray_target *t, const struct ray_thread *known, struct ray_tls_thread *threads,
			   size_t count)
{
	uint64_t sp, found;

	for (size_t i = 0; i < count; i++) {
		if (threads[i].pointer || known[i].is_kernel)
			continue;
		sp = waiting_sp(t, threads[i].tid);
		found = sp ? above_stack(t, sp) : 0;
		if (!found)
			continue;
		if (is_glibc(t, found)) {
			threads[i].pointer = found;
			continue;
		}
		walk_musl_ring(t, threads, count, found);
	}
}

struct ray_error *ray_tls_threads(struct ray_target *t, struct ray_tls_thread **ret, size_t *count_ret)
{
	ray_auto_memory struct ray_tls_thread *out = NULL;
	const struct ray_thread *threads;
	size_t count, i, missing = 0;

	threads = ray_target_threads(t, &count);
	out = calloc(count ? count : 1, sizeof(*out));
	if (!out)
		return &ray_enomem;
	for (i = 0; i < count; i++) {
		out[i].tid = threads[i].tid;
		if (threads[i].is_kernel)
			continue;
		if (threads[i].has_registers)
			out[i].pointer = threads[i].registers.fs_base;
		if (!out[i].pointer && ray_target_kind(t) == RAY_TARGET_PROCESS)
			out[i].pointer = from_robust_list(t, threads[i].tid);
		missing += !out[i].pointer;
	}
	if (missing && ray_target_kind(t) == RAY_TARGET_PROCESS)
		search_missing(t, threads, out, count);
	*count_ret = count;
	*ret = ray_take(out);
	return NULL;
}

bool ray_tls_module_address(struct ray_target *t, uint64_t id, uint64_t pointer, uint64_t offset, uint64_t *ret)
{
	uint64_t dtv, block;
	size_t entry = is_glibc(t, pointer) ? 16 : is_musl(t, pointer) ? 8 : 0;

	if (!entry || !id || id > MAX_THREADS || !read_word(t, pointer + DTV, &dtv) ||
	    !read_word(t, dtv + id * entry, &block))
		return false;
	/* glibc: all ones until the thread uses the module's variables for the first time. */
	if (!block || block == UINT64_MAX)
		return false;
	*ret = block + offset;
	return true;
}

/* What the dynamic linker left in the module's GOT names the module's id, or its place below the thread
 * pointer; the relocations say where in the GOT. */
static bool from_relocations(struct ray_target *t, const struct ray_module *m, uint64_t pointer, uint64_t offset,
			     uint64_t *ret)
{
	const Elf64_Rela *rela;
	const Elf64_Sym *symbols;
	const void *bytes, *dynsym;
	size_t size, dynsym_size;
	uint64_t vaddr, slot, value;

	if (!ray_elf_section(m->elf, ".rela.dyn", &bytes, &size, &vaddr) ||
	    !ray_elf_section(m->elf, ".dynsym", &dynsym, &dynsym_size, &vaddr))
		return false;
	rela = bytes;
	symbols = dynsym;
	for (size_t i = 0; i < size / sizeof(*rela); i++) {
		uint64_t type = ELF64_R_TYPE(rela[i].r_info), index = ELF64_R_SYM(rela[i].r_info);
		uint64_t symbol = 0;

		if (type != R_X86_64_DTPMOD64 && type != R_X86_64_TPOFF64)
			continue;
		/* Somebody else's variable, or one that another module may override. */
		if (index && (index >= dynsym_size / sizeof(*symbols) || symbols[index].st_shndx == SHN_UNDEF))
			continue;
		symbol = index ? symbols[index].st_value : 0;
		if (!ray_target_module_address(t, m, rela[i].r_offset, &slot) || !read_word(t, slot, &value) || !value)
			continue;
		if (type == R_X86_64_DTPMOD64)
			return ray_tls_module_address(t, value, pointer, offset, ret);
		*ret = pointer + value - symbol - (uint64_t)rela[i].r_addend + offset;
		return true;
	}
	return false;
}

/* Both names come from the kernel and both end in " (deleted)" when the file is gone. */
static bool is_executable(struct ray_target *t, const struct ray_module *m)
{
	const char *exe = ray_target_exe(t);

	return *exe && !strcmp(exe, m->path);
}

bool ray_tls_address(struct ray_target *t, const struct ray_module *m, uint64_t pointer, uint64_t offset, uint64_t *ret)
{
	uint64_t size = m->elf ? ray_elf_tls_size(m->elf) : 0;

	if (!size || offset >= size)
		return false;
	/* The executable's block ends at the thread pointer, whatever the C library. */
	if (is_executable(t, m)) {
		*ret = pointer - size + offset;
		return true;
	}
	return from_relocations(t, m, pointer, offset, ret);
}

/* glibc: the values of the first 32 keys lie in the descriptor, and right behind them is a table of pointers
 * to blocks of 32, whose first names them. That tells where they are in every release. */
static bool glibc_specific(struct ray_target *t, uint64_t pointer, uint32_t key, uint64_t *ret)
{
	enum { FROM = 0x200, TO = 0x800, BLOCK = FIRST_KEYS * 16 };
	uint64_t w[(TO + BLOCK) / 8], block;
	size_t n = ray_target_read(t, pointer, w, sizeof(w)) / 8, i;

	for (i = FROM / 8; i + BLOCK / 8 < n && i < TO / 8; i++) {
		if (w[i + BLOCK / 8] != pointer + i * 8)
			continue;
		if (!read_word(t, pointer + i * 8 + BLOCK + key / FIRST_KEYS * 8, &block))
			return false;
		*ret = 0;
		return !block || read_word(t, block + key % FIRST_KEYS * 16 + 8, ret);
	}
	/* The table is filled when a thread starts, the main thread's as well: none means another layout. */
	return false;
}

bool ray_tls_specific(struct ray_target *t, uint64_t pointer, uint32_t key, uint64_t *ret)
{
	uint64_t values;

	if (key >= 1024)
		return false;
	if (is_glibc(t, pointer))
		return glibc_specific(t, pointer, key, ret);
	if (key >= 128 || !is_musl(t, pointer) || !read_word(t, pointer + MUSL_SPECIFIC, &values))
		return false;
	*ret = 0;
	return !values || read_word(t, values + key * 8ull, ret);
}
