/* core.c - `noderay core`: an ELF core of a running process. SPDX-License-Identifier: MIT */
#include "base/interrupt.h"
#include "cmd/cmd.h"
#include "cmd/core_file.h"

static struct ray_error *run(const struct ray_call *call)
{
	ray_auto(ray_target, t) = NULL;
	ray_auto_text path = { 0 };
	struct ray_gcore_report report;
	struct ray_gcore_options options = {
		.force = ray_call_has(call, "force"),
		.full = ray_call_has(call, "full"),
		.zstd = ray_call_has(call, "zstd"),
		.fork = ray_call_has(call, "fork"),
		.progress = true,
	};
	struct ray_error *err;
	long mib;

	err = ray_call_number(call, "max-memory", 0, &mib);
	if (!err && mib < 0)
		err = ray_error_new(RAY_USAGE, "--max-memory: a number of MiB is needed");
	if (!err)
		err = ray_call_target(call, &t);
	if (err)
		return err;
	options.max_memory = (uint64_t)mib << 20;
	ray_core_name(ray_call_value(call, "output"), options.zstd, ray_target_pid(t), &path);
	if (!path.length)
		return ray_error_new(RAY_USAGE, "-o: a file name is needed");
	options.path = path.bytes;
	ray_interrupt_defer();
	err = ray_gcore(t, &options, &report);
	if (err)
		return err;
	ray_core_print(&options, &report, ray_target_pid(t), ray_call_has(call, "json"));
	return NULL;
}

static const struct ray_option options[] = {
	{ 'o', "output", "FILE", "write to FILE, %p stands for the pid (core.%p)" },
	{ 'f', "force", NULL, "replace FILE if it exists" },
	{ 0, "full", NULL, "with the pages of mapped files too" },
	{ 0, "fork", NULL, "fork the target and dump the child: the shortest pause" },
	{ 'z', "zstd", NULL, "compress" },
	{ 0, "max-memory", "MIB", "copy through at most so much memory" },
	{ 'p', "pid", "PID", "dump this process" },
	RAY_OPTION_JSON,
};

static const char *const examples[] = {
	"noderay core 4711",	   "write core.4711",	       "noderay core --zstd -o /var/tmp/%p.zst 4711",
	"compressed, elsewhere",   "noderay core --fork 4711", "for a server that must not wait",
	"noderay stack core.4711", "look at it afterwards",    NULL,
};

const struct ray_verb ray_verb_core = {
	.name = "core",
	.alias = "gcore",
	.summary = "write a core file of a running process, which goes on",
	.operands = "[PID]",
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = 1,
	.run = run,
};
