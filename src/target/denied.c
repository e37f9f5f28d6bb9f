/* denied.c - why the kernel refuses to let us look into a process, in words.
 * SPDX-License-Identifier: MIT
 *
 * The kernel says EPERM for half a dozen reasons; this looks at each, in the order of the kernel's own
 * checks, and names the first that holds. It only guesses after the fact: it decides nothing. */
#include "target/stop.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

struct facts {
	bool known;
	unsigned uid;
	int tracer;
	uint64_t permitted; /* its capabilities */
	bool kernel_thread;
	bool undumpable;
};

static struct facts look(int pid)
{
	struct facts f = { 0 };
	ray_auto_file FILE *file = NULL;
	char path[64], line[256];
	struct stat st;
	bool has_memory = false;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return f;
	f.known = true;
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "Uid: %u", &f.uid);
		sscanf(line, "TracerPid: %d", &f.tracer);
		sscanf(line, "CapPrm: %" SCNx64, &f.permitted);
		has_memory |= !strncmp(line, "VmSize:", 7);
	}
	f.kernel_thread = !has_memory;
	/* The kernel gives the files of an undumpable process to root. */
	if (!fstat(fileno(file), &st))
		f.undumpable = st.st_uid == 0 && f.uid != 0;
	return f;
}

static uint64_t own_capabilities(void)
{
	ray_auto_file FILE *file = fopen("/proc/self/status", "re");
	uint64_t effective = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "CapEff: %" SCNx64, &effective);
	return effective;
}

static int yama_scope(void)
{
	ray_auto_file FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (file && fscanf(file, "%d", &scope) != 1)
		scope = 0;
	return scope;
}

static const char *const run_as_root =
	"as root, or give noderay the rights (setcap cap_sys_ptrace,cap_dac_read_search+ep)";

static struct ray_error *explain_yama(struct ray_error *err, int scope)
{
	if (scope >= 3)
		return ray_error_remedy(err,
					"kernel.yama.ptrace_scope is 3: nobody may until the machine is restarted");
	if (scope == 2)
		return ray_error_remedy(err, "kernel.yama.ptrace_scope is 2: run %s", run_as_root);
	return ray_error_remedy(err,
				"kernel.yama.ptrace_scope is 1 (only a process's parents may look into it): "
				"sysctl kernel.yama.ptrace_scope=0, or run %s",
				run_as_root);
}

static struct ray_error *explain_tracer(struct ray_error *err, int tracer)
{
	char path[64], name[32] = "?";
	ray_auto_file FILE *file = NULL;
	ray_auto_text safe = { 0 };

	snprintf(path, sizeof(path), "/proc/%d/comm", tracer);
	file = fopen(path, "re");
	if (file && fgets(name, sizeof(name), file))
		name[strcspn(name, "\n")] = '\0';
	ray_text_add_safe(&safe, name, strlen(name));
	return ray_error_remedy(err, "process %d (%s) traces it already: end that first", tracer, ray_text_get(&safe));
}

static bool is_same_program(int pid)
{
	char path[64], own[4096], other[4096];
	ssize_t n, m;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink("/proc/self/exe", own, sizeof(own));
	m = readlink(path, other, sizeof(other));
	return n > 0 && n == m && !memcmp(own, other, (size_t)n);
}

enum ray_tracer ray_stop_tracer(int pid, int tid)
{
	char path[64], line[256];
	ray_auto_file FILE *file = NULL;
	int tracer = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "TracerPid: %d", &tracer);
	if (!tracer)
		return RAY_TRACER_NONE;
	return is_same_program(tracer) ? RAY_TRACER_NODERAY : RAY_TRACER_OTHER;
}

struct ray_error *ray_stop_denied(int pid, int errnum, const char *what)
{
	enum { CAP_OVERRIDE = 1, CAP_READ = 2, CAP_PTRACE = 19 };
	bool privileged = own_capabilities() >> CAP_PTRACE & 1;
	struct facts f = look(pid);
	struct ray_error *err;

	if (errnum == ESRCH || errnum == ENOENT || !f.known)
		return ray_error_new(RAY_FAILED, "no process with pid %d", pid);
	err = ray_error_errno(RAY_FAILED, errnum, "%s", what);
	if (errnum != EPERM && errnum != EACCES)
		return err;
	if (f.kernel_thread)
		return ray_error_remedy(err, "it is a thread of the kernel, or has just ended");
	if (f.tracer)
		return explain_tracer(err, f.tracer);
	if (privileged && errnum == EACCES && f.uid != geteuid() &&
	    !(own_capabilities() & (1ull << CAP_OVERRIDE | 1ull << CAP_READ)))
		return ray_error_remedy(err, "noderay has CAP_SYS_PTRACE, but this file of /proc is its owner's: add "
					     "CAP_DAC_READ_SEARCH (setcap cap_sys_ptrace,cap_dac_read_search+ep)");
	if (privileged)
		return ray_error_remedy(err, "noderay has CAP_SYS_PTRACE, but perhaps not in the process's user "
					     "namespace, or a security module or seccomp forbids ptrace");
	if (f.uid != geteuid())
		return ray_error_remedy(err, "it belongs to uid %u and you are uid %u: run as that user or %s", f.uid,
					geteuid(), run_as_root);
	if (f.undumpable)
		return ray_error_remedy(
			err, "it forbids this (setuid, file capabilities, or prctl(PR_SET_DUMPABLE)): run %s",
			run_as_root);
	if (f.permitted & ~own_capabilities())
		return ray_error_remedy(err, "it has capabilities that you lack: run %s", run_as_root);
	if (yama_scope() > 0)
		return explain_yama(err, yama_scope());
	return ray_error_remedy(err,
				"a security module or a seccomp filter (container?) forbids ptrace: "
				"docker run --cap-add SYS_PTRACE, or run %s",
				run_as_root);
}
