/* walk_memory.bpf.h - what the walker keeps: a piece of the stack, and what it found out about places in code. SPDX-License-Identifier: MIT
 *
 * A read of the process's memory costs the same for eight bytes as for a page, so the stack is read in large pieces, upwards, as the walk goes. The
 * same places in code come again in sample after sample: how to leave them is looked up once, in a table that is small enough to stay in the
 * processor's cache, which the rows of a large program are not. */
#ifndef RAY_KERN_WALK_MEMORY_BPF_H
#define RAY_KERN_WALK_MEMORY_BPF_H

#include "kern/base.bpf.h"

static int ray_walk_read(void *memory, void *to, __u64 size, __u64 address);

#define RAY_WALK_READ(memory, to, size, address) ray_walk_read(memory, to, size, address)
#include "kern/unwind.h"

enum {
	RAY_PAGE = 1 << RAY_PAGE_SHIFT,
	RAY_WINDOW = 4096,	  /* bytes of the stack at once, if they are known to be needed */
	RAY_WINDOW_USUAL = 1024,  /* if not */
	RAY_WINDOW_FAR = 8 << 20, /* a root farther away is that of another stack */
	RAY_WINDOW_SPARE = 256,	  /* what is copied out of it at most */
	RAY_ROOT_ROOM = 191,	  /* what may be read above the last frame */
	RAY_KNOWN_MAPS = 8,
	RAY_KNOWN_CONTEXTS = 16,
	RAY_LINE_SHIFT = 6,
	RAY_LINE = 1 << RAY_LINE_SHIFT, /* of code: what is learnt of a place holds for most of the others in it */
	RAY_PLACES = 2048,		/* of code that are remembered */
};

/* How a place in code is left: the row that covers it, and what else is known of it. */
struct ray_leave {
	__u8 flags;	  /* enum ray_place_flag */
	__u8 first, last; /* bytes of the line around it that this holds for */
	__u8 pad;
	__u16 cfa;
	__u8 kind, saved;
};

enum ray_place_flag {
	RAY_PLACE_IS_KNOWN = 1, /* in some range */
	RAY_PLACE_IS_V8 = 2,
	RAY_PLACE_HAS_ROW = 4,
	RAY_PLACE_REPLACES = 8, /* a call of the builtin that replaces frames */
};

/* Sixteen bytes: four of them in a line of the processor's cache. */
struct ray_known_place {
	__u64 check; /* the line, and the process with its ranges */
	struct ray_leave leave;
};

/* The map of an object that was read in this walk, and the words of the last function: frames of one stack often have the same. */
struct ray_known_map {
	__u64 object, map;
};

struct ray_known_function {
	__u64 object, words[RAY_FUNCTION_WORDS];
};

/* Element of the map stack_scratch: one for each slot. What each frame needs comes first: what lies within 128 bytes takes short instructions, and what
 * lies beyond 32 KiB takes several, of a code that is out of the processor's cache at each sample. */
struct ray_walker {
	struct ray_place at;
	__u64 hash;
	__u32 count, bytes; /* of frames, as in the record */
	__u32 wanted;
	__u32 functions; /* where the last frame with a function begins, + 1; 0: there is none */
	__u64 window_start, window_size;
	__u64 gap_start, gap_end;   /* between two ranges, where something was found last: generated code */
	__u64 tag;		    /* tells the process and its ranges from others in `places` */
	__u64 returns;		    /* the kernel's list of hijacked return addresses, from here on */
	__u32 is_known;		    /* there is an entry for the process, as it is since its exec */
	__u32 below_left;	    /* frames that may still have what lies below them */
	struct ray_process process; /* of this tgid, as it was after so many changes of them all */
	__u64 process_changes;
	__u32 process_tgid;
	__u32 has_process;	       /* there is an entry for it */
	struct ray_unwind_range range; /* the last one found */
	__u64 ranges_tag;	       /* whose that and the gap are */
	__u64 contexts_tag;	       /* as `tag`, in `contexts`, with the epoch */
	__u64 trampoline;	       /* what stands in the place of hijacked return addresses */
	__u64 root;		       /* where the last walk that came to a root has ended */
	struct ray_leave leave;	       /* of the place that was looked up last */
	struct ray_known_function function;
	struct ray_known_map maps[RAY_KNOWN_MAPS]; /* of receivers */
	struct ray_known_map contexts[RAY_KNOWN_CONTEXTS];
	char window[RAY_WINDOW + RAY_WINDOW_SPARE];
	struct ray_record_stack record;
	char frames[RAY_STACK_BYTES]; /* the record's: they follow it */
	struct ray_known_place places[RAY_PLACES];
};

_Static_assert(sizeof(struct ray_walker) <= RAY_WALKER_SIZE, "scratch");

/* A part of the walker that the verifier looks at once, on its own, and not again for each way that leads to it. It may be given NULL
 * for all the verifier knows. */
#define RAY_WALK_PART __attribute__((noinline))

/* Reads the piece of the stack that begins near address: to where the last walk has ended, if that is near, as it mostly is of the same thread; else some
 * frames' length. Or to the end of the page if what follows is not there. */
static __always_inline int ray_walk_refill(struct ray_walker *w, __u64 address)
{
	__u64 start = address & ~63ULL, size;

	if (!w)
		return 0;
	size = w->root - start;
	if (size > RAY_WINDOW_FAR || size < 64)
		size = RAY_WINDOW_USUAL;
	else if (size > RAY_WINDOW)
		size = RAY_WINDOW;
	w->window_start = start;
	w->window_size = size;
	if (!bpf_probe_read_user(w->window, size, (void *)start))
		return 1;
	size = RAY_PAGE - (start & (RAY_PAGE - 1));
	w->window_size = size;
	if (size <= RAY_WINDOW && !bpf_probe_read_user(w->window, size, (void *)start))
		return 1;
	w->window_size = 0;
	return 0;
}

/* The same if what is asked for, `size` bytes at address, can be had there then. */
RAY_WALK_PART int ray_walk_move(struct ray_walker *w, __u64 address, __u64 size)
{
	__u64 at;

	if (!w || !ray_walk_refill(w, address))
		return 0;
	at = address - w->window_start;
	return at < w->window_size && w->window_size - at >= size;
}

/* Memory of the stack, by words: size is a constant and a multiple of 8, at most RAY_WINDOW_SPARE. */
static __always_inline int ray_walk_read(void *memory, void *to, __u64 size, __u64 address)
{
	struct ray_walker *w = memory;
	__u64 at = address - w->window_start, *words = to;

	if (at >= w->window_size || w->window_size - at < size) {
		if (!ray_walk_move(w, address, size))
			return bpf_probe_read_user(to, size, (void *)address);
		at = address - w->window_start;
	}
	/* As it is; said once more to the verifier. */
	RAY_OPAQUE(at);
	if (at >= RAY_WINDOW)
		return 1;
	for (__u64 i = 0; i < size / 8; i++)
		words[i] = ray_word_at(&w->window[at + 8 * i]);
	return 0;
}

#endif
