/* profile.h - a profile: stacks, how much each weighs, whose they are, and when they were seen.
 * SPDX-License-Identifier: MIT
 *
 * What `record` collects, what every file format is written from and read into, and what `top`, `convert` and `diff` work on. Everything in it
 * is kept once and known by a number: texts, functions, places in them (frames), and the nodes of one tree of calls whose root is node 0, so
 * that a stack is the number of its innermost node. Numbers of functions and frames begin with 1; 0 says that there was no memory, and
 * then `failed` is set too. Pure: data in memory, nothing of processes or files. */
#ifndef RAY_PROFILE_PROFILE_H
#define RAY_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

/* What a function is, for colours, filters and tables. profile/kind.h tells it. */
enum ray_profile_kind {
	RAY_KIND_JS,	   /* the program's own JavaScript */
	RAY_KIND_PACKAGE,  /* JavaScript of a package in node_modules */
	RAY_KIND_NODE,	   /* node's own JavaScript */
	RAY_KIND_WASM,	   /* WebAssembly */
	RAY_KIND_BUILTIN,  /* V8's builtins, handlers of bytecodes, compiled regular expressions */
	RAY_KIND_NATIVE,   /* C and C++: node, V8, libraries, addons */
	RAY_KIND_GC,	   /* V8 that collects garbage */
	RAY_KIND_COMPILER, /* V8 that parses and compiles */
	RAY_KIND_KERNEL,
	RAY_KIND_IDLE,	  /* a thread that waits: for what */
	RAY_KIND_UNKNOWN, /* an address without a name */
	RAY_KIND_COUNT,
};

/* A function, wherever in it execution was. */
struct ray_profile_function {
	enum ray_profile_kind kind;
	const char *name; /* "Server.handle", "v8::internal::Heap::Scavenge()", "(anonymous)"; never NULL or "" */
	const char *
		file; /* JavaScript: its path or URL as node has it; native: the path of the binary; "" if there is none */
	int line, column;    /* where it begins, counted from 1; 0: not known */
	const char *package; /* RAY_KIND_PACKAGE: "express", "@scope/name"; else "" */
};

/* A place in a function. */
struct ray_profile_frame {
	uint32_t function;
	int line, column; /* that ran, counted from 1; 0: not known */
	bool is_inlined;  /* into the function that called it */
};

struct ray_profile_node {
	uint32_t parent; /* always a smaller number */
	uint32_t frame;	 /* of the root: 0 */
};

struct ray_profile_thread {
	uint32_t pid, tid;
	const char *name;    /* what it is for: "main", "worker_threads worker 2 (name)", "libuv pool worker 1" */
	const char *process; /* "node server.js"; "" if not known */
};

struct ray_profile_sample {
	uint64_t time_ns; /* since the profile's start; 0 in a profile without times */
	uint32_t node;	  /* the innermost; 0: no stack was had */
	uint32_t thread;  /* index into threads */
	int64_t weight;	  /* in units of the profile */
	uint32_t count;	  /* how many were taken together; 1 as a rule */
};

enum ray_profile_unit { RAY_UNIT_SAMPLES, RAY_UNIT_NS, RAY_UNIT_BYTES, RAY_UNIT_COUNT /* of an event */ };

struct ray_profile {
	/* About all of it. Texts are "" where nothing is known. */
	const char *title;   /* "node server.js (4242)" */
	const char *event;   /* what a sample is: "on-CPU, 99 Hz", "off-CPU", "syscalls:sys_enter_mmap" */
	const char *command; /* how it was recorded: "noderay record -d 10 4242" */
	const char *host, *node_version;
	enum ray_profile_unit unit;
	uint64_t start_ns;    /* since the epoch; 0: not known */
	uint64_t duration_ns; /* 0: not known */
	uint64_t period_ns;   /* between two samples of a thread that runs all the time; 0: samples come with events */
	bool has_times;	      /* samples are in the order of time, and know it */
	/* What was lost, for whoever looks at the result. */
	uint64_t lost_samples;	 /* no room in a buffer */
	uint64_t cut_stacks;	 /* that do not reach the root of their thread */
	uint64_t unnamed_frames; /* of V8's code, in all samples */
	/* Two profiles in one, as the report of a difference carries them: so many of the threads, the first ones, are those of before. 0: it is one. */
	uint32_t before_threads;
	const char *before_title;

	RAY_VEC(struct ray_profile_function) functions; /* 0 is not used */
	RAY_VEC(struct ray_profile_frame) frames;	/* 0 is not used */
	RAY_VEC(struct ray_profile_node) nodes;		/* 0 is the root */
	RAY_VEC(struct ray_profile_thread) threads;
	RAY_VEC(struct ray_profile_sample) samples;
	bool failed; /* no memory: something is missing */

	/* Its own: */
	struct ray_arena *arena;
	struct ray_profile_index *index;
};

struct ray_profile *ray_profile_create(void); /* NULL without memory */
void ray_profile_free(struct ray_profile *p);
RAY_DEFINE_AUTO(ray_profile, ray_profile_free)

/* Each gives the number of the one that is there already, or adds it. Texts are copied; NULL counts as "". Text that is no UTF-8 must have been made
 * safe (base/text.h). */
const char *ray_profile_text(struct ray_profile *p,
			     const char *text); /* valid as long as the profile; "" without memory */
const char *ray_profile_text_n(struct ray_profile *p, const char *text, size_t length);
uint32_t ray_profile_function(struct ray_profile *p, const struct ray_profile_function *f);
uint32_t ray_profile_frame(struct ray_profile *p, const struct ray_profile_frame *f);
uint32_t ray_profile_node(struct ray_profile *p, uint32_t parent, uint32_t frame);
/* By pid and tid; a name that comes later replaces one that was "". */
uint32_t ray_profile_thread(struct ray_profile *p, const struct ray_profile_thread *t);
void ray_profile_add(struct ray_profile *p, const struct ray_profile_sample *s);
/* What is said about all of it, and what was lost, as the other one has it; not whether it has times. */
void ray_profile_describe(struct ray_profile *p, const struct ray_profile *from);

/* NULL if all is well; else what is wrong with it: numbers that lead nowhere. For readers of files. */
const char *ray_profile_check(const struct ray_profile *p);

/* ---- sums ---- */

/* Per node: what its samples weigh (self), and with everything that was called from there (total). Both arrays are of nodes.n; the caller frees them.
 * thread: only samples of this one; UINT32_MAX: all. False without memory. */
bool ray_profile_sum(const struct ray_profile *p, uint32_t thread, int64_t **self_ret, int64_t **total_ret);

struct ray_profile_row {
	uint32_t function;
	int64_t self;
	int64_t total; /* a function that calls itself counts once */
};
/* Functions by what they weigh, the heaviest self first. The caller frees *ret. */
bool ray_profile_rank(const struct ray_profile *p, uint32_t thread, struct ray_profile_row **ret, size_t *count_ret);
int64_t ray_profile_weight(const struct ray_profile *p); /* of all samples */

const char *
ray_profile_kind_word(enum ray_profile_kind kind); /* "js", "package", "node", "wasm", "builtin", "native", "gc"... */
bool ray_profile_kind_parse(const char *word, enum ray_profile_kind *ret);
const char *ray_profile_unit_word(enum ray_profile_unit unit); /* "samples", "nanoseconds", "bytes", "count" */

#endif
