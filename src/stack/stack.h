/* stack.h - the stacks of a target's threads, with every frame named as well as can be.
 * SPDX-License-Identifier: MIT
 *
 * A process is stopped only while registers, stacks and the objects that frames point to are copied;
 * walking and naming happen after it runs on. What could not be named or read says so. */
#ifndef RAY_STACK_STACK_H
#define RAY_STACK_STACK_H

#include "base/text.h"
#include "stack/js.h"
#include "stack/role.h"
#include "stack/walk.h"
#include "v8/code.h"

enum ray_frame_kind {
	RAY_FRAME_NATIVE,
	RAY_FRAME_JS,
	RAY_FRAME_BUILTIN, /* V8's own code: builtins, bytecode handlers */
	RAY_FRAME_STUB,	   /* entry, exit, construct... frames */
	RAY_FRAME_WASM,
	RAY_FRAME_KERNEL, /* not of a thread's own memory: only in stacks of a trace */
};

/* What a frame's name was taken from, beside its code, its function's SharedFunctionInfo and map, and the map of its receiver. */
enum ray_frame_source {
	RAY_NAMED_BY_FUNCTION = 1, /* the JSFunction itself */
	RAY_NAMED_BY_RECEIVER = 2, /* the object itself */
	RAY_NAMED_BY_CALLER = 4,
};

struct ray_frame {
	enum ray_frame_kind kind;
	uint64_t pc, fp, sp;
	const char *function; /* NULL when it has no name; then why says why */
	const char *why;
	/* native */
	const char *symbol; /* as the file has it, mangled; NULL if none */
	uint64_t offset;    /* of pc in the function */
	const char *module; /* path of the file; NULL if none */
	/* js, and builtin functions */
	const char *receiver_class; /* "Server"; NULL when called without a receiver */
	bool is_construct;	    /* called with new */
	enum ray_v8_tier tier;
	bool inlined; /* into the frame that follows */
	const char *file;
	int line, column;	      /* 0 when not known */
	bool is_definition;	      /* line and column are where the function starts, not where it is */
	int begin_line, begin_column; /* where it starts in any case; 0 when not known */
	uint64_t shared, script, js_function, receiver, args;
	int argc; /* -1 when not known */
	/* wasm */
	int wasm_index;	     /* of the function; -1 when not known */
	int64_t wasm_offset; /* in the module's bytes; -1 when not known */
	/* of a recorded stack */
	uint32_t number;  /* of the recorded frame that it was found in */
	bool is_known;	  /* stands for those that were named before */
	uint8_t named_by; /* bits of enum ray_frame_source */
};

struct ray_stack {
	const struct ray_thread *thread;
	struct ray_role_info role;
	bool wanted;		  /* false: PID/TID named another thread, nothing was walked */
	struct ray_frame *frames; /* innermost first */
	size_t count;
	size_t unnamed;	  /* frames of JavaScript or V8 without a name */
	size_t no_symbol; /* native ones */
	enum ray_walk_end end;
	bool ended; /* since it was stopped: what was named after that may be gone */
	bool guessed_fp;
	bool is_deoptimizing; /* V8 was replacing a frame: its callers cannot be told */
};

struct ray_stacks {
	struct ray_js *js;
	struct ray_arena *arena;
	struct ray_freeze_report report;
	struct ray_stack *at; /* of all threads, the main thread first */
	size_t count;
};

/* t stays the caller's and must outlive the result. */
RAY_MUST_USE struct ray_error *ray_stacks_take(struct ray_target *t, bool nonblocking, struct ray_stacks **ret);
void ray_stacks_free(struct ray_stacks *s);
RAY_DEFINE_AUTO(ray_stacks, ray_stacks_free)

/* "Server.handle", "new Server", "parse": a JS frame's name as node itself would print it. */
void ray_frame_js_name(const struct ray_frame *f, struct ray_text *out);

#endif
