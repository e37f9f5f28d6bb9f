/* doctor.c - `noderay doctor`: what works here, what does not, and what to do. SPDX-License-Identifier: MIT */
#include "cmd/doctor.h"

#include <string.h>

#include "cmd/cmd.h"
#include "view/table.h"

enum { WIDTH = 80 };

static void deinit(struct ray_doctor *d)
{
	ray_vec_free(&d->patients);
	ray_report_free(d->report);
	ray_arena_free(d->arena);
}

static struct ray_error *examine(struct ray_doctor *d)
{
	struct ray_error *err;

	d->arena = ray_arena_create();
	d->report = ray_report_create();
	if (!d->arena || !d->report)
		return &ray_enomem;
	ray_machine_look(&d->machine);
	err = ray_doctor_examine(d);
	if (err)
		return ray_error_wrap(err, "nothing works without it");
	ray_doctor_machine(d);
	ray_doctor_rights(d);
	ray_doctor_tracing(d);
	ray_doctor_cores(d);
	ray_doctor_nodes(d);
	ray_doctor_verbs(d);
	return NULL;
}

/* Text is wrapped, so a wide terminal gains nothing; a narrow one does. */
static size_t width(void)
{
	size_t seen = ray_view_width(stdout);

	return seen && seen < WIDTH ? seen : WIDTH;
}

static struct ray_error *run(const struct ray_call *call)
{
	__attribute__((cleanup(deinit))) struct ray_doctor d = { 0 };
	struct ray_error *err = examine(&d);
	bool whole;

	if (err)
		return err;
	whole = ray_call_has(call, "json") ? ray_report_print_json(d.report) :
					     ray_report_print(d.report, width(), stdout);
	if (!whole)
		return &ray_enomem;
	if (strcmp(d.machine.architecture, "x86_64") != 0)
		return ray_error_new(RAY_FAILED, "no verb works on %s: only x86-64 is known", d.machine.architecture);
	return NULL;
}

static const struct ray_option options[] = { RAY_OPTION_JSON };

static const char *const examples[] = {
	"noderay doctor",
	"what works for you here, and what to do about the rest",
	"sudo noderay doctor",
	"what would work as root",
	"noderay doctor --json | jq 'select(.mark != \"ok\")'",
	"only what does not work",
	NULL,
};

const struct ray_verb ray_verb_doctor = {
	.name = "doctor",
	.summary = "say what works here, what does not, and what to do",
	.operands = "",
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = 0,
	.run = run,
};
