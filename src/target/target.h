/* target.h - anything with a node's memory in it: a process or a core file.
 * SPDX-License-Identifier: MIT
 *
 * Everything above asks its questions here (maps, threads, registers, memory, arguments, files) and
 * does not know which kind it talks to. Knows nothing of V8 or of JavaScript.
 *
 * A process is read while it runs. ray_target_freeze() stops it for the moment in which registers
 * and stacks are copied; from then on reads of what was copied come from the copy, so that the
 * picture stays whole after the process runs on. Pids and tids are those of noderay's namespace. */
#ifndef RAY_TARGET_TARGET_H
#define RAY_TARGET_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/error.h"
#include "base/reader.h"
#include "elf/elf.h"
#include "target/overlay.h"

struct ray_target;

enum ray_target_kind { RAY_TARGET_PROCESS, RAY_TARGET_CORE };

struct ray_target_options {
	const char *name;    /* PID, /proc/PID, PID/TID, or the path of a core file */
	const char *exe;     /* --exe: the core's executable */
	const char *sysroot; /* --sysroot: where the core's files lie */
	bool force;	     /* --force: go on when a build-id does not match */
};

typedef bool ray_run_fn(uint64_t start, uint64_t end, void *arg);

struct ray_map {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	int prot;	 /* PROT_READ | PROT_WRITE | PROT_EXEC */
	bool shared;
	uint64_t inode; /* 0 when anonymous, or not known (core) */
	dev_t dev;
	const char *path; /* "" when anonymous; "[heap]", "[stack]", "[vdso]", a file */
	uint64_t dumped;  /* core: how many of its bytes the core holds; process: its size */
};

struct ray_thread {
	int tid;
	char name[32];	    /* comm; "" when not known */
	char state;	    /* as in /proc: R S D T t Z; '?' in a core */
	bool is_kernel;	    /* the kernel's own, for io_uring: runs none of the program's code, has no stack in it */
	bool has_registers; /* after freeze; in a core of all but the kernel's */
	bool only_pc_sp;    /* nonblocking: of the registers only rip and rsp are known */
	bool torn;	    /* nonblocking: it ran on while its stack was copied */
	struct user_regs_struct registers;
	const char *note; /* why there are no registers, or why torn; NULL if nothing to say */
};

/* A file that is mapped into the target. */
struct ray_module {
	const char *path;    /* as the target names it */
	struct ray_elf *elf; /* NULL if it could not be opened; then */
	const char *error;   /* says why */
};

RAY_MUST_USE struct ray_error *ray_target_open(const struct ray_target_options *options, struct ray_target **ret);
void ray_target_close(struct ray_target *t);
RAY_DEFINE_AUTO(ray_target, ray_target_close)

enum ray_target_kind ray_target_kind(const struct ray_target *t);
const char *ray_target_name(const struct ray_target *t); /* for messages: "4711" or "core.4711" */
int ray_target_pid(const struct ray_target *t);
/* PID/TID: the thread that was asked for; 0 for all. */
int ray_target_only_tid(const struct ray_target *t);

/* Copies up to size bytes; returns how many could be read from address on. */
size_t ray_target_read(struct ray_target *t, uint64_t address, void *buffer, size_t size);
struct ray_reader ray_target_reader(struct ray_target *t);
/* The same of what is there now, whatever was pinned, frozen or laid over. */
size_t ray_target_read_now(struct ray_target *t, uint64_t address, void *buffer, size_t size);

/* Sorted by address. Valid until the next ray_target_refresh(). */
const struct ray_map *ray_target_maps(struct ray_target *t, size_t *count_ret);
const struct ray_map *ray_target_find_map(struct ray_target *t, uint64_t address); /* NULL if none */
/* Sorted: the main thread first, then by tid. */
const struct ray_thread *ray_target_threads(struct ray_target *t, size_t *count_ret);
/* Reads maps and threads of a process anew. */
RAY_MUST_USE struct ray_error *ray_target_refresh(struct ray_target *t);
/* Only the maps; when they cannot be read (it has ended), those that were known stay. */
RAY_MUST_USE struct ray_error *ray_target_refresh_maps(struct ray_target *t);

/* The module that is mapped at address, and address as the module's file knows it. NULL when
 * nothing file-backed (or the vdso) is there. */
const struct ray_module *ray_target_module_at(struct ray_target *t, uint64_t address, uint64_t *vaddr_ret);
/* The module of one mapping. */
const struct ray_module *ray_target_map_module(struct ray_target *t, const struct ray_map *map);
/* Where vaddr of the module (its .bss too) lies in the target, by the mapping of its ELF header. */
bool ray_target_module_address(struct ray_target *t, const struct ray_module *m, uint64_t vaddr, uint64_t *ret);

/* NUL-separated, as in /proc/PID/cmdline and environ. *ret is the caller's to free. */
RAY_MUST_USE struct ray_error *ray_target_args(struct ray_target *t, char **ret, size_t *size_ret);
RAY_MUST_USE struct ray_error *ray_target_env(struct ray_target *t, char **ret, size_t *size_ret);
/* Why the arguments are not those it was started with (it set process.title; a core without its stack);
 * NULL when they are, as far as can be told. */
const char *ray_target_args_note(struct ray_target *t);
/* Path of the executable as the target names it; "" when not known. */
const char *ray_target_exe(struct ray_target *t);
/* What noderay itself noted in a core, as JSON text by name ("files", "threads"...); NULL if none. */
const char *ray_target_note(struct ray_target *t, const char *name);
/* How many bytes of [start, end) the core holds itself; a process: all of them. */
uint64_t ray_target_dumped(struct ray_target *t, uint64_t start, uint64_t end);
/* Calls each() for every run of bytes in [start, end) that the core holds itself, ascending, until it returns
 * false: then the result is false too. A process has one run, all of it. What goes through the whole of a mapping
 * goes through these: a damaged core may claim mappings without end, but it does not hold them. */
bool ray_target_dumped_runs(struct ray_target *t, uint64_t start, uint64_t end, ray_run_fn *each, void *arg);
/* The signal that ended it, 0 if none or not a core. */
int ray_target_signal(struct ray_target *t);

/* Cores: what could not be had (truncated segments, missing files), one sentence each; NULL-ended. */
const char *const *ray_target_warnings(struct ray_target *t);

struct ray_freeze_options {
	bool nonblocking; /* do not stop it: take what can be had, mark what is torn */
	size_t max_stack; /* bytes of stack copied per thread; 0 is the default, 16 MiB */
	/* Called while it is stopped, after registers and stacks were copied, so that more can be
	 * pinned with ray_target_pin(). May be NULL. */
	void (*while_stopped)(struct ray_target *t, void *arg);
	void *arg;
};

struct ray_freeze_report {
	uint64_t pause_ns;    /* from the first thread stopped to the last one let go; 0 if none was */
	size_t stopped;	      /* threads */
	size_t missed;	      /* threads that did not stop in time or could not be read */
	uint64_t stack_bytes; /* copied */
	uint64_t stack_cut;   /* bytes of stack that were left out by max_stack */
};

/* A core is frozen already: it returns at once with zeros. */
RAY_MUST_USE struct ray_error *ray_target_freeze(struct ray_target *t, const struct ray_freeze_options *options,
						 struct ray_freeze_report *ret);

struct ray_range {
	uint64_t start;
	size_t size;
};
/* Copies ranges now (one system call for about a thousand of them); later reads are served from
 * the copy. Ranges that cannot be read are left out. */
void ray_target_pin(struct ray_target *t, const struct ray_range *ranges, size_t count);
/* Bytes that somebody saw at start, copied: later reads are served from there. False without memory. */
bool ray_target_pin_bytes(struct ray_target *t, uint64_t start, const void *bytes, size_t size);
/* Forgets what was pinned or frozen: reads show the target as it is now. */
void ray_target_thaw(struct ray_target *t);
/* While on, every small read is pinned as well: what is read once while the target is stopped can be read again
 * after it runs on. */
void ray_target_keep(struct ray_target *t, bool on);
/* From now on reads of what the pieces hold come from there; they are sorted, must stay, and replace those given before. */
void ray_target_lay_over(struct ray_target *t, const struct ray_overlay_piece *pieces, size_t count);

#endif
