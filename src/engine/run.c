/* run.c - fires BEGIN and END: their programs are run once, in this process. SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/internal.h"

enum { RAW_ARGUMENTS = 12 }; /* of a raw tracepoint: as many as its program could ask for */

static struct ray_error *program_run(const struct ray_entry *e)
{
	uint64_t nothing[RAW_ARGUMENTS] = { 0 };
	union bpf_attr attr = { 0 };

	attr.test.prog_fd = e->fd;
	attr.test.ctx_in = (uint64_t)(uintptr_t)nothing;
	attr.test.ctx_size_in = sizeof(nothing);
	while (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr)) < 0)
		if (errno != EINTR && errno != EAGAIN)
			return ray_error_errno(RAY_FAILED, errno, "cannot run %s", e->probes.at[0]->name);
	return NULL;
}

struct ray_error *ray_entry_run(struct ray_trace *t, enum ray_site_kind kind)
{
	struct ray_error *err = NULL;

	for (size_t i = 0; i < t->entries.n && !err; i++)
		if (t->entries.at[i]->kind == kind)
			err = program_run(t->entries.at[i]);
	return err;
}
