/* regions.h - what each mapping of a node is: V8 pages, stacks, malloc, code, files.
 * SPDX-License-Identifier: MIT
 *
 * Joins what src/target knows of mappings and threads, what src/v8 knows of pages, and what the C
 * library leaves at the start of its blocks. A mapping is cut into parts, since the kernel merges
 * neighbours of different use into one. The parts cover every mapping exactly, so sums over them
 * are the sums of the target. Nothing is stopped; what cannot be told is "anonymous memory". */
#ifndef RAY_STACK_REGIONS_H
#define RAY_STACK_REGIONS_H

#include "target/node.h"
#include "target/target.h"
#include "target/usage.h"
#include "v8/heap.h"

/* kind, group, JSON name, what a person reads */
#define RAY_REGION_KINDS(X)                                                             \
	X(ANONYMOUS, OTHER, "anonymous", "anonymous memory")                            \
	X(V8_PAGE, V8, "v8-page", "V8")                                                 \
	X(EXTERNAL, EXTERNAL, "external", "array buffer or external string")            \
	X(WASM_MEMORY, EXTERNAL, "wasm-memory", "wasm memory")                          \
	X(BRK, NATIVE, "malloc-heap", "malloc heap")                                    \
	X(ARENA, NATIVE, "malloc-arena", "malloc arena")                                \
	X(BLOCK, NATIVE, "malloc-block", "large malloc block")                          \
	X(BUILTINS, CODE, "builtins", "embedded builtins")                              \
	X(CODE_RANGE, CODE, "code-range", "V8 code range, not in use")                  \
	X(JIT, CODE, "jit", "executable memory (wasm code, trampolines)")               \
	X(TEXT, CODE, "node-text", "node code")                                         \
	X(LIBRARY_TEXT, CODE, "library-text", "library code")                           \
	X(STACK, STACKS, "stack", "stack")                                              \
	X(STACK_GUARD, STACKS, "stack-guard", "guard below stack")                      \
	X(NODE_DATA, FILES, "node-data", "node data")                                   \
	X(ICU, FILES, "icu", "ICU data")                                                \
	X(LIBRARY_DATA, FILES, "library-data", "library data")                          \
	X(FILE, FILES, "file", "file")                                                  \
	X(BSS, NATIVE, "bss", "static data (bss)")                                      \
	X(V8_TABLE, OTHER, "v8-table", "V8 dispatch table")                             \
	X(SHARED, OTHER, "shared-memory", "shared memory")                              \
	X(IO_URING, OTHER, "io_uring", "io_uring ring")                                 \
	X(KERNEL, OTHER, "kernel", "kernel")                                            \
	X(ARENA_RESERVED, RESERVED, "malloc-arena-reserved", "malloc arena, reserved")  \
	X(CODE_RESERVED, RESERVED, "code-range-reserved", "V8 code range, reserved")    \
	X(WASM_RESERVED, RESERVED, "wasm-memory-reserved", "wasm memory, reserved")     \
	X(TABLE_RESERVED, RESERVED, "v8-table-reserved", "V8 dispatch table, reserved") \
	X(RESERVED, RESERVED, "reserved", "reserved address space")

enum ray_region_kind {
#define X(kind, group, json, text) RAY_REGION_##kind,
	RAY_REGION_KINDS(X)
#undef X
		RAY_REGION_KIND_COUNT
};

/* In the order of the summary. */
enum ray_region_group {
	RAY_GROUP_V8,
	RAY_GROUP_EXTERNAL,
	RAY_GROUP_NATIVE,
	RAY_GROUP_CODE,
	RAY_GROUP_STACKS,
	RAY_GROUP_FILES,
	RAY_GROUP_OTHER,
	RAY_GROUP_RESERVED,
	RAY_GROUP_COUNT
};

enum ray_region_group ray_region_group(enum ray_region_kind kind);
const char *ray_region_kind_name(enum ray_region_kind kind); /* for JSON */
const char *ray_region_kind_text(enum ray_region_kind kind);
const char *ray_region_group_name(enum ray_region_group group);
const char *ray_region_group_text(enum ray_region_group group);

/* A piece of one mapping that is all of one kind. */
struct ray_part {
	uint64_t start, end;
	enum ray_region_kind kind;
	enum ray_v8_space space; /* V8_PAGE */
	uint64_t heap;		 /* V8_PAGE: whose */
	int tid;		 /* STACK, STACK_GUARD */
	size_t count;		 /* V8 pages or malloc blocks that begin in it */
	struct ray_usage usage;
	uint64_t dumped; /* core: bytes that the core holds */
};

struct ray_region {
	const struct ray_map *map;
	struct ray_usage usage;
	const struct ray_part *parts; /* by address; they cover the mapping */
	size_t part_count;
};

/* Who an isolate belongs to. */
struct ray_owner {
	uint64_t heap;
	int tid;       /* the thread that is in it; 0 if that could not be told */
	int worker;    /* its threadId; -1 if none or not known */
	char text[32]; /* "main", "worker 2", "isolate 2", "shared" */
};

struct ray_regions;

/* node may be NULL: the binary is unknown, so V8's version is guessed from its pages. t must stay
 * open. */
RAY_MUST_USE struct ray_error *ray_regions_create(struct ray_target *t, const struct ray_node *node,
						  struct ray_regions **ret);
void ray_regions_free(struct ray_regions *r);
RAY_DEFINE_AUTO(ray_regions, ray_regions_free)

const struct ray_region *ray_regions_list(const struct ray_regions *r, size_t *count_ret);
const struct ray_v8_heap *ray_regions_heap(const struct ray_regions *r);
const struct ray_owner *ray_regions_owners(const struct ray_regions *r, size_t *count_ret);
/* What a thread is for: "libuv pool worker 1"; "" if there is no such thread. */
const char *ray_regions_thread_text(const struct ray_regions *r, int tid);
const char *ray_regions_owner_text(const struct ray_regions *r, uint64_t heap);
bool ray_regions_has_usage(const struct ray_regions *r); /* false: a core without that note */
/* What could not be told, one sentence each; NULL-ended. */
const char *const *ray_regions_notes(const struct ray_regions *r);

#endif
