/* gcore_notes.h - the notes of a core: what a debugger needs, and what noderay adds.
 * SPDX-License-Identifier: MIT
 *
 * Owner "noderay", type 1: a NUL-terminated name, then JSON text:
 *   process  {"noderay","taken_at","mode","pid","namespace_pid","ppid","uid","user","exe","cwd","args","uptime_s",
 *             "rss","cgroup","container","pause_ns","full","missed"}
 *   threads  [{"tid","name","state","note"}...]: also those that have no registers; note says why
 *   maps     see smaps.h
 *   files    see files.h */
#ifndef RAY_TARGET_GCORE_NOTES_H
#define RAY_TARGET_GCORE_NOTES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "base/error.h"
#include "base/text.h"
#include "base/vec.h"
#include "target/target.h"

struct ray_stop;

struct ray_gcore_thread {
	int tid;
	char name[32];
	char state;
	const char *note; /* why there are no registers; NULL if there are */
	bool has_registers, has_fp;
	struct user_regs_struct registers;
	struct user_fpregs_struct fp;
	void *xstate; /* owned */
	size_t xstate_size;
};

struct ray_gcore_threads {
	RAY_VEC(struct ray_gcore_thread) list;
};

/* Reads the registers of all stopped threads; names and states as known holds them. first_tid comes
 * first, so that debuggers start with it; 0: the main thread. */
RAY_MUST_USE struct ray_error *ray_gcore_threads_read(struct ray_stop *stop, const struct ray_thread *known,
						      size_t known_count, int first_tid, struct ray_gcore_threads *ret);
void ray_gcore_threads_deinit(struct ray_gcore_threads *threads);

struct ray_gcore_notes {
	int pid;
	const struct ray_gcore_threads *threads;
	const struct ray_map *maps;
	size_t map_count;
	json_t *process, *smaps, *files; /* NULL if there are none */
};

void ray_gcore_note_add(struct ray_text *out, const char *owner, uint32_t type, const void *content, size_t size);
/* All notes, as they stand in the file. */
RAY_MUST_USE struct ray_error *ray_gcore_notes_build(const struct ray_gcore_notes *in, struct ray_text *ret);
/* What /proc tells about the process, as the note "process" has it. */
RAY_MUST_USE struct ray_error *ray_gcore_process_json(int pid, json_t **ret);

#endif
