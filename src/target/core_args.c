/* core_args.c - arguments and environment of a core, from the initial stack.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "target/core.h"

static struct ray_error *copy_area(struct ray_target *t, uint64_t start, uint64_t end, char **ret, size_t *size_ret)
{
	size_t size = (size_t)(end - start), n;
	char *bytes = malloc(size + 1);

	if (!bytes)
		return &ray_enomem;
	n = core_read(t, start, bytes, size);
	bytes[n] = '\0';
	if (size && !n) {
		free(bytes);
		return ray_error_new(RAY_UNREADABLE, "the core does not hold them");
	}
	*ret = bytes;
	*size_ret = n;
	return NULL;
}

static struct ray_error *no_stack(void)
{
	return ray_error_remedy(
		ray_error_new(RAY_UNREADABLE, "the core does not hold the initial stack"),
		"cores keep it unless they are cut or /proc/PID/coredump_filter leaves private memory out");
}

/* Without the stack, the kernel's note still has the start of the command line. */
struct ray_error *core_args(struct ray_target *t, char **ret, size_t *size_ret)
{
	const struct core *c = core_of(t);
	struct ray_initial_stack s;

	if (ray_target_initial_stack(t, &s))
		return copy_area(t, s.args, s.args_end, ret, size_ret);
	if (!c->arguments[0])
		return no_stack();
	*ret = strdup(c->arguments);
	if (!*ret)
		return &ray_enomem;
	*size_ret = strlen(*ret) + 1;
	return NULL;
}

struct ray_error *core_env(struct ray_target *t, char **ret, size_t *size_ret)
{
	struct ray_initial_stack s;

	return ray_target_initial_stack(t, &s) ? copy_area(t, s.env, s.env_end, ret, size_ret) : no_stack();
}

struct ray_error *core_load_auxv(struct ray_target *t, Elf64_auxv_t **ret, size_t *count_ret)
{
	const struct core *c = core_of(t);

	*ret = calloc(c->auxv_count + 1, sizeof(**ret));
	if (!*ret)
		return &ray_enomem;
	if (c->auxv_count)
		memcpy(*ret, c->auxv, c->auxv_count * sizeof(**ret));
	*count_ret = c->auxv_count;
	return NULL;
}
