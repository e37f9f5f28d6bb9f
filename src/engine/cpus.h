/* cpus.h - the CPUs that run. SPDX-License-Identifier: MIT */
#ifndef RAY_ENGINE_CPUS_H
#define RAY_ENGINE_CPUS_H

#include "base/error.h"
#include "base/vec.h"

struct ray_cpus {
	int *at;
	size_t n, cap;
};

RAY_MUST_USE struct ray_error *ray_cpus_online(struct ray_cpus *cpus); /* at least one */
/* "0-3,7" */
RAY_MUST_USE struct ray_error *ray_cpus_parse(const char *text, struct ray_cpus *cpus);
void ray_cpus_deinit(struct ray_cpus *cpus);
#define ray_auto_cpus __attribute__((cleanup(ray_cpus_deinit))) struct ray_cpus

#endif
