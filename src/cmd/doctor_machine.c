/* doctor_machine.c - the parts of doctor that look at kernel, rights and settings. SPDX-License-Identifier: MIT */
#include <linux/capability.h>
#include <string.h>

#include "base/text.h"
#include "cmd/doctor.h"

/* Not in the headers of older systems. */
enum { PERFMON = 38, BPF = 39 };

static const struct {
	int number;
	const char *name;
	const char *use;
} wanted[] = {
	{ CAP_SYS_PTRACE, "cap_sys_ptrace", "nodes of other users" },
	{ CAP_DAC_READ_SEARCH, "cap_dac_read_search", "files and cores of others" },
	{ BPF, "cap_bpf", "tracing" },
	{ PERFMON, "cap_perfmon", "tracing and sampling" },
};

static bool has(const struct ray_doctor *d, int capability)
{
	if (ray_machine_has_capability(&d->machine, capability))
		return true;
	if (capability == CAP_DAC_READ_SEARCH && ray_machine_has_capability(&d->machine, CAP_DAC_OVERRIDE))
		return true;
	/* Until 5.8 it stood for both. */
	return (capability == BPF || capability == PERFMON) && ray_machine_has_capability(&d->machine, CAP_SYS_ADMIN);
}

static const char *setcap_command =
	"sudo setcap cap_sys_ptrace,cap_dac_read_search,cap_bpf,cap_perfmon+ep $(which noderay)";

/* "kernel.kptr_restrict is 1". */
static const char *setting(struct ray_doctor *d, const char *name, int value)
{
	const char *text = value == RAY_UNKNOWN ? ray_arena_printf(d->arena, "%s is not known", name) :
						  ray_arena_printf(d->arena, "%s is %d", name, value);

	return text ? text : name;
}

static void check_container(struct ray_doctor *d)
{
	const struct ray_machine *m = &d->machine;
	const char *runtime = m->container.runtime[0] ? m->container.runtime : "";
	const char *blank = *runtime ? " " : "";

	if (!m->in_container && !m->pid_namespace) {
		ray_report_add(d->report, "machine", "container", RAY_MARK_OK, "not in one: all processes are in view");
	} else if (!m->pid_namespace) {
		ray_report_add(d->report, "machine", "container", RAY_MARK_OK,
			       "in a %s%scontainer that sees all processes of the machine", runtime, blank);
	} else {
		ray_report_add(d->report, "machine", "container", RAY_MARK_PART,
			       "in a %s%s%s that sees only its own processes", runtime, blank,
			       m->in_container ? "container" : "pid namespace");
		ray_report_fix(d->report, "run noderay on the host, which sees into containers, or start this one with "
					  "docker run --pid=host --cap-add=SYS_PTRACE (kubernetes: hostPID: true)");
	}
}

void ray_doctor_machine(struct ray_doctor *d)
{
	const struct ray_machine *m = &d->machine;
	bool known = !strcmp(m->architecture, "x86_64");

	ray_report_add(d->report, "machine", "kernel", RAY_MARK_OK, "Linux %s", m->kernel);
	ray_report_add(d->report, "machine", "processor", known ? RAY_MARK_OK : RAY_MARK_NO, "%s%s", m->architecture,
		       known ? "" : ": only x86-64 is known");
	check_container(d);
	if (m->hidepid && m->uid && !has(d, CAP_SYS_PTRACE)) {
		ray_report_add(d->report, "machine", "/proc", RAY_MARK_PART,
			       "hides the processes of other users (hidepid): they are not even counted");
		ray_report_fix(d->report, "run as root, or: sudo mount -o remount,hidepid=0 /proc");
	}
}

static void check_user(struct ray_doctor *d)
{
	const struct ray_machine *m = &d->machine;

	if (!m->uid || has(d, CAP_SYS_PTRACE)) {
		ray_report_add(d->report, "rights", "user", RAY_MARK_OK, m->uid ? "uid %u" : "root (uid %u)", m->uid);
		return;
	}
	ray_report_add(d->report, "rights", "user", RAY_MARK_PART, "uid %u: your own nodes, not those of others",
		       m->uid);
	ray_report_fix(d->report, "sudo noderay ...");
}

static void check_capabilities(struct ray_doctor *d)
{
	ray_auto_text lacking = { 0 };

	for (size_t i = 0; i < RAY_COUNT(wanted); i++)
		if (!has(d, wanted[i].number))
			ray_text_printf(&lacking, "%s%s (%s)", lacking.length ? ", " : "", wanted[i].name,
					wanted[i].use);
	if (!lacking.length) {
		ray_report_add(d->report, "rights", "capabilities", RAY_MARK_OK, "all that are of use%s",
			       d->machine.user_namespace ? ", but in a user namespace, where the kernel heeds few" :
							   "");
		return;
	}
	ray_report_add(d->report, "rights", "capabilities", RAY_MARK_PART, "lacks %s", ray_text_get(&lacking));
	ray_report_fix(d->report, "%s", setcap_command);
}

static void check_ptrace(struct ray_doctor *d)
{
	const struct ray_machine *m = &d->machine;

	if (m->ptrace == RAY_NO) {
		ray_report_add(d->report, "rights", "ptrace", RAY_MARK_NO,
			       "ptrace(2) is refused even on a child of one's own%s",
			       m->seccomp ? ": a seccomp filter is at work" : "");
		ray_report_fix(d->report,
			       "in a container: docker run --cap-add=SYS_PTRACE --security-opt seccomp=unconfined");
		return;
	}
	if (m->yama == RAY_UNKNOWN || m->yama == 0) {
		ray_report_add(d->report, "rights", "ptrace", RAY_MARK_OK, "%s: one may look into one's own processes",
			       m->yama ? "no Yama in this kernel" : "kernel.yama.ptrace_scope is 0");
	} else if (m->yama >= 3) {
		ray_report_add(d->report, "rights", "ptrace", RAY_MARK_NO,
			       "kernel.yama.ptrace_scope is 3: nobody may look into a process");
		ray_report_fix(d->report, "set it to 1 in /etc/sysctl.d and restart the machine: it cannot be lowered");
	} else if (has(d, CAP_SYS_PTRACE)) {
		ray_report_add(d->report, "rights", "ptrace", RAY_MARK_OK,
			       "kernel.yama.ptrace_scope is %d, which does not bind you", m->yama);
	} else {
		ray_report_add(d->report, "rights", "ptrace", RAY_MARK_NO, "kernel.yama.ptrace_scope is %d: %s",
			       m->yama,
			       m->yama == 1 ? "only its parents may look into a process" :
					      "only root may look into a process");
		ray_report_fix(d->report, "sudo sysctl kernel.yama.ptrace_scope=0, or sudo noderay ...");
	}
}

static void check_perf(struct ray_doctor *d)
{
	const struct ray_machine *m = &d->machine;
	const char *paranoid = setting(d, "kernel.perf_event_paranoid", m->paranoid);

	if (m->perf == RAY_YES) {
		ray_report_add(d->report, "rights", "perf events", RAY_MARK_OK, "%s: one may sample %s", paranoid,
			       m->paranoid < 1 || has(d, PERFMON) ? "the machine" : "one's own processes");
		return;
	}
	ray_report_add(d->report, "rights", "perf events", RAY_MARK_PART,
		       "perf_event_open(2) is refused (%s): threads that run cannot be sampled without a pause",
		       paranoid);
	if (m->paranoid > 2)
		ray_report_fix(d->report, "sudo sysctl kernel.perf_event_paranoid=2");
	else
		ray_report_fix(d->report, "a seccomp filter forbids it: docker run --cap-add=PERFMON");
}

static void check_kernel_addresses(struct ray_doctor *d)
{
	const struct ray_machine *m = &d->machine;
	bool shown = m->kptr == 0 ? m->paranoid < 2 || has(d, CAP_SYSLOG) : m->kptr == 1 && has(d, CAP_SYSLOG);

	if (m->kptr == RAY_UNKNOWN)
		return;
	ray_report_add(d->report, "rights", "kernel names", shown ? RAY_MARK_OK : RAY_MARK_PART,
		       "kernel.kptr_restrict is %d: functions of the kernel can%s be named", m->kptr,
		       shown ? "" : "not");
	if (!shown)
		ray_report_fix(d->report,
			       m->kptr == 2 ? "sudo sysctl kernel.kptr_restrict=1, then run as root" : "run as root");
}

void ray_doctor_rights(struct ray_doctor *d)
{
	check_user(d);
	check_capabilities(d);
	check_ptrace(d);
	check_perf(d);
	check_kernel_addresses(d);
}

static void check_bpf(struct ray_doctor *d)
{
	const struct ray_machine *m = &d->machine;
	const char *others = setting(d, "kernel.unprivileged_bpf_disabled", m->unprivileged_bpf);

	if (m->bpf == RAY_YES) {
		ray_report_add(d->report, "tracing", "BPF", RAY_MARK_OK, "programs can be loaded%s (%s)",
			       m->jit > 0 ? " and are compiled" : "", others);
	} else if (m->bpf == RAY_NO) {
		ray_report_add(d->report, "tracing", "BPF", RAY_MARK_NO, "this kernel does not load BPF programs");
		ray_report_fix(d->report, "a kernel with CONFIG_BPF_SYSCALL=y and CONFIG_BPF_EVENTS=y");
	} else {
		ray_report_add(d->report, "tracing", "BPF", RAY_MARK_PART, "needs cap_bpf and cap_perfmon (%s)",
			       others);
		ray_report_fix(d->report, "%s", setcap_command);
	}
	if (m->jit == 0) {
		ray_report_add(d->report, "tracing", "BPF JIT", RAY_MARK_PART,
			       "off: programs are interpreted, which is slower");
		ray_report_fix(d->report, "sudo sysctl net.core.bpf_jit_enable=1");
	}
}

static void check_feature(struct ray_doctor *d, const char *name, enum ray_answer a, const char *with,
			  const char *without, const char *fix)
{
	ray_report_add(d->report, "tracing", name, a == RAY_YES ? RAY_MARK_OK : RAY_MARK_PART, "%s",
		       a == RAY_YES ? with : without);
	if (a != RAY_YES)
		ray_report_fix(d->report, "%s", fix);
}

void ray_doctor_tracing(struct ray_doctor *d)
{
	const struct ray_machine *m = &d->machine;

	check_bpf(d);
	check_feature(d, "ring buffer", m->ring_buffer, "BPF ring buffers are there", "no BPF ring buffers",
		      "Linux 5.8 or later");
	check_feature(d, "uprobe_multi", m->uprobe_multi, "many probes attach at once",
		      "probes attach one by one, which is slow", "Linux 6.6 or later");
	check_feature(d, "BTF", m->btf ? RAY_YES : RAY_NO, "the kernel describes its own types",
		      "/sys/kernel/btf/vmlinux is missing or cannot be read", "a kernel with CONFIG_DEBUG_INFO_BTF=y");
	if (!m->tracefs[0]) {
		check_feature(d, "tracefs", RAY_NO, "", "not mounted",
			      "sudo mount -t tracefs tracefs /sys/kernel/tracing");
	} else if (!m->tracefs_readable) {
		ray_report_add(d->report, "tracing", "tracefs", RAY_MARK_PART, "%s may not be read by you", m->tracefs);
		ray_report_fix(d->report, "run as root");
	} else {
		ray_report_add(d->report, "tracing", "tracefs", RAY_MARK_OK, "%s", m->tracefs);
	}
}
