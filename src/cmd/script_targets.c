/* script_targets.c - which processes a verb with a script traces. See script.h. SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/script.h"
#include "cmd/trace.h"
#include "target/node.h"

static struct ray_error *no_pid(const struct ray_script *s, const char *text)
{
	return ray_error_remedy(
		ray_error_new(RAY_USAGE, "%s: '%s' is no process id", ray_call_verb(s->call)->name, text),
		"'noderay ps' lists the nodes that run");
}

/* Who may not look at a process, and yet is its user, or root: it has capabilities that we lack, or has been protected. */
static bool is_ours(int pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return !geteuid() || (!stat(path, &st) && st.st_uid == geteuid());
}

/* Another user's process shows nobody what it runs: that is no reason to call it no node. */
static struct ray_error *check_node(int pid)
{
	struct ray_node node;
	struct ray_error *err = ray_node_identify_files(pid, &node);
	char path[32], target[8];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (!err || readlink(path, target, sizeof(target)) >= 0 || errno != EACCES)
		return err;
	ray_error_free(err);
	if (is_ours(pid))
		return ray_error_remedy(
			ray_error_new(RAY_DENIED, "process %d shows nothing of itself to us", pid),
			"it has capabilities that noderay lacks here, or has been made undumpable: run as root of the machine");
	return ray_error_remedy(ray_error_new(RAY_DENIED, "process %d is another user's", pid),
				"run as root, or give noderay the capabilities it needs:\n"
				"  sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace=ep $(command -v noderay)");
}

static struct ray_error *add_pid(const struct ray_script *s, struct ray_trace_call *t, const char *text, char **end)
{
	struct ray_error *err;
	char path[32];
	long pid;

	errno = 0;
	pid = isdigit((unsigned char)*text) ? strtol(text, end, 10) : 0;
	if (errno || pid <= 0 || pid > INT32_MAX || (**end && **end != ','))
		return no_pid(s, text);
	for (size_t i = 0; i < t->pids.n; i++)
		if (t->pids.at[i] == pid)
			return NULL;
	snprintf(path, sizeof(path), "/proc/%ld", pid);
	if (access(path, F_OK))
		return ray_error_remedy(ray_error_new(RAY_FAILED, "no process %ld", pid),
					"'noderay ps' lists the nodes that run");
	err = s->any_process ? NULL : check_node((int)pid);
	if (err)
		return err;
	return ray_error_wrap(ray_trace_procs_add(t, (pid_t)pid), "process %ld", pid);
}

/* 12, or 12,13; also /proc/12. */
static struct ray_error *add_list(const struct ray_script *s, struct ray_trace_call *t, const char *list)
{
	const char *text = strncmp(list, "/proc/", 6) ? list : list + 6;
	struct ray_error *err;
	char *end = NULL;

	for (;;) {
		err = add_pid(s, t, text, &end);
		if (err || !*end)
			return err;
		text = end + 1;
	}
}

static struct ray_error *add_only(struct ray_trace_call *t)
{
	struct ray_error *err;
	int pid;

	err = ray_node_only(&pid);
	return err ? err : ray_trace_procs_add(t, pid);
}

/* Every node is meant, also those that start later: probes of node come with them, system calls follow them (ray_script_run()). For samples, and for
 * system calls without children, the ones that run now are meant. */
static struct ray_error *add_all(const struct ray_script *s, struct ray_trace_call *t)
{
	struct ray_error *err;
	size_t count, hidden;
	int *pids;

	if (!s->wants_frames && !(s->any_process && ray_call_has(s->call, "no-children")))
		return NULL;
	err = ray_node_list(&pids, &count, &hidden);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++) /* those that have ended since are no loss */
		ray_error_free(ray_trace_procs_add(t, pids[i]));
	free(pids);
	if (!t->pids.n)
		return ray_error_remedy(ray_error_new(RAY_NOT_NODE, "no node runs on this machine"),
					"noderay %s -- node app.js starts one", ray_call_verb(s->call)->name);
	return NULL;
}

static bool is_command(const char *operand)
{
	return !isdigit((unsigned char)*operand) && strncmp(operand, "/proc/", 6) != 0;
}

static struct ray_error *start(const struct ray_script *s, struct ray_trace_call *t)
{
	size_t count = ray_call_operands(s->call);
	ray_auto_memory char **words = calloc(count + 1, sizeof(*words));

	if (!words)
		return &ray_enomem;
	for (size_t i = 0; i < count; i++)
		words[i] = (char *)ray_call_operand(s->call, i);
	return ray_trace_procs_start(t, words);
}

struct ray_error *ray_script_targets(const struct ray_script *s, struct ray_trace_call *t)
{
	const char *first = ray_call_operand(s->call, 0), *value;
	bool all = ray_call_has(s->call, "all");
	const struct ray_option *o;
	struct ray_error *err = NULL;

	if (all && (first || ray_call_has(s->call, "pid")))
		return ray_error_new(RAY_USAGE, "%s: --all and a target: which one?", ray_call_verb(s->call)->name);
	for (size_t i = 0; !err && (o = ray_call_given(s->call, i, &value)); i++)
		if (strcmp(o->name, "pid") == 0)
			err = add_list(s, t, value);
	if (!err && first && is_command(first))
		return start(s, t);
	for (size_t i = 0; !err && i < ray_call_operands(s->call); i++)
		err = add_list(s, t, ray_call_operand(s->call, i));
	if (!err && all)
		err = add_all(s, t);
	else if (!err && !t->pids.n)
		err = add_only(t);
	return err;
}
