/* follow.c - see follow.h. SPDX-License-Identifier: MIT */
#include "probe/follow.h"

#include <stdlib.h>

#include "base/auto.h"
#include "elf/unwind.h"

enum { MAX_CODE = 64 << 10 };

bool ray_follow_begins(struct ray_elf *e, uint64_t vaddr, uint64_t *size_ret)
{
	uint64_t start, end;

	if (!vaddr || !ray_unwind_function(e, vaddr, &start, &end) || start != vaddr || end <= start)
		return false;
	if (size_ret)
		*size_ret = end - start;
	return true;
}

uint64_t ray_follow_exported(struct ray_elf *e, const char *name)
{
	struct ray_symbol s;

	return ray_elf_find_dynamic(e, name, &s) && ray_follow_begins(e, s.value, NULL) ? s.value : 0;
}

bool ray_follow_walk_from(struct ray_elf *e, uint64_t vaddr, ray_follow_fn *each, void *arg)
{
	ray_auto_memory uint8_t *code = NULL;
	uint64_t start, end, size;

	if (!vaddr || !ray_unwind_function(e, vaddr, &start, &end) || end <= vaddr || end - vaddr > MAX_CODE)
		return false;
	size = end - vaddr;
	code = malloc(size);
	return code && ray_elf_read(e, vaddr, code, size) == size && ray_flow_walk(code, size, vaddr, each, arg);
}

bool ray_follow_walk(struct ray_elf *e, uint64_t vaddr, ray_follow_fn *each, void *arg)
{
	return ray_follow_begins(e, vaddr, NULL) && ray_follow_walk_from(e, vaddr, each, arg);
}

static void add_callee(struct ray_follow_content *c, uint64_t vaddr)
{
	for (size_t i = 0; i < c->callee_count; i++)
		if (c->callees[i] == vaddr)
			return;
	if (c->callee_count < RAY_FOLLOW_CALLEES && ray_follow_begins(c->elf, vaddr, NULL))
		c->callees[c->callee_count++] = vaddr;
}

static bool add_content(const struct ray_flow_step *step, void *arg)
{
	struct ray_follow_content *c = arg;

	switch (step->kind) {
	case RAY_FLOW_TOUCH:
		c->is_touched |= step->displacement == c->displacement;
		return true;
	case RAY_FLOW_INDIRECT:
		c->has_indirect = true;
		c->is_touched |= step->has_displacement && step->displacement == c->displacement;
		return true;
	case RAY_FLOW_CALL:
	case RAY_FLOW_LEAVE:
		add_callee(c, step->target);
		return true;
	default:
		return true;
	}
}

bool ray_follow_content(struct ray_elf *e, uint64_t vaddr, int64_t displacement, struct ray_follow_content *ret)
{
	*ret = (struct ray_follow_content){ .elf = e, .displacement = displacement };
	if (ray_follow_walk(e, vaddr, add_content, ret))
		return true;
	*ret = (struct ray_follow_content){ .elf = e };
	return false;
}

bool ray_follow_touches(struct ray_elf *e, uint64_t vaddr, int64_t displacement)
{
	struct ray_follow_content c;

	return ray_follow_content(e, vaddr, displacement, &c) && c.is_touched;
}

bool ray_follow_leads_to(struct ray_elf *e, uint64_t vaddr, int64_t displacement)
{
	struct ray_follow_content c;
	bool is_touched;

	if (!ray_follow_content(e, vaddr, displacement, &c))
		return false;
	is_touched = c.is_touched;
	for (size_t i = 0; i < c.callee_count; i++)
		is_touched |= ray_follow_touches(e, c.callees[i], displacement);
	return is_touched;
}

bool ray_follow_has_indirect(struct ray_elf *e, uint64_t vaddr)
{
	struct ray_follow_content c;

	return ray_follow_content(e, vaddr, 0, &c) && c.has_indirect;
}

void ray_vote_cast(struct ray_vote *v, uint64_t value)
{
	v->is_split |= v->count && v->value != value;
	v->value = value;
	v->count++;
}

bool ray_vote_is_won(const struct ray_vote *v, size_t witnesses)
{
	return !v->is_split && v->count >= witnesses;
}
