/* fuzz_wasm.c - WebAssembly modules, and V8's objects around them, with anything in them.
 * SPDX-License-Identifier: MIT
 *
 * The input is a stretch of memory. It is read as a module, and as a heap with an instance at its beginning; a word
 * whose highest byte is 255 is taken as an offset into it, so that pointers come about easily. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "v8/wasm.h"
#include "v8/wasm_bytes.h"

enum { BASE = 0x10000 };

struct image {
	const uint8_t *data;
	size_t size;
};

static size_t read_image(void *arg, uint64_t address, void *buffer, size_t size)
{
	const struct image *m = arg;

	if (address < BASE || address - BASE >= m->size)
		return 0;
	if (size > m->size - (address - BASE))
		size = m->size - (address - BASE);
	memcpy(buffer, m->data + (address - BASE), size);
	return size;
}

static void try_module(const struct ray_reader *r, size_t size)
{
	struct ray_wasm_section body;
	struct ray_wasm_bytes w;
	char name[16];

	if (!ray_wasm_bytes_read(r, BASE, size, &w))
		return;
	ray_wasm_bytes_module_name(&w, name, sizeof(name));
	for (uint32_t i = 0; i < 4; i++) {
		if (ray_wasm_bytes_function_name(&w, i, name, sizeof(name)) && strlen(name) >= sizeof(name))
			abort();
		ray_wasm_bytes_export_name(&w, i, name, sizeof(name));
		if (ray_wasm_bytes_body(&w, i, &body) && (body.offset > size || body.size > size - body.offset))
			abort();
	}
	ray_wasm_bytes_deinit(&w);
}

static void try_heap(const struct ray_reader *r, bool flags)
{
	struct ray_wasm_layout layout = { .map_instance_type = 12, .script_type = 1, .position_flags = flags };
	ray_auto(ray_wasm, w) = ray_wasm_create(r, &layout);
	struct ray_wasm_frame frame;

	if (w && ray_wasm_find(w, BASE + 1, BASE + 0x100, false, &frame) &&
	    (!frame.count || frame.count > RAY_WASM_MAX_INLINED + 1))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image m = { data, size };
	struct ray_reader r = { read_image, &m };
	uint8_t *heap;

	try_module(&r, size);
	heap = malloc(size + 1);
	if (!heap)
		return 0;
	memcpy(heap, data, size);
	for (size_t i = 0; i + 8 <= size; i += 8) {
		uint64_t word;

		memcpy(&word, heap + i, 8);
		word = (word & 0xffff) + BASE;
		if (heap[i + 7] == 255)
			memcpy(heap + i, &word, 8);
	}
	m.data = heap;
	try_heap(&r, size & 1);
	free(heap);
	return 0;
}
