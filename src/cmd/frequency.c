/* frequency.c - how often `record` and `top` look at what runs. See script.h. SPDX-License-Identifier: MIT
 *
 * The kernel leaves out what comes more often than kernel.perf_event_max_sample_rate allows, without a word: such a rate is refused instead. */
#include <stdio.h>

#include "cmd/script.h"

enum { FREQUENCY = 99, MAX_FREQUENCY = RAY_SCRIPT_MAX_FREQUENCY };

/* Samples a second of one event; 0: not known. */
static long allowed(void)
{
	ray_auto_file FILE *f = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	long hz;

	return f && fscanf(f, "%ld", &hz) == 1 && hz > 0 ? hz : 0;
}

struct ray_error *ray_script_set_frequency(struct ray_script *s, const struct ray_call *call, const char *verb,
					   long *ret)
{
	struct ray_error *err = ray_call_number(call, "frequency", FREQUENCY, ret);
	long most = allowed();
	char probe[32];

	if (err)
		return err;
	if (*ret < 1 || *ret > MAX_FREQUENCY)
		return ray_error_new(RAY_USAGE, "%s: --frequency can be 1 to %d, not %ld", verb, MAX_FREQUENCY, *ret);
	if (most && *ret > most)
		return ray_error_remedy(ray_error_new(RAY_USAGE,
						      "%s: the kernel takes at most %ld samples a second here, not %ld",
						      verb, most, *ret),
					"sudo sysctl kernel.perf_event_max_sample_rate=%ld, or -F %ld", *ret, most);
	snprintf(probe, sizeof(probe), "profile-%ld", *ret);
	return ray_script_set_probe(s, "profile-99", probe);
}
