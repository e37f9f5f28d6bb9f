/* args.c - are the arguments still what the program was started with?
 * SPDX-License-Identifier: MIT
 *
 * The same for a process and for a core: both have an auxiliary vector and a stack. */
#include <string.h>

#include "target/internal.h"

static const struct ray_map *find_stack(struct ray_target *t, const Elf64_auxv_t *auxv, size_t count)
{
	for (size_t i = 0; i < t->maps.n; i++) {
		if (!strcmp(t->maps.at[i].path, "[stack]"))
			return &t->maps.at[i];
	}
	/* Where setuid bits and such hide the name, this pointer still leads there. */
	for (size_t i = 0; i < count; i++) {
		if (auxv[i].a_type == AT_RANDOM)
			return ray_target_find_map(t, auxv[i].a_un.a_val);
	}
	return NULL;
}

bool ray_target_initial_stack(struct ray_target *t, struct ray_initial_stack *ret)
{
	ray_auto_memory Elf64_auxv_t *auxv = NULL;
	struct ray_reader r = ray_target_reader(t);
	struct ray_error *err;
	const struct ray_map *stack;
	size_t count = 0;

	err = t->ops->auxv(t, &auxv, &count);
	if (err) {
		ray_error_free(err);
		return false;
	}
	stack = find_stack(t, auxv, count);
	return stack && ray_initial_stack_find(&r, stack->start, stack->end, auxv, count, ret);
}

const char *ray_target_args_note(struct ray_target *t)
{
	struct ray_initial_stack s;

	if (!ray_target_initial_stack(t, &s))
		return t->kind == RAY_TARGET_CORE ?
			       "the core does not hold the initial stack: this is the kernel's note, the first 79 bytes "
			       "with blanks between the arguments" :
			       NULL;
	return s.is_overwritten ?
		       "the process has written over its arguments (process.title does): this is what is there now" :
		       NULL;
}
