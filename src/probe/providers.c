/* providers.c - the table of providers: one line each, in the order of -l. SPDX-License-Identifier: MIT */
#include "probe/provider.h"

/* clang-format off */
const struct ray_provider *const ray_providers[] = {
	&ray_provider_dtrace,
	&ray_provider_profile,
	&ray_provider_syscall,
	&ray_provider_proc,
	&ray_provider_sched,
	&ray_provider_tracepoint,
	&ray_provider_pid,
	&ray_provider_uv,
	&ray_provider_node,
	&ray_provider_usdt,
	NULL,
};
/* clang-format on */
