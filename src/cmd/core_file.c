/* core_file.c - see core_file.h. SPDX-License-Identifier: MIT */
#include "cmd/core_file.h"

#include <stdio.h>

#include "base/json.h"

void ray_core_name(const char *pattern, bool zstd, int pid, struct ray_text *ret)
{
	if (!pattern)
		pattern = zstd ? "core.%p.zst" : "core.%p";
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

static void print_json(int pid, const struct ray_gcore_options *o, const struct ray_gcore_report *r)
{
	json_t *j = json_object();

	json_object_set_new(j, "file", ray_json_text(o->path));
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

void ray_core_print(const struct ray_gcore_options *options, const struct ray_gcore_report *report, int pid,
		    bool is_json)
{
	if (is_json)
		print_json(pid, options, report);
	else
		puts(options->path);
	print_report(report);
	print_losses(pid, report);
}
