/* calls.c - see calls.h. SPDX-License-Identifier: MIT */
#include "stack/calls.h"

#include <string.h>

enum { CODE = 512, STUB = 16, CALL = 0xe8, CALL_SIZE = 5 };

static int32_t read_i32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static const char *exact_symbol(struct ray_elf *e, uint64_t vaddr)
{
	struct ray_symbol s;

	return e && ray_elf_symbol_at(e, vaddr, &s) && s.value == vaddr ? s.name : NULL;
}

/* A stub of the linkage table: jmp *SLOT(%rip), behind an endbr64 or a bnd prefix or neither. */
static const char *behind_stub(struct ray_target *t, const struct ray_module *m, uint64_t vaddr)
{
	const struct ray_module *callee;
	uint8_t code[STUB];
	uint64_t slot, target, callee_vaddr;
	size_t n = ray_elf_read(m->elf, vaddr, code, sizeof(code));

	for (size_t i = 0; i + 6 <= n && i <= 5; i++) {
		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		if (!ray_target_module_address(t, m, vaddr + i + 6 + (uint64_t)(int64_t)read_i32(code + i + 2),
					       &slot) ||
		    ray_target_read(t, slot, &target, sizeof(target)) != sizeof(target))
			return NULL;
		callee = ray_target_module_at(t, target, &callee_vaddr);
		return callee ? exact_symbol(callee->elf, callee_vaddr) : NULL;
	}
	return NULL;
}

size_t ray_calls_first(struct ray_target *t, const struct ray_module *m, uint64_t vaddr, const char *const *names,
		       size_t count)
{
	uint8_t code[CODE];
	size_t n = m->elf ? ray_elf_read(m->elf, vaddr, code, sizeof(code)) : 0;

	for (size_t i = 0; i + CALL_SIZE <= n; i++) {
		const char *name;
		uint64_t callee;

		if (code[i] != CALL)
			continue;
		callee = vaddr + i + CALL_SIZE + (uint64_t)(int64_t)read_i32(code + i + 1);
		name = exact_symbol(m->elf, callee);
		if (!name)
			name = behind_stub(t, m, callee);
		for (size_t k = 0; name && k < count; k++)
			if (!strcmp(name, names[k]))
				return k;
	}
	return count;
}
