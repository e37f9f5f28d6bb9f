/* recorder_heap.c - which heap it is that grows, as the stack tells. See recorder.h. SPDX-License-Identifier: MIT */
#include <string.h>

#include "view/recorder_internal.h"

/* Functions that take memory for something, innermost first in the stack; the first frame that has one of them decides. */
static const struct {
	const char *start, *heap;
} rows[] = {
	{ "v8::internal::MemoryAllocator::", "(V8 heap)" },
	{ "v8::internal::CodeRange::", "(V8 heap)" },
	{ "v8::internal::SemiSpace", "(V8 heap)" },
	{ "v8::internal::PagedSpace", "(V8 heap)" },
	{ "v8::internal::NewSpace", "(V8 heap)" },
	{ "v8::internal::LargeObjectSpace", "(V8 heap)" },
	{ "v8::internal::BackingStore::", "(array buffers)" },
	{ "v8::ArrayBuffer::NewBackingStore", "(array buffers)" },
	{ "node::NodeArrayBufferAllocator::", "(array buffers)" },
	{ "node::Buffer::", "(array buffers)" },
	{ "v8::internal::wasm::", "(WebAssembly)" },
	{ "v8::internal::Zone", "(V8 compiler)" },
	{ "v8::internal::AccountingAllocator", "(V8 compiler)" },
	{ "pthread_create", "(stacks of threads)" },
	{ "allocate_stack", "(stacks of threads)" },
};

/* What the C library has for everybody. Only where nothing above says more. */
static const char *const common[] = { "malloc",		"calloc",	 "realloc",	 "aligned_alloc",
				      "posix_memalign", "memalign",	 "operator new", "sysmalloc",
				      "sbrk",		"__libc_malloc", "_int_malloc" };

static const char *row_of(const char *function)
{
	for (size_t i = 0; i < RAY_COUNT(rows); i++)
		if (!strncmp(function, rows[i].start, strlen(rows[i].start)))
			return rows[i].heap;
	return NULL;
}

static bool is_common(const char *function)
{
	for (size_t i = 0; i < RAY_COUNT(common); i++)
		if (!strncmp(function, common[i], strlen(common[i])))
			return true;
	return false;
}

const char *ray_recorder_heap_of(const struct ray_fact_stack *user, bool has_hint)
{
	bool is_native = !has_hint;

	for (size_t i = 0; user && i < user->count; i++) {
		const char *function = user->frames[i]->function, *heap;

		if (!function || user->frames[i]->kind != RAY_FRAME_NATIVE)
			continue;
		heap = row_of(function);
		if (heap)
			return heap;
		is_native |= is_common(function);
	}
	/* Without symbols: of all that is in a node only V8 cares where its memory lies. */
	return is_native ? "(native heap)" : "(V8 heap)";
}
