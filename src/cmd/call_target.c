/* call_target.c - which target a command line means. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "target/node.h"

/* -p wants a process: a number, /proc/NUMBER or PID/TID, not the path of a core. */
static bool is_process(const char *name)
{
	const char *digits = strncmp(name, "/proc/", 6) ? name : name + 6;

	return *digits && digits[strspn(digits, "0123456789/")] == '\0';
}

static struct ray_error *target_name(const struct ray_call *call, char only[16], const char **ret)
{
	const char *operand = ray_call_operand(call, 0), *pid = ray_call_value(call, "pid");
	const char *verb = ray_call_verb(call)->name;
	struct ray_error *err;
	int node;

	if (operand && pid)
		return ray_error_new(RAY_USAGE, "%s: two targets: '-p %s' and '%s'", verb, pid, operand);
	if (pid && !is_process(pid))
		return ray_error_new(RAY_USAGE, "%s: -p needs a process id, not '%s'", verb, pid);
	*ret = operand ? operand : pid;
	if (*ret)
		return NULL;
	err = ray_node_only(&node);
	if (err)
		return err;
	snprintf(only, 16, "%d", node);
	*ret = only;
	return NULL;
}

struct ray_error *ray_call_target(const struct ray_call *call, struct ray_target **ret)
{
	struct ray_target_options options = {
		.exe = ray_call_value(call, "exe"),
		.sysroot = ray_call_value(call, "sysroot"),
		.force = ray_call_has(call, "force"),
	};
	const char *const *warning;
	struct ray_error *err;
	char only[16];

	err = target_name(call, only, &options.name);
	if (err)
		return err;
	err = ray_target_open(&options, ret);
	if (err)
		return err;
	if (ray_target_kind(*ret) == RAY_TARGET_PROCESS && (options.exe || options.sysroot))
		fprintf(stderr,
			"noderay: warning: --exe and --sysroot are for core files: a process is read as it is\n");
	for (warning = ray_target_warnings(*ret); warning && *warning; warning++)
		fprintf(stderr, "noderay: warning: %s\n", *warning);
	return NULL;
}
