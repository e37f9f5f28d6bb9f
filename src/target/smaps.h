/* smaps.h - what the kernel counts for each mapping: resident, dirty, swapped bytes.
 * SPDX-License-Identifier: MIT
 *
 * From /proc/PID/smaps of a process, or from the note "maps" that noderay leaves in a core: an object
 *   {"columns":["start","end","mode","name","rss","dirty","anonymous","swap","flags"],"rows":[[...]...]}
 * with addresses as hex strings and bytes as numbers. Reading it walks the target's page tables (some 15 ms
 * for each GiB) but does not stop it. The note is foreign bytes: every cell is checked. */
#ifndef RAY_TARGET_SMAPS_H
#define RAY_TARGET_SMAPS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

/* Of the kernel's VmFlags, those that matter to somebody here. */
enum ray_smap_flag {
	RAY_SMAP_DONTDUMP = 1 << 0,   /* dd: madvise(MADV_DONTDUMP) */
	RAY_SMAP_IO = 1 << 1,	      /* io: device memory; reading it can have effects */
	RAY_SMAP_PFNMAP = 1 << 2,     /* pf: pages without struct page; cannot be read */
	RAY_SMAP_DONTCOPY = 1 << 3,   /* dc: not there in a forked child */
	RAY_SMAP_WIPEONFORK = 1 << 4, /* wf: zeros in a forked child */
	RAY_SMAP_HUGETLB = 1 << 5,    /* ht */
};

struct ray_smap {
	uint64_t start, end;
	char mode[5];			      /* "rw-p" */
	const char *name;		      /* "" when anonymous */
	uint64_t rss, dirty, anonymous, swap; /* bytes */
	unsigned flags;
};

struct ray_smaps {
	struct ray_arena *arena;
	struct ray_smap *at; /* by address */
	size_t n;
};

RAY_MUST_USE struct ray_error *ray_smaps_read(int pid, struct ray_smaps **ret);
/* text is changed. */
RAY_MUST_USE struct ray_error *ray_smaps_parse(char *text, struct ray_smaps **ret);
RAY_MUST_USE struct ray_error *ray_smaps_from_json(const char *text, struct ray_smaps **ret);
json_t *ray_smaps_to_json(const struct ray_smaps *s); /* NULL when there is no memory */
/* The one that holds address; NULL if none does. */
const struct ray_smap *ray_smaps_find(const struct ray_smaps *s, uint64_t address);
void ray_smaps_free(struct ray_smaps *s);
RAY_DEFINE_AUTO(ray_smaps, ray_smaps_free)

#endif
