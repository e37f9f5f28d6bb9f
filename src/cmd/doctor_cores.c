/* doctor_cores.c - the part of doctor that looks at core files: would a crash leave one? SPDX-License-Identifier: MIT */
#include <libgen.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/text.h"
#include "cmd/doctor.h"

static const struct {
	const char *mark; /* in the handler's path */
	const char *name;
	const char *where;
	const char *fix; /* NULL: it is fine */
	const char *use;
} handlers[] = {
	{ "systemd-coredump", "systemd-coredump", "/var/lib/systemd/coredump", NULL,
	  "coredumpctl dump PID -o core.PID; noderay stack core.PID" },
	{ "apport", "apport", "/var/lib/apport/coredump",
	  "sudo sysctl kernel.core_pattern=core.%p (apport keeps no cores of programs that come from no package)",
	  NULL },
	{ "abrt", "abrt", "/var/spool/abrt",
	  "sudo sysctl kernel.core_pattern=core.%p (abrt keeps cores of packages only)", NULL },
	{ "/bin/false", "/bin/false", NULL, "sudo sysctl kernel.core_pattern=core.%p", NULL },
};

static void check_pipe(struct ray_doctor *d, const char *handler)
{
	char path[sizeof(d->machine.core_pattern)];

	snprintf(path, sizeof(path), "%.*s", (int)strcspn(handler, " "), handler);
	for (size_t i = 0; i < RAY_COUNT(handlers); i++) {
		if (!strstr(path, handlers[i].mark))
			continue;
		ray_report_add(d->report, "cores", "core_pattern", handlers[i].fix ? RAY_MARK_PART : RAY_MARK_OK,
			       "cores go to %s%s%s", handlers[i].name, handlers[i].use ? "; to look at one: " : "",
			       handlers[i].use ? handlers[i].use : "");
		if (handlers[i].fix)
			ray_report_fix(d->report, "%s", handlers[i].fix);
		return;
	}
	if (access(path, X_OK)) {
		ray_report_add(d->report, "cores", "core_pattern", RAY_MARK_NO, "cores go to %s, which is not there",
			       path);
		ray_report_fix(d->report, "sudo sysctl kernel.core_pattern=core.%%p");
		return;
	}
	ray_report_add(d->report, "cores", "core_pattern", RAY_MARK_PART, "cores go to %s, which noderay does not know",
		       path);
}

static void check_pattern(struct ray_doctor *d)
{
	const struct ray_machine *m = &d->machine;
	const char *pattern = m->core_pattern;
	bool own_name = strstr(pattern, "%p") || strstr(pattern, "%P") || strstr(pattern, "%t") || m->core_uses_pid > 0;

	if (m->core_uses_pid == RAY_UNKNOWN && !pattern[0]) {
		ray_report_add(d->report, "cores", "core_pattern", RAY_MARK_PART, "cannot be read");
		ray_report_fix(d->report, "look on the host: sysctl kernel.core_pattern");
	} else if (pattern[0] == '|') {
		check_pipe(d, pattern + 1 + strspn(pattern + 1, " "));
	} else if (!pattern[0] && m->core_uses_pid <= 0) {
		ray_report_add(d->report, "cores", "core_pattern", RAY_MARK_NO, "empty: a crash leaves no core");
		ray_report_fix(d->report, "sudo sysctl kernel.core_pattern=core.%%p");
	} else {
		ray_report_add(d->report, "cores", "core_pattern", own_name ? RAY_MARK_OK : RAY_MARK_PART,
			       "\"%s\", %s%s", pattern,
			       pattern[0] == '/' ? "a fixed place" : "in the directory of the process",
			       own_name ? "" : ": a second crash overwrites the first");
		if (!own_name)
			ray_report_fix(d->report, "sudo sysctl kernel.core_pattern=%s.%%p", pattern);
	}
}

static const char *limit_text(uint64_t limit, char out[16])
{
	char size[8];

	if (limit == UINT64_MAX)
		return "unlimited";
	snprintf(out, 16, "%s", ray_format_size(limit, size));
	return out;
}

static void check_own_limit(struct ray_doctor *d)
{
	const struct ray_machine *m = &d->machine;
	char text[16];

	if (m->core_limit == UINT64_MAX) {
		ray_report_add(d->report, "cores", "ulimit -c", RAY_MARK_OK,
			       "unlimited: what you start here leaves a core");
		return;
	}
	ray_report_add(d->report, "cores", "ulimit -c", m->core_limit ? RAY_MARK_PART : RAY_MARK_NO,
		       "%s: what you start here leaves %s", limit_text(m->core_limit, text),
		       m->core_limit ? "a cut core" : "no core when it crashes");
	if (m->core_limit_hard == UINT64_MAX)
		ray_report_fix(d->report, "ulimit -c unlimited");
	else
		ray_report_fix(d->report, "sudo prlimit --pid $$ --core=unlimited (a service: LimitCORE=infinity)");
}

enum trouble { NO_TROUBLE, NO_HEAP, NO_CORE, CUT_CORE };

static const struct {
	const char *text;
	const char *fix; /* with the pid */
} troubles[] = {
	[NO_HEAP] = { "coredump_filter leaves the heap out of its core", "echo 0x33 > /proc/%s/coredump_filter" },
	[NO_CORE] = { "the limit is 0: a crash would leave no core", "prlimit --pid %s --core=unlimited" },
	[CUT_CORE] = { "the limit is less than its memory: its core would be cut",
		       "prlimit --pid %s --core=unlimited" },
};

/* A pipe heeds no limit but 1 (the kernel's rule against loops of crashing handlers). */
static enum trouble trouble_of(const struct ray_doctor *d, const struct ray_patient *p)
{
	bool piped = d->machine.core_pattern[0] == '|';

	/* Bit 0 is private anonymous memory: the stacks and the JavaScript heap. */
	if (p->has_core_filter && !(p->core_filter & 1))
		return NO_HEAP;
	if (piped ? p->core_limit == 1 : !p->core_limit)
		return NO_CORE;
	return !piped && p->core_limit < p->about.rss ? CUT_CORE : NO_TROUBLE;
}

static void fix_trouble(struct ray_doctor *d, enum trouble t, size_t count, const char *pids)
{
	const char *pid = count == 1 ? pids : "PID", *at = strstr(troubles[t].fix, "%s");

	ray_report_fix(d->report, "%s%.*s%s%s", count == 1 ? "" : "for each: ", (int)(at - troubles[t].fix),
		       troubles[t].fix, pid, at + 2);
}

/* One finding for all nodes with the same trouble: services share their settings. */
static void check_patients(struct ray_doctor *d)
{
	enum { SHOWN = 6 };

	for (enum trouble t = NO_HEAP; t <= CUT_CORE; t++) {
		ray_auto_text pids = { 0 };
		size_t n = 0;

		for (size_t i = 0; i < d->patients.n; i++)
			if (trouble_of(d, &d->patients.at[i]) == t && ++n <= SHOWN)
				ray_text_printf(&pids, "%s%d", n > 1 ? ", " : "", d->patients.at[i].about.pid);
		if (!n)
			continue;
		if (n > SHOWN)
			ray_text_printf(&pids, " and %zu more", n - SHOWN);
		ray_report_add(d->report, "cores", "nodes", t == CUT_CORE ? RAY_MARK_PART : RAY_MARK_NO, "%s: %s",
			       ray_text_get(&pids), troubles[t].text);
		fix_trouble(d, t, n, ray_text_get(&pids));
	}
}

static void check_disk(struct ray_doctor *d, const char *name, const char *directory, const char *what)
{
	struct statvfs st;
	uint64_t free_bytes, need = 0;
	char have[8], want[8];

	if (statvfs(directory, &st))
		return;
	free_bytes = (uint64_t)st.f_bavail * st.f_frsize;
	for (size_t i = 0; i < d->patients.n; i++)
		if (d->patients.at[i].about.rss > need)
			need = d->patients.at[i].about.rss;
	ray_report_add(d->report, "cores", name, free_bytes < need ? RAY_MARK_NO : RAY_MARK_OK, "%s free in %s, %s%s%s",
		       ray_format_size(free_bytes, have), directory, what,
		       free_bytes < need ? "; the largest node holds " : "",
		       free_bytes < need ? ray_format_size(need, want) : "");
	if (free_bytes < need)
		ray_report_fix(d->report, "noderay core -o FILE on a larger disk");
}

/* Where the kernel puts cores, if that is one place. */
static void check_core_disk(struct ray_doctor *d)
{
	const char *pattern = d->machine.core_pattern;
	char path[sizeof(d->machine.core_pattern)];

	if (pattern[0] == '/') {
		snprintf(path, sizeof(path), "%s", pattern);
		check_disk(d, "disk, crashes", dirname(path), "where the kernel writes cores");
		return;
	}
	for (size_t i = 0; pattern[0] == '|' && i < RAY_COUNT(handlers); i++)
		if (strstr(pattern, handlers[i].mark) && handlers[i].where)
			check_disk(d, "disk, crashes", handlers[i].where, "where crashes leave cores");
}

void ray_doctor_cores(struct ray_doctor *d)
{
	check_pattern(d);
	check_own_limit(d);
	check_patients(d);
	if (d->machine.suid_dumpable == 0)
		ray_report_add(d->report, "cores", "suid_dumpable", RAY_MARK_OK,
			       "0: only programs with setuid or file capabilities leave no core");
	check_core_disk(d);
	check_disk(d, "disk, here", ".", "where `noderay core` writes by default");
}
