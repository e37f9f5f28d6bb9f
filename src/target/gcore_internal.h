/* gcore_internal.h - the state of one core being written; for gcore*.c only.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_TARGET_GCORE_INTERNAL_H
#define RAY_TARGET_GCORE_INTERNAL_H

#include <jansson.h>

#include "base/progress.h"
#include "base/text.h"
#include "target/gcore.h"
#include "target/gcore_copy.h"
#include "target/gcore_notes.h"
#include "target/gcore_out.h"
#include "target/gcore_plan.h"
#include "target/inject.h"
#include "target/pages.h"
#include "target/smaps.h"
#include "target/stop.h"

struct gcore {
	struct ray_target *t;
	const struct ray_gcore_options *options;
	struct ray_gcore_report *report;
	int pid;
	int source; /* whose memory is copied: the target's, or its child's */
	int pagemap, mem;
	unsigned processors;

	struct ray_thread *known; /* before the stop */
	size_t known_count;
	struct ray_smaps *smaps;
	json_t *process, *files;

	struct ray_gcore_threads threads;
	RAY_VEC(struct ray_gcore_map) maps;
	struct ray_page_runs pages;
	struct ray_gcore_plan plan;
	struct ray_text notes;

	unsigned char *buffer;
	size_t buffer_size;
	struct ray_out *out;
	struct ray_out *spool; /* zstd and little memory: what was copied lies here, from spool_head on */
	uint64_t spool_head;
	uint64_t file_size;
	struct ray_gadgets gadgets; /* fork */
	uint64_t side_copied;	    /* fork: bytes that came from the target itself */
	struct ray_progress progress;
	uint64_t written;
};

/* gcore.c */
int ray_gcore_open_proc(int pid, const char *name, struct ray_error **err_ret);
RAY_MUST_USE struct ray_error *ray_gcore_read_maps(struct gcore *g);
RAY_MUST_USE struct ray_error *ray_gcore_make_plan(struct gcore *g, int pagemap);

/* gcore_write.c */
/* All of the plan into the buffer, which is large enough. */
RAY_MUST_USE struct ray_error *ray_gcore_copy_all(struct gcore *g);
/* Buffer by buffer into the file, or into the spool if that is compressed. */
RAY_MUST_USE struct ray_error *ray_gcore_write_while_stopped(struct gcore *g);
/* Notes, head, and what was copied. */
RAY_MUST_USE struct ray_error *ray_gcore_write(struct gcore *g);
/* Notes and head, then copies and writes buffer by buffer, in the file's order. */
RAY_MUST_USE struct ray_error *ray_gcore_write_frozen(struct gcore *g);

/* gcore_fork.c: forks, lets the target go, writes the child. */
RAY_MUST_USE struct ray_error *ray_gcore_dump_fork(struct gcore *g, struct ray_stop *stop);

#endif
