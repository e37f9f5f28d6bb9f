/* gadgets.c - finds instructions that can be borrowed; see inject.h. SPDX-License-Identifier: MIT
 *
 * Only in executable files, never in what a JIT made: that may be gone a moment later. */
#include <string.h>
#include <sys/mman.h>

#include "target/inject.h"

enum { CHUNK = 1 << 20, OVERLAP = 16 };

/* syscall; cmp rax, -4095; jae; ret: the end of syscall(2) in glibc. ?? is the distance of the jump. */
static const unsigned char glibc_call[] = { 0x0f, 0x05, 0x48, 0x3d, 0x01, 0xf0, 0xff, 0xff, 0x73 };
/* syscall; ret */
static const unsigned char plain_call[] = { 0x0f, 0x05, 0xc3 };
/* mov rax, 15; syscall and mov eax, 15; syscall */
static const unsigned char long_sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };
static const unsigned char short_sigreturn[] = { 0xb8, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };

static uint64_t find(const unsigned char *bytes, size_t size, uint64_t address, const unsigned char *what,
		     size_t length)
{
	const unsigned char *p = memmem(bytes, size, what, length);

	return p ? address + (uint64_t)(p - bytes) : 0;
}

static uint64_t find_glibc_call(const unsigned char *bytes, size_t size, uint64_t address)
{
	const unsigned char *p = bytes;

	while ((p = memmem(p, size - (size_t)(p - bytes), glibc_call, sizeof(glibc_call)))) {
		if ((size_t)(p - bytes) + sizeof(glibc_call) + 2 <= size && p[sizeof(glibc_call) + 1] == 0xc3)
			return address + (uint64_t)(p - bytes);
		p++;
	}
	return 0;
}

static void look(const unsigned char *bytes, size_t size, uint64_t address, struct ray_gadgets *ret)
{
	if (!ret->call)
		ret->call = find(bytes, size, address, plain_call, sizeof(plain_call));
	if (!ret->call)
		ret->call = find_glibc_call(bytes, size, address);
	if (!ret->sigreturn)
		ret->sigreturn = find(bytes, size, address, long_sigreturn, sizeof(long_sigreturn));
	if (!ret->sigreturn)
		ret->sigreturn = find(bytes, size, address, short_sigreturn, sizeof(short_sigreturn));
}

static bool search_map(struct ray_target *t, const struct ray_map *m, unsigned char *bytes, struct ray_gadgets *ret)
{
	for (uint64_t at = m->start; at < m->end; at += CHUNK - OVERLAP) {
		size_t want = m->end - at < CHUNK ? (size_t)(m->end - at) : CHUNK;

		look(bytes, ray_target_read(t, at, bytes, want), at, ret);
		if (ret->call && ret->sigreturn)
			return true;
	}
	return false;
}

static bool is_library(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && (!strncmp(name, "/libc.", 6) || !strncmp(name, "/libc-", 6) || !strncmp(name, "/ld-musl", 8));
}

struct ray_error *ray_gadgets_find(struct ray_target *t, struct ray_gadgets *ret)
{
	ray_auto_memory unsigned char *bytes = malloc(CHUNK);
	const struct ray_map *maps;
	size_t count;

	if (!bytes)
		return &ray_enomem;
	maps = ray_target_maps(t, &count);
	*ret = (struct ray_gadgets){ 0 };
	/* The C library is small and has both; other files are searched only when there is none. */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < count; i++) {
			const struct ray_map *m = &maps[i];

			if (m->path[0] != '/' || (m->prot & (PROT_EXEC | PROT_WRITE)) != PROT_EXEC ||
			    is_library(m->path) != (pass == 0))
				continue;
			if (search_map(t, m, bytes, ret))
				return NULL;
		}
	}
	return ray_error_remedy(
		ray_error_new(RAY_UNREADABLE, "found no system call to borrow in process %d", ray_target_pid(t)),
		"leave --fork out");
}
