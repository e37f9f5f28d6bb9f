/* isolate.c - see isolate.h. SPDX-License-Identifier: MIT */
#include "stack/isolate.h"

#include <string.h>

#include "target/tls.h"

static const char *const getters[] = { "_ZN2v87Isolate13TryGetCurrentEv", "_ZN2v87Isolate10GetCurrentEv" };
static const char variable_symbol[] = "_ZN2v88internal18g_current_isolate_E"; /* V8 11 and later */
static const char key_symbol[] = "_ZN2v88internal7Isolate12isolate_key_E";    /* before */

enum { CODE_SIZE = 64, MAX_JUMPS = 3 };

/* Instructions that name a place, by their opcode bytes; a 32-bit displacement follows. */
struct pattern {
	uint8_t bytes[5];
	uint8_t size;
	enum ray_isolate_access access;
	bool relative;	 /* to the next instruction */
	uint8_t then[4]; /* must come later, anywhere: tells what is done with it */
	uint8_t then_size;
};

static const struct pattern patterns[] = {
	/* mov %fs:VALUE,%rax */
	{ { 0x64, 0x48, 0x8b, 0x04, 0x25 }, 5, RAY_ACCESS_FIXED, false, { 0 }, 0 },
	/* lea VALUE(%rip),%rdi; call __tls_get_addr; mov (%rax),%rax */
	{ { 0x66, 0x48, 0x8d, 0x3d }, 4, RAY_ACCESS_MODULE_GOT, true, { 0x48, 0x8b, 0x00 }, 3 },
	/* lea VALUE(%rip),%rdi; call __tls_get_addr; mov EXTRA(%rax),%rax */
	{ { 0x48, 0x8d, 0x3d }, 3, RAY_ACCESS_LOCAL_GOT, true, { 0x48, 0x8b, 0x80 }, 3 },
	/* mov VALUE(%rip),%rax; mov %fs:(%rax),%rax */
	{ { 0x48, 0x8b, 0x05 }, 3, RAY_ACCESS_FIXED_GOT, true, { 0x64, 0x48, 0x8b, 0x00 }, 4 },
	/* mov VALUE(%rip),%rax; mov (%rax),%edi; jmp GetThreadLocal */
	{ { 0x48, 0x8b, 0x05 }, 3, RAY_ACCESS_KEY_GOT, true, { 0x8b, 0x38 }, 2 },
	/* mov VALUE(%rip),%edi; jmp or call GetThreadLocal */
	{ { 0x8b, 0x3d }, 2, RAY_ACCESS_KEY, true, { 0xe9 }, 1 },
	{ { 0x8b, 0x3d }, 2, RAY_ACCESS_KEY, true, { 0xe8 }, 1 },
};

static int32_t read_i32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static bool matches(const struct pattern *p, const uint8_t *code, size_t size, size_t at, int64_t *extra_ret)
{
	const uint8_t *then;
	size_t next = at + p->size + 4;

	if (next > size || memcmp(code + at, p->bytes, p->size))
		return false;
	if (!p->then_size)
		return true;
	then = memmem(code + next, size - next, p->then, p->then_size);
	if (!then)
		return false;
	if (p->access == RAY_ACCESS_LOCAL_GOT) {
		if ((size_t)(then - code) + p->then_size + 4 > size)
			return false;
		*extra_ret = read_i32(then + p->then_size);
	}
	return true;
}

enum ray_isolate_access ray_isolate_decode(const uint8_t *code, size_t size, uint64_t vaddr, int64_t *value_ret,
					   int64_t *extra_ret)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t skip = size >= 4 && !memcmp(code, endbr, 4) ? 4 : 0;

	*extra_ret = 0;
	if (skip + 5 <= size && code[skip] == 0xe9) {
		*value_ret = (int64_t)vaddr + (int64_t)skip + 5 + read_i32(code + skip + 1);
		return RAY_ACCESS_ELSEWHERE;
	}
	for (size_t at = 0; at < size; at++) {
		for (size_t i = 0; i < RAY_COUNT(patterns); i++) {
			const struct pattern *p = &patterns[i];

			if (!matches(p, code, size, at, extra_ret))
				continue;
			*value_ret = read_i32(code + at + p->size);
			if (p->relative)
				*value_ret += (int64_t)(vaddr + at + p->size + 4);
			return p->access;
		}
	}
	return RAY_ACCESS_UNKNOWN;
}

static bool read_word(struct ray_target *t, const struct ray_module *m, int64_t vaddr, void *ret, size_t size)
{
	uint64_t address;

	return ray_target_module_address(t, m, (uint64_t)vaddr, &address) &&
	       ray_target_read(t, address, ret, size) == size;
}

static bool read_key(struct ray_target *t, uint64_t address, struct ray_isolate_slot *ret)
{
	int32_t key;

	/* 0 is a key too, and V8's own in node 16.0 and 17 when nobody asked before it. It is also what is there
	 * before V8 has made its key: then nobody has an isolate, and whoever uses what is found checks it. */
	if (ray_target_read(t, address, &key, sizeof(key)) != sizeof(key) || key < 0)
		return false;
	*ret = (struct ray_isolate_slot){ .kind = RAY_ISOLATE_KEY, .value = key };
	return true;
}

static bool slot_from_access(struct ray_target *t, const struct ray_module *m, enum ray_isolate_access access,
			     int64_t value, int64_t extra, struct ray_isolate_slot *ret)
{
	uint64_t words[2] = { 0 }, address;

	switch (access) {
	case RAY_ACCESS_FIXED:
		*ret = (struct ray_isolate_slot){ .kind = RAY_ISOLATE_FIXED, .value = value };
		return true;
	case RAY_ACCESS_FIXED_GOT:
		if (!read_word(t, m, value, words, 8) || !words[0])
			return false;
		*ret = (struct ray_isolate_slot){ .kind = RAY_ISOLATE_FIXED, .value = (int64_t)words[0] };
		return true;
	case RAY_ACCESS_KEY:
		return ray_target_module_address(t, m, (uint64_t)value, &address) && read_key(t, address, ret);
	case RAY_ACCESS_KEY_GOT:
		return read_word(t, m, value, words, 8) && read_key(t, words[0], ret);
	case RAY_ACCESS_MODULE_GOT:
		if (!read_word(t, m, value, words, 16) || !words[0])
			return false;
		*ret = (struct ray_isolate_slot){ RAY_ISOLATE_MODULE, (int64_t)words[1], words[0] };
		return true;
	case RAY_ACCESS_LOCAL_GOT:
		if (!read_word(t, m, value, words, 8) || !words[0])
			return false;
		*ret = (struct ray_isolate_slot){ RAY_ISOLATE_MODULE, extra, words[0] };
		return true;
	default:
		return false;
	}
}

static bool slot_from_code(struct ray_target *t, const struct ray_module *m, uint64_t vaddr, size_t size,
			   struct ray_isolate_slot *ret)
{
	enum ray_isolate_access access;
	int64_t value = (int64_t)vaddr, extra;
	uint8_t code[CODE_SIZE];

	if (!size || size > sizeof(code))
		size = sizeof(code);
	for (int jump = 0; jump < MAX_JUMPS; jump++) {
		vaddr = (uint64_t)value;
		access = ray_isolate_decode(code, ray_elf_read(m->elf, vaddr, code, size), vaddr, &value, &extra);
		if (access != RAY_ACCESS_ELSEWHERE)
			return slot_from_access(t, m, access, value, extra, ret);
		size = sizeof(code);
	}
	return false;
}

static bool slot_from_symbols(struct ray_target *t, const struct ray_module *m, struct ray_isolate_slot *ret)
{
	uint64_t address, size = ray_elf_tls_size(m->elf);
	struct ray_symbol s;

	if (ray_elf_find_symbol(m->elf, variable_symbol, &s) && s.value < size && !strcmp(ray_target_exe(t), m->path)) {
		*ret = (struct ray_isolate_slot){ .kind = RAY_ISOLATE_FIXED, .value = (int64_t)(s.value - size) };
		return true;
	}
	return ray_elf_find_symbol(m->elf, key_symbol, &s) && ray_target_module_address(t, m, s.value, &address) &&
	       read_key(t, address, ret);
}

bool ray_isolate_find_slot(struct ray_target *t, const struct ray_node *node, struct ray_isolate_slot *ret)
{
	const struct ray_module *m = node->module;
	struct ray_symbol s;

	if (!m || !m->elf)
		return false;
	for (size_t i = 0; i < RAY_COUNT(getters); i++)
		if (ray_elf_find_dynamic(m->elf, getters[i], &s) && slot_from_code(t, m, s.value, s.size, ret))
			return true;
	return slot_from_symbols(t, m, ret);
}

bool ray_isolate_read(struct ray_target *t, const struct ray_isolate_slot *slot, uint64_t pointer, uint64_t *ret)
{
	uint64_t address;

	if (!pointer)
		return false;
	switch (slot->kind) {
	case RAY_ISOLATE_KEY:
		return ray_tls_specific(t, pointer, (uint32_t)slot->value, ret);
	case RAY_ISOLATE_FIXED:
		address = pointer + (uint64_t)slot->value;
		break;
	default:
		if (!ray_tls_module_address(t, slot->module_id, pointer, (uint64_t)slot->value, &address)) {
			*ret = 0; /* a thread that never used V8 has no block of its own */
			return true;
		}
	}
	return ray_target_read(t, address, ret, sizeof(*ret)) == sizeof(*ret);
}

/* One look: threads may come and go meanwhile, which makes it fail. */
static bool count_once(struct ray_target *t, const struct ray_isolate_slot *slot, size_t *ret)
{
	ray_auto_memory struct ray_tls_thread *threads = NULL;
	const struct ray_thread *known;
	struct ray_error *err;
	uint64_t isolate, first;
	size_t count, workers = 0;

	known = ray_target_threads(t, &count);
	err = ray_tls_threads(t, &threads, &count);
	if (err) {
		ray_error_free(err);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		if (known[i].is_kernel)
			continue;
		if (!ray_isolate_read(t, slot, threads[i].pointer, &isolate))
			return false;
		if (!isolate)
			continue;
		/* An isolate is an object: what is no address of one means that the slot is wrong. */
		if (isolate % 8 || ray_target_read(t, isolate, &first, sizeof(first)) != sizeof(first))
			return false;
		workers += threads[i].tid != ray_target_pid(t);
	}
	*ret = workers;
	return true;
}

bool ray_isolate_count_workers(struct ray_target *t, const struct ray_node *node, size_t *ret)
{
	enum { TRIES = 3 };
	struct ray_isolate_slot slot;
	struct ray_error *err;

	if (!ray_isolate_find_slot(t, node, &slot))
		return false;
	for (int i = 0; i < TRIES; i++) {
		if (count_once(t, &slot, ret))
			return true;
		err = ray_target_refresh(t);
		if (err) {
			ray_error_free(err);
			return false;
		}
	}
	return false;
}
