/* convert.c - `noderay convert`: a profile in another format. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/source_maps.h"
#include "profile/format.h"
#include "profile/merge.h"

static const struct ray_option options[] = {
	{ 'o', "output", "FILE", "where to: its end tells the format; '-' is standard output" },
	{ 'f', "format", "FORMAT", "html, svg, folded, speedscope, cpuprofile, pprof, chrome or text" },
	RAY_OPTION_SOURCE_MAPS,
};

static const char *const examples[] = {
	"noderay convert app.cpuprofile -o app.html",
	"what node --cpu-prof wrote, as a report",
	"noderay convert cpu.html -o cpu.pb.gz",
	"a report's profile for pprof",
	"perf script | stackcollapse-perf.pl | noderay convert - -o perf.html",
	"folded stacks from standard input",
	"noderay convert cpu.speedscope.json",
	"its table of functions, here",
	"noderay convert worker-*.folded -o all.html",
	"several as one",
	NULL,
};

static struct ray_error *check_input(const struct ray_call *call, const char *out)
{
	size_t from_stdin = 0;

	if (!ray_call_operands(call))
		return ray_error_remedy(ray_error_new(RAY_USAGE, "convert: which profile?"),
					"noderay convert app.cpuprofile -o app.html");
	for (size_t i = 0; i < ray_call_operands(call); i++) {
		const char *in = ray_call_operand(call, i);

		if (ray_profile_is_same_file(in, out))
			return ray_error_remedy(
				ray_error_new(RAY_USAGE, "convert: %s is what is read: it stays as it is", out),
				"-o names another file");
		from_stdin += !strcmp(in, "-");
	}
	return from_stdin > 1 ? ray_error_new(RAY_USAGE, "convert: standard input can be read once") : NULL;
}

/* The first as it is; the others are added to it. */
static struct ray_error *read_all(const struct ray_call *call, struct ray_profile **ret)
{
	ray_auto(ray_profile, all) = NULL;
	struct ray_error *err = ray_profile_read(ray_call_operand(call, 0), &all);

	for (size_t i = 1; !err && i < ray_call_operands(call); i++) {
		ray_auto(ray_profile, more) = NULL;
		const char *path = ray_call_operand(call, i);

		err = ray_profile_read(path, &more);
		if (!err && more->unit != all->unit)
			err = ray_error_new(RAY_USAGE, "convert: %s is measured in %s, the one before in %s", path,
					    ray_profile_unit_word(more->unit), ray_profile_unit_word(all->unit));
		if (err)
			break;
		if (all->has_times || more->has_times)
			fprintf(stderr, "noderay: %s: added without its times, which are not those of the others\n",
				path);
		ray_profile_append(all, more);
	}
	if (!err && all->failed)
		err = &ray_enomem;
	if (!err)
		*ret = ray_take(all);
	return err;
}

static struct ray_error *write_out(const struct ray_profile *p, const struct ray_profile_format *format,
				   const char *pattern)
{
	ray_auto_memory char *path = ray_profile_expand(pattern, p->threads.n ? p->threads.at[0].pid : 0);

	return path ? ray_profile_write(p, format, path) : &ray_enomem;
}

static struct ray_error *run(const struct ray_call *call)
{
	const char *out = ray_call_value(call, "output"), *name = ray_call_value(call, "format");
	const struct ray_profile_format *format;
	ray_auto(ray_profile, p) = NULL;
	struct ray_error *err;

	/* Nothing said: to be read here. */
	if (!out && !name)
		name = "text";
	if (!out)
		out = "-";
	err = ray_profile_format_find(name, out, &format);
	if (!err)
		err = check_input(call, out);
	if (!err)
		err = read_all(call, &p);
	if (!err && ray_call_has(call, "source-maps"))
		err = ray_source_maps_apply(&p);
	if (err)
		return err;
	if (!p->samples.n)
		fprintf(stderr, "noderay: there are no samples in it\n");
	return write_out(p, format, out);
}

const struct ray_verb ray_verb_convert = {
	.name = "convert",
	.summary = "turn a profile into another format",
	.operands = "IN...",
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = 1000,
	.run = run,
};
