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
};

const char *ray_recorder_heap_of(const struct ray_fact_stack *user)
{
	for (size_t i = 0; user && i < user->count; i++) {
		const char *function = user->frames[i]->function;

		for (size_t k = 0; function && user->frames[i]->kind == RAY_FRAME_NATIVE && k < RAY_COUNT(rows); k++)
			if (!strncmp(function, rows[k].start, strlen(rows[k].start)))
				return rows[k].heap;
	}
	return "(native heap)";
}
