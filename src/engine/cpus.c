/* cpus.c - which CPUs run, from sysfs. SPDX-License-Identifier: MIT */
#include "engine/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_CPUS = 65536 }; /* more than any kernel is built for */

void ray_cpus_deinit(struct ray_cpus *cpus)
{
	ray_vec_free(cpus);
}

struct ray_error *ray_cpus_parse(const char *text, struct ray_cpus *cpus)
{
	const char *p = text;
	char *end;

	while (*p && *p != '\n') {
		unsigned long first = strtoul(p, &end, 10);
		unsigned long last = first;

		if (end != p && *end == '-') {
			p = end + 1;
			last = strtoul(p, &end, 10);
		}
		if (end == p || last < first || last >= MOST_CPUS || (*end && *end != ',' && *end != '\n'))
			return ray_error_new(RAY_FAILED, "cannot understand the list of CPUs: %s", text);
		for (unsigned long i = first; i <= last; i++)
			if (!ray_vec_push(cpus, (int)i))
				return &ray_enomem;
		p = *end == ',' ? end + 1 : end;
	}
	return cpus->n ? NULL : ray_error_new(RAY_FAILED, "the list of CPUs is empty");
}

struct ray_error *ray_cpus_online(struct ray_cpus *cpus)
{
	static const char path[] = "/sys/devices/system/cpu/online";
	ray_auto_file FILE *f = fopen(path, "re");
	char text[4096];

	if (!f || !fgets(text, sizeof(text), f))
		return ray_error_errno(RAY_FAILED, errno, "cannot read %s", path);
	return ray_cpus_parse(text, cpus);
}
