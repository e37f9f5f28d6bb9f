/* doctor_nodes.c - the parts of doctor that look at the nodes and judge the verbs by them. SPDX-License-Identifier: MIT */
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/doctor.h"
#include "stack/constants.h"
#include "stack/isolate.h"

/* What V8's layout table was checked against: node 16, 18, 20, 22, 24 and 26. */
static const uint32_t newest_v8 = RAY_V8(14, 6, 0xffff);

static const char *copy(struct ray_doctor *d, const char *text)
{
	const char *kept = ray_arena_strdup(d->arena, text);

	return kept ? kept : "";
}

static void read_core_settings(struct ray_patient *p)
{
	char path[48], line[256], soft[32];
	ray_auto_file FILE *limits = NULL;
	ray_auto_file FILE *filter = NULL;

	p->core_limit = UINT64_MAX;
	snprintf(path, sizeof(path), "/proc/%d/limits", p->about.pid);
	limits = fopen(path, "re");
	while (limits && fgets(line, sizeof(line), limits))
		if (sscanf(line, "Max core file size %31s", soft) == 1 && strcmp(soft, "unlimited") != 0)
			p->core_limit = strtoull(soft, NULL, 10);
	snprintf(path, sizeof(path), "/proc/%d/coredump_filter", p->about.pid);
	filter = fopen(path, "re");
	p->has_core_filter = filter && fscanf(filter, "%lx", &p->core_filter) == 1;
}

static void look_inside(struct ray_doctor *d, struct ray_target *t, struct ray_patient *p)
{
	struct ray_constants constants;
	struct ray_error *err;
	size_t workers;

	err = ray_constants_read(p->node.module->elf, p->node.v8, &constants);
	ray_constants_deinit(&constants);
	if (err) {
		p->unnamed = copy(d, ray_error_text(err));
		ray_error_free(err);
	}
	p->is_new = p->node.v8 > newest_v8;
	p->has_workers = ray_isolate_count_workers(t, &p->node, &workers);
	p->is_open = true;
}

static struct ray_error *examine_one(struct ray_doctor *d, int pid)
{
	ray_auto(ray_target, t) = NULL;
	struct ray_patient p = { 0 };
	struct ray_error *err;
	char name[16];

	err = ray_about_read(pid, d->arena, &p.about);
	if (err) {
		ray_error_free(err); /* it has ended meanwhile */
		return NULL;
	}
	read_core_settings(&p);
	snprintf(name, sizeof(name), "%d", pid);
	err = ray_target_open(&(struct ray_target_options){ .name = name }, &t);
	if (!err)
		err = ray_node_identify(t, &p.node);
	if (!err) {
		look_inside(d, t, &p);
	} else {
		p.refusal = copy(d, ray_error_text(err));
		p.remedy = copy(d, ray_error_remedy_text(err));
		ray_error_free(err);
		err = ray_node_identify_files(pid, &p.node);
		if (err) {
			ray_error_free(err);
			return NULL;
		}
	}
	p.node.module = NULL; /* goes with t */
	return ray_vec_push(&d->patients, p) ? NULL : &ray_enomem;
}

struct ray_error *ray_doctor_examine(struct ray_doctor *d)
{
	ray_auto_memory int *pids = NULL;
	struct ray_error *err;
	size_t count;

	err = ray_node_list(&pids, &count, &d->unreadable);
	for (size_t i = 0; !err && i < count; i++)
		err = examine_one(d, pids[i]);
	return err;
}

static void report_patient(struct ray_doctor *d, const struct ray_patient *p)
{
	const char *version = p->node.version[0] ? p->node.version : "of unknown version";
	const char *v8 = p->node.v8_text[0] ? p->node.v8_text : "of unknown version";
	char name[16];

	snprintf(name, sizeof(name), "%d", p->about.pid);
	if (!p->is_open) {
		ray_report_add(d->report, "nodes", name, RAY_MARK_NO, "node %s: %s", version, p->refusal);
		if (p->remedy[0])
			ray_report_fix(d->report, "%s", p->remedy);
	} else if (p->unnamed) {
		ray_report_add(d->report, "nodes", name, RAY_MARK_PART,
			       "node %s, V8 %s: JavaScript cannot be named: %s", version, v8, p->unnamed);
	} else if (p->is_new) {
		ray_report_add(d->report, "nodes", name, RAY_MARK_PART,
			       "node %s, V8 %s: newer than any V8 that is known; what its own symbols do not say is "
			       "taken from the newest known one, and checked",
			       version, v8);
	} else if (p->node.stripped) {
		ray_report_add(d->report, "nodes", name, RAY_MARK_PART,
			       "node %s, V8 %s: stripped; JavaScript is named, node's own inner functions are not",
			       version, v8);
		ray_report_fix(d->report, "debug symbols of that build, or a node from nodejs.org");
	} else if (!p->has_workers) {
		ray_report_add(d->report, "nodes", name, RAY_MARK_PART,
			       "node %s, V8 %s: which thread runs which isolate cannot be told", version, v8);
	} else {
		ray_report_add(d->report, "nodes", name, RAY_MARK_OK, "node %s, V8 %s", version, v8);
	}
}

void ray_doctor_nodes(struct ray_doctor *d)
{
	for (size_t i = 0; i < d->patients.n; i++)
		report_patient(d, &d->patients.at[i]);
	if (!d->patients.n)
		ray_report_add(d->report, "nodes", "none", RAY_MARK_OK, "no node runs that you may look at");
	if (d->unreadable) {
		ray_report_add(d->report, "nodes", "others", RAY_MARK_PART,
			       "%zu process%s of other users could not be examined", d->unreadable,
			       d->unreadable == 1 ? "" : "es");
		if (d->machine.uid)
			ray_report_fix(d->report, "sudo noderay doctor");
	}
}

/* What a verb asks of a live node. Core files ask for nothing: all but ps and core read them. */
enum need {
	NEED_NOTHING = 0,
	NEED_LIST = 1,	 /* of processes */
	NEED_MEMORY = 2, /* to read it */
	NEED_PTRACE = 4, /* to stop it */
	NEED_FILES = 8,	 /* what is the owner's in /proc/PID: descriptors, pagemap */
};

static const struct {
	const char *verb;
	unsigned need;
	bool reads_cores;
} needs[] = {
	{ "ps", NEED_LIST, false },
	{ "stack", NEED_MEMORY | NEED_PTRACE, true },
	{ "maps", NEED_MEMORY, true },
	{ "files", NEED_MEMORY | NEED_FILES, true },
	{ "env", NEED_MEMORY, true },
	{ "args", NEED_MEMORY, true },
	{ "core", NEED_MEMORY | NEED_PTRACE | NEED_FILES, false },
	{ "doctor", NEED_NOTHING, false },
};

static void judge_list(struct ray_doctor *d, const char *verb)
{
	if (!d->unreadable && !d->machine.pid_namespace) {
		ray_report_add(d->report, "verbs", verb, RAY_MARK_OK, "works");
		return;
	}
	ray_report_add(d->report, "verbs", verb, RAY_MARK_PART, "works in part: not every process is in view");
	if (d->machine.uid)
		ray_report_fix(d->report, "sudo noderay %s", verb);
}

static size_t count_fit(const struct ray_doctor *d, unsigned need)
{
	size_t n = 0;

	for (size_t i = 0; i < d->patients.n; i++)
		n += d->patients.at[i].is_open && (!(need & NEED_FILES) || d->patients.at[i].about.files >= 0);
	return n;
}

/* Without a node to try it on: would one's own be open? */
static bool may_look(const struct ray_doctor *d, size_t fit)
{
	return d->patients.n ? fit > 0 : d->machine.yama <= 0 || !d->machine.uid;
}

static size_t count_unnamed(const struct ray_doctor *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->patients.n; i++)
		n += d->patients.at[i].unnamed != NULL;
	return n;
}

static void fix_by_root(struct ray_doctor *d, const char *verb)
{
	if (d->machine.uid)
		ray_report_fix(d->report, "sudo noderay %s PID", verb);
}

static void judge_live(struct ray_doctor *d, const char *verb, unsigned need, bool reads_cores)
{
	size_t fit = count_fit(d, need);
	const char *cores = reads_cores ? "; core files work" : "";

	if (!may_look(d, fit) || ((need & NEED_PTRACE) && d->machine.ptrace == RAY_NO)) {
		ray_report_add(d->report, "verbs", verb, reads_cores ? RAY_MARK_PART : RAY_MARK_NO,
			       "does not work on running nodes: see rights and nodes above%s", cores);
		fix_by_root(d, verb);
	} else if (fit < d->patients.n) {
		ray_report_add(d->report, "verbs", verb, RAY_MARK_PART,
			       "works on %zu of %zu nodes: see rights and nodes above%s", fit, d->patients.n, cores);
		fix_by_root(d, verb);
	} else if (!strcmp(verb, "stack") && count_unnamed(d)) {
		ray_report_add(d->report, "verbs", verb, RAY_MARK_PART,
			       "works; JavaScript of %zu of %zu nodes cannot be named", count_unnamed(d),
			       d->patients.n);
	} else if (!strcmp(verb, "stack") && d->machine.perf != RAY_YES) {
		ray_report_add(d->report, "verbs", verb, RAY_MARK_PART,
			       "works; --nonblocking cannot see threads that run: see perf events above");
	} else if (d->unreadable) {
		ray_report_add(d->report, "verbs", verb, RAY_MARK_OK, "works on %s%s",
			       d->patients.n ? "the nodes above" : "nodes of your own", cores);
	} else {
		ray_report_add(d->report, "verbs", verb, RAY_MARK_OK, "works");
	}
}

static void judge(struct ray_doctor *d, const char *verb)
{
	for (size_t i = 0; i < RAY_COUNT(needs); i++) {
		if (strcmp(needs[i].verb, verb) != 0)
			continue;
		if (needs[i].need == NEED_LIST)
			judge_list(d, verb);
		else if (needs[i].need != NEED_NOTHING)
			judge_live(d, verb, needs[i].need, needs[i].reads_cores);
		return;
	}
}

void ray_doctor_verbs(struct ray_doctor *d)
{
	for (size_t i = 0; ray_verbs[i]; i++)
		judge(d, ray_verbs[i]->name);
}
