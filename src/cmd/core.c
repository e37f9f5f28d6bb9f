/* core.c - `noderay core`: an ELF core of a running process. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "target/gcore.h"

/* core.PID, or what -o says with %p replaced; .zst is added by --zstd to the default only. */
static void file_name(const struct ray_call *call, int pid, struct ray_text *ret)
{
	const char *pattern = ray_call_value(call, "output");

	if (!pattern)
		pattern = ray_call_has(call, "zstd") ? "core.%p.zst" : "core.%p";
	for (; *pattern; pattern++) {
		if (pattern[0] == '%' && pattern[1] == 'p') {
			ray_text_printf(ret, "%d", pid);
			pattern++;
		} else if (pattern[0] == '%' && pattern[1] == '%') {
			ray_text_add(ret, "%");
			pattern++;
		} else {
			ray_text_add_bytes(ret, pattern, 1);
		}
	}
}

static void print_json(const char *path, int pid, const struct ray_gcore_options *o, const struct ray_gcore_report *r)
{
	json_t *j = json_object();

	json_object_set_new(j, "file", ray_json_text(path));
	json_object_set_new(j, "pid", json_integer(pid));
	json_object_set_new(j, "mode", json_string(o->fork ? "fork" : "stop"));
	json_object_set_new(j, "pause_ms", json_real((double)r->pause_ns / 1e6));
	if (o->fork)
		json_object_set_new(j, "borrowed_ms", json_real((double)r->borrowed_ns / 1e6));
	json_object_set_new(j, "seconds", json_real((double)r->total_ns / 1e9));
	json_object_set_new(j, "bytes", json_integer((json_int_t)r->length));
	json_object_set_new(j, "disk_bytes", json_integer((json_int_t)r->disk));
	json_object_set_new(j, "copied_bytes", json_integer((json_int_t)r->copied));
	json_object_set_new(j, "left_out_bytes", json_integer((json_int_t)r->left_out));
	json_object_set_new(j, "unreadable_bytes", json_integer((json_int_t)r->unreadable));
	json_object_set_new(j, "unseen_bytes", json_integer((json_int_t)r->unseen));
	json_object_set_new(j, "threads", json_integer((json_int_t)r->threads));
	json_object_set_new(j, "missed_threads", json_integer((json_int_t)r->missed));
	json_object_set_new(j, "slow", json_boolean(r->slow));
	ray_json_print(j);
}

static void print_report(const struct ray_gcore_report *r)
{
	char length[8], disk[8];

	fprintf(stderr, "noderay: paused for %.1f ms; %s (%s on disk) in %.1f s\n", (double)r->pause_ns / 1e6,
		ray_format_size(r->length, length), ray_format_size(r->disk, disk), (double)r->total_ns / 1e9);
	if (r->borrowed_ns)
		fprintf(stderr, "noderay: one thread ran system calls for noderay for %.1f ms of the pause\n",
			(double)r->borrowed_ns / 1e6);
}

/* What is not as it should be. */
static void print_losses(int pid, const struct ray_gcore_report *r)
{
	char size[8];

	if (r->slow)
		fprintf(stderr, "noderay: memory is scarce: it stood still until all was written\n");
	if (r->missed)
		fprintf(stderr, "noderay: %zu thread%s did not stop in time: %s registers are missing\n", r->missed,
			r->missed == 1 ? "" : "s", r->missed == 1 ? "its" : "their");
	if (r->unreadable)
		fprintf(stderr, "noderay: %s could not be read and are zeros in the core\n",
			ray_format_size(r->unreadable, size));
	if (r->unseen)
		fprintf(stderr,
			"noderay: %s of shared memory that it never touched are zeros in the core; root sees them\n",
			ray_format_size(r->unseen, size));
	if (r->zombie)
		fprintf(stderr, "noderay: the forked child %d stays a zombie until process %d ends\n", r->zombie, pid);
}

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
	file_name(call, ray_target_pid(t), &path);
	if (!path.length)
		return ray_error_new(RAY_USAGE, "-o: a file name is needed");
	options.path = path.bytes;
	/* A limit on file sizes is an error to be told, not a signal to die by. */
	signal(SIGXFSZ, SIG_IGN);
	err = ray_gcore(t, &options, &report);
	if (err)
		return err;
	if (ray_call_has(call, "json"))
		print_json(path.bytes, ray_target_pid(t), &options, &report);
	else
		puts(path.bytes);
	print_report(&report);
	print_losses(ray_target_pid(t), &report);
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
