/* loops.c - see loops.h. SPDX-License-Identifier: MIT */
#include "stack/loops.h"

#include <string.h>

#include "stack/role.h"

static const char *role_of(const struct ray_role_info *info, struct ray_arena *arena)
{
	switch (info->role) {
	case RAY_ROLE_WORKER:
		return info->worker_id >= 0 ? ray_arena_printf(arena, "worker %d", info->worker_id) : NULL;
	case RAY_ROLE_DELAYED:
		return "platform";
	case RAY_ROLE_INSPECTOR:
		return "inspector";
	default:
		return NULL;
	}
}

struct ray_error *ray_loops_name(struct ray_target *t, const struct ray_node *node, struct ray_uv *uv)
{
	ray_auto_memory struct ray_role_info *infos = NULL;
	const struct ray_thread *threads;
	struct ray_error *err;
	const char *role;
	size_t i, k, n;

	threads = ray_target_threads(t, &n);
	infos = calloc(n ? n : 1, sizeof(*infos));
	if (!infos)
		return &ray_enomem;
	err = ray_role_find(t, node, NULL, infos);
	if (err)
		return err;
	for (i = 0; i < uv->n; i++) {
		for (k = 0; k < n; k++) {
			if (threads[k].tid != uv->loops[i].tid || !strcmp(uv->loops[i].role, "main"))
				continue;
			role = role_of(&infos[k], uv->arena);
			if (role)
				uv->loops[i].role = role;
		}
	}
	return NULL;
}
