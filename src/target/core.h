/* core.h - what the files that read cores share; for src/target/core*.c only.
 * SPDX-License-Identifier: MIT
 *
 * An ELF core is a list of segments (memory, some of it dumped), and notes (threads, files, what the
 * kernel told the program at its start). Everything in it is foreign bytes: sizes are clipped to what
 * the file really holds when they are loaded, so the code that reads needs no second check.
 *
 *   core.c         opening: is it a core, of this machine; its segments
 *   core_notes.c   threads, files, auxiliary vector, noderay's own notes
 *   core_files.c   finds the files the core names, and checks that they are the right ones
 *   core_memory.c  memory, from the core or from those files
 *   core_maps.c    the mappings and their names
 *   core_args.c    arguments and environment, from the initial stack */
#ifndef RAY_TARGET_CORE_H
#define RAY_TARGET_CORE_H

#include <elf.h>

#include "target/bytes.h"
#include "target/image.h"
#include "target/internal.h"

struct core_segment {
	uint64_t start, end;
	uint64_t offset;   /* in the core */
	uint64_t promised; /* bytes of it that the core should hold */
	uint64_t dumped;   /* and does: less, when the file is cut */
	int prot;
};

/* A file mapping, as NT_FILE tells. */
struct core_mapping {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	size_t file;	 /* index in files */
};

enum core_file_state {
	CORE_FILE_UNCHECKED,
	CORE_FILE_USABLE,
	CORE_FILE_UNCERTAIN, /* used, but nothing in the core tells whether it is the right one */
	CORE_FILE_MISSING,
	CORE_FILE_WRONG,  /* another build */
	CORE_FILE_NO_ELF, /* data: nothing to compare, so it is not used */
};

struct core_file {
	const char *path;  /* as the core has it */
	const char *shown; /* the same, fit for a terminal */
	enum core_file_state state;
	bool is_exe;
	bool has_base;		 /* its first page was mapped, */
	uint64_t base;		 /* here */
	bool has_code;		 /* some of it was mapped executable */
	uint64_t length;	 /* the file must be this long: the end of its last mapping */
	uint64_t data;		 /* offset from which on it was mapped to be written to; UINT64_MAX if nowhere */
	const char *trouble;	 /* why it cannot be used; NULL when it can */
	struct ray_bytes *bytes; /* NULL when it cannot be used */
};

struct core_note {
	const char *name, *text;
};

struct core {
	struct ray_bytes *bytes;
	RAY_VEC(struct core_segment) segments; /* by address; they do not overlap */
	RAY_VEC(struct core_mapping) mappings; /* the same */
	RAY_VEC(struct core_file) files;
	RAY_VEC(struct ray_thread) threads;
	RAY_VEC(struct core_note) notes;
	Elf64_auxv_t *auxv; /* in the target's arena; ends before AT_NULL */
	size_t auxv_count;
	char command[17];		   /* pr_fname */
	char arguments[81];		   /* pr_psargs: the first 79 bytes of the command line */
	bool has_process;		   /* NT_PRPSINFO was there */
	bool no_private;		   /* coredump_filter left memory out that the program had written to */
	uint64_t lost;			   /* bytes of memory that should be in the file and are not */
	size_t damaged_headers;		   /* that claim what cannot be */
	size_t last_segment, last_mapping; /* where the last read was: most reads are close to it */
};

static inline struct core *core_of(struct ray_target *t)
{
	return t->data;
}

static inline uint64_t core_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* core_notes.c: reads one PT_NOTE segment. *budget limits the bytes walked over all of them. */
struct ray_error *core_load_notes(struct ray_target *t, uint64_t offset, uint64_t size, uint64_t *budget);
/* After all notes: of threads with the same id the first stays. */
struct ray_error *core_unite_threads(struct ray_target *t);
/* 0 when the auxiliary vector has no such entry. */
uint64_t core_auxv(const struct core *c, uint64_t type);
/* Threads as core_notes.c found them, with the names of noderay's own note. */
struct ray_error *core_load_threads(struct ray_target *t);

/* core_files.c: after segments and notes were loaded. */
struct ray_error *core_check_files(struct ray_target *t);
/* The file, looked for and checked at the first call. */
struct core_file *core_get_file(struct ray_target *t, size_t index);
struct ray_error *core_open_module(struct ray_target *t, const struct ray_map *map, struct ray_elf **ret);
/* The image that was mapped from a file, from dumped bytes only. */
bool core_find_image(struct ray_target *t, size_t file, struct ray_image *ret);

/* core_memory.c */
size_t core_read(struct ray_target *t, uint64_t address, void *buffer, size_t size);
/* Only what the core itself holds. */
struct ray_reader core_dumped_reader(struct ray_target *t);
/* NULL if none covers address. */
const struct core_segment *core_find_segment(struct core *c, uint64_t address);
const struct core_mapping *core_find_mapping(struct core *c, uint64_t address);
/* Index of the first segment that ends behind address. */
size_t core_segment_from(const struct core *c, uint64_t address);

/* core_maps.c */
struct ray_error *core_load_maps(struct ray_target *t);
bool core_dumped_runs(struct ray_target *t, uint64_t start, uint64_t end, ray_run_fn *each, void *arg);

/* core_args.c */
struct ray_error *core_args(struct ray_target *t, char **ret, size_t *size_ret);
struct ray_error *core_env(struct ray_target *t, char **ret, size_t *size_ret);
struct ray_error *core_load_auxv(struct ray_target *t, Elf64_auxv_t **ret, size_t *count_ret);

#endif
