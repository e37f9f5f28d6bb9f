/* machine.h - what this machine and this user may do: kernel, rights, settings.
 * SPDX-License-Identifier: MIT
 *
 * Reads /proc and /sys, tries a few system calls on itself and undoes them at once; looks at no other process.
 * A setting that cannot be read is RAY_UNKNOWN, which is not the same as 0. */
#ifndef RAY_TARGET_MACHINE_H
#define RAY_TARGET_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "target/container.h"

enum { RAY_UNKNOWN = -1000 };

enum ray_answer { RAY_NO, RAY_YES, RAY_MAYBE }; /* MAYBE: it may not be tried */

struct ray_machine {
	char kernel[65];
	unsigned kernel_version; /* major << 16 | minor << 8 */
	char architecture[65];

	unsigned uid;
	uint64_t capabilities; /* effective */
	bool user_namespace;   /* not the first one: capabilities count for less */
	bool pid_namespace;    /* not the first one: other processes cannot be seen */
	bool hidepid;	       /* /proc hides other users' processes */
	int seccomp;	       /* 0 none, 1 strict, 2 filter */
	bool in_container;
	struct ray_container container; /* id "" when not known */

	int paranoid;			      /* kernel.perf_event_paranoid */
	int yama;			      /* kernel.yama.ptrace_scope; RAY_UNKNOWN when there is no Yama */
	int unprivileged_bpf;		      /* kernel.unprivileged_bpf_disabled */
	int kptr;			      /* kernel.kptr_restrict */
	int suid_dumpable;		      /* fs.suid_dumpable */
	int core_uses_pid;		      /* kernel.core_uses_pid */
	char core_pattern[129];		      /* kernel.core_pattern */
	uint64_t core_limit, core_limit_hard; /* ulimit -c, in bytes; UINT64_MAX: none */

	enum ray_answer ptrace;	      /* tried on a child of our own */
	enum ray_answer perf;	      /* a software event on ourselves */
	enum ray_answer bpf;	      /* loading a program */
	enum ray_answer ring_buffer;  /* BPF ring buffer map, since 5.8 */
	enum ray_answer uprobe_multi; /* since 6.6 */
	int jit;		      /* net.core.bpf_jit_enable */
	bool btf;		      /* /sys/kernel/btf/vmlinux */
	char tracefs[128];	      /* where it is mounted; "" if nowhere */
	bool tracefs_readable;
};

void ray_machine_look(struct ray_machine *ret);
bool ray_machine_has_capability(const struct ray_machine *m, int number);

#endif
