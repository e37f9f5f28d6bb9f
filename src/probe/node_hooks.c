/* node_hooks.c - the table of hooks: which handler hangs where, for which events. See watch.h. SPDX-License-Identifier: MIT
 *
 * All knowledge of which function carries what in which node is here. Names are as mangled; * stands for the rest of one. */
#include "probe/watch.h"

#include <sys/syscall.h>

#include "base/error.h"

#define BIT(name) RAY_EVENT_BIT(name)

/* clang-format off */
const struct ray_hook ray_hooks[] = {
	{ .handler = "ray_on_exit", .kind = RAY_SITE_SYSCALL_ENTER, .number = SYS_exit_group, .needed_by = BIT(PROCESS_EXIT) },
};
/* clang-format on */

const size_t ray_hook_count = RAY_COUNT(ray_hooks);
