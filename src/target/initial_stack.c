/* initial_stack.c - see initial_stack.h. SPDX-License-Identifier: MIT */
#include "target/initial_stack.h"

#include <string.h>

enum {
	CHUNK = 16384,
	MAX_SEARCH = 16 << 20, /* bytes of stack; the kernel allows 6 MiB of strings */
	MAX_WORDS = 1 << 21,   /* of argv and envp */
	MAX_STRINGS = 16 << 20,
};

static uint64_t find_auxv_value(const Elf64_auxv_t *auxv, size_t count, uint64_t type)
{
	for (size_t i = 0; i < count; i++) {
		if (auxv[i].a_type == type)
			return auxv[i].a_un.a_val;
	}
	return 0;
}

/* The vector as a whole, word by word, from high down. */
static bool find_auxv(const struct ray_reader *r, uint64_t low, uint64_t high, const Elf64_auxv_t *auxv, size_t count,
		      uint64_t *ret)
{
	size_t size = count * sizeof(*auxv), n;
	unsigned char chunk[CHUNK];
	uint64_t end = high & ~7ull, start;

	if (count < 2 || size > CHUNK / 2)
		return false;
	low = high - low > MAX_SEARCH ? high - MAX_SEARCH : low;
	for (; end > low && end - low >= size; end = start + size - 8) {
		start = end - low > CHUNK ? end - CHUNK : (low + 7) & ~7ull;
		n = (size_t)(end - start);
		if (n < size)
			return false;
		if (ray_read(r, start, chunk, n)) {
			for (size_t at = (n - size) & ~(size_t)7;; at -= 8) {
				if (!memcmp(chunk + at, auxv, size)) {
					*ret = start + at;
					return true;
				}
				if (!at)
					break;
			}
		}
		if (start <= low + 7)
			return false;
	}
	return false;
}

/* argc is the word whose value says how far the NULL after argv is. Pointers are too large to be it,
 * so the walk down from the auxiliary vector meets it first. */
static bool find_argc(const struct ray_reader *r, uint64_t low, struct ray_initial_stack *s)
{
	uint64_t at = s->auxv, word, end;

	for (unsigned i = 0; i < MAX_WORDS && at >= low + 8; i++) {
		at -= 8;
		if (!ray_read_u64(r, at, &word))
			return false;
		if (!word || word > (s->auxv - at) / 8)
			continue;
		if (!ray_read_u64(r, at + 8 + word * 8, &end) || end)
			return false;
		s->argc = word;
		s->argv = at + 8;
		s->envp = at + 16 + word * 8;
		return s->envp < s->auxv;
	}
	return false;
}

/* Length of the string at address, with its NUL; 0 when it does not end before end. */
static uint64_t string_size(const struct ray_reader *r, uint64_t address, uint64_t end)
{
	char chunk[256], *nul;
	uint64_t done = 0;
	size_t n;

	while (address + done < end && done < MAX_STRINGS) {
		n = end - address - done < sizeof(chunk) ? (size_t)(end - address - done) : sizeof(chunk);
		n = r->read(r->arg, address + done, chunk, n);
		nul = memchr(chunk, 0, n);
		if (nul)
			return done + (uint64_t)(nul - chunk) + 1;
		if (!n)
			return 0;
		done += n;
	}
	return 0;
}

/* Where the arguments end, if each begins where the one before it ends: then nobody wrote to them. */
static bool walk_arguments(const struct ray_reader *r, const struct ray_initial_stack *s, uint64_t high, uint64_t *ret)
{
	uint64_t at = s->args, pointer, size;

	for (uint64_t i = 0; i < s->argc; i++) {
		if (!ray_read_u64(r, s->argv + 8 * i, &pointer) || pointer != at)
			return false;
		size = string_size(r, at, high);
		if (!size)
			return false;
		at += size;
	}
	*ret = at;
	return true;
}

/* Lowest and highest string that envp points to inside the stack's strings; entries that setenv
 * replaced point to the heap. */
static void survey_env(const struct ray_reader *r, const struct ray_initial_stack *s, uint64_t high, uint64_t *lowest,
		       uint64_t *highest)
{
	uint64_t at, pointer;

	*lowest = high;
	*highest = 0;
	for (at = s->envp; at < s->auxv && ray_read_u64(r, at, &pointer); at += 8) {
		if (pointer <= s->args || pointer >= high)
			continue;
		if (pointer < *lowest)
			*lowest = pointer;
		if (pointer > *highest)
			*highest = pointer;
	}
}

bool ray_initial_stack_find(const struct ray_reader *r, uint64_t low, uint64_t high, const Elf64_auxv_t *auxv,
			    size_t auxv_count, struct ray_initial_stack *ret)
{
	uint64_t path = find_auxv_value(auxv, auxv_count, AT_EXECFN), lowest, highest;
	struct ray_initial_stack s = { 0 };

	if (high <= low || !find_auxv(r, low, high, auxv, auxv_count, &s.auxv) || !find_argc(r, low, &s) ||
	    !ray_read_u64(r, s.argv, &s.args))
		return false;
	if (s.args <= s.auxv || s.args >= high)
		return false;
	if (path <= s.args || path >= high)
		path = 0;
	survey_env(r, &s, path ? path : high, &lowest, &highest);
	s.is_overwritten = !walk_arguments(r, &s, path ? path : high, &s.args_end);
	if (s.is_overwritten)
		s.args_end = highest ? lowest : path ? path : high;
	s.env = s.args_end;
	s.env_end = path ? path : highest ? highest + string_size(r, highest, high) : s.env;
	if (s.env_end < s.env || s.env_end - s.args > MAX_STRINGS)
		return false;
	*ret = s;
	return true;
}
