/* fact.h - what a script tells its view: one printf(), or one row of a printa(), as named values.
 * SPDX-License-Identifier: MIT
 *
 * The script's format names them: printf("http pid=%d url=%s\n", pid, this->url) is the fact "http" with the fields pid and
 * url, and printa("call name=%s count=%@d time=%@d\n", @calls, @times) is a row "call" for each key. The same format is what
 * `noderay trace -s` prints, so a script can be read, run and changed without its view. Pure: data, and ways to ask for it. */
#ifndef RAY_VIEW_FACT_H
#define RAY_VIEW_FACT_H

#include "stack/stack.h"
#include "view/format.h"
#include "view/histogram.h"

/* One frame. Each is kept once: the same place is the same pointer as long as the stack's generation is the same. Texts are safe for a terminal. */
struct ray_fact_frame {
	enum ray_frame_kind kind;
	/* "Server.handle", "new Server", "v8::internal::Heap::Scavenge()", "ArrayMap", "do_syscall_64"; NULL: it has no name. */
	const char *function;
	const char *base; /* JavaScript: the same without class and new: "handle"; else as function */
	const char *file; /* of JavaScript and wasm: as node has it; NULL if there is none */
	const char
		*module;  /* path of the binary; of the kernel: "vmlinux" or the module's name; NULL if there is none */
	uint64_t address; /* only of a frame without a name */
	int line, column; /* that runs; 0 when not known */
	int begin_line, begin_column; /* where the function begins; 0 when not known */
	bool is_inlined;	      /* into the frame that follows */
	bool is_plumbing;	      /* V8's own: jstack() leaves it out */
};

/* A whole stack, as it was walked: jstack() does not leave anything out here. */
struct ray_fact_stack {
	uint64_t id;	     /* the same stack has the same, while the generation is the same */
	uint64_t generation; /* counts how often everything was forgotten: frames of another one are gone */
	const struct ray_fact_frame *const *frames; /* innermost first */
	size_t count;
	bool is_cut;	  /* it does not reach the root of its thread */
	bool is_lost;	  /* there was no room for it in a buffer: count is 0 */
	size_t unnamed;	  /* frames of JavaScript or V8 without a name */
	size_t no_symbol; /* native and kernel ones */
};

struct ray_fact_field {
	const char *name; /* "" if the format has none in front of it */
	struct ray_value value;
	const struct ray_histogram *histogram; /* of quantize() and its like, then value is none; NULL: value it is */
	int64_t count, sum;		       /* of avg() and stddev(): what value was made of */
};

enum { RAY_FACT_GUESSES = 256 };

struct ray_fact {
	const char *name;  /* the format's first word: "http" */
	bool is_row;	   /* of a printa() */
	bool is_end;	   /* no row, without fields: all rows of this printa() have been told */
	uint64_t time_ns;  /* when the clause ran, since the epoch */
	uint32_t pid, tid; /* where it ran */
	const struct ray_fact_field *fields;
	size_t count;
	/* RAY_FACT_GUESSES of them, kept from fact to fact of one format: where names were found, by where the asker's own copies lie. They are
	 * only tried first. NULL: none. */
	uint8_t *guesses;
};

bool ray_fact_is(const struct ray_fact *f, const char *name);
const struct ray_fact_field *ray_fact_find(const struct ray_fact *f, const char *name); /* NULL: it has none */
/* Of avg() and stddev(): how many values there were, and what they add up to; false where there is none. */
bool ray_fact_average(const struct ray_fact *f, const char *name, int64_t *count_ret, int64_t *sum_ret);
int64_t ray_fact_number(const struct ray_fact *f, const char *name); /* 0 where there is none */
/* A string, or a stack or symbol as named: lines that end with \n each. "" where there is none. Of stacks not if the view asked for frames only. */
const char *ray_fact_text(const struct ray_fact *f, const char *name);
/* Memory that was copied: *length_ret bytes. NULL where there is none. */
const void *ray_fact_bytes(const struct ray_fact *f, const char *name, size_t *length_ret);
/* A stack as frames; valid during the call, its frames for as long as the generation. NULL: there is none, as in a thread of the kernel. */
const struct ray_fact_stack *ray_fact_stack(const struct ray_fact *f, const char *name);
const struct ray_histogram *ray_fact_histogram(const struct ray_fact *f, const char *name); /* NULL: it has none */

#endif
