/* fuzz_files.c - the note on open files, the kernel's texts, and libuv's loops, from random bytes.
 * SPDX-License-Identifier: MIT
 *
 * The first byte chooses which. For a loop the bytes are memory at an address that they name. */
#include <stdio.h>
#include <string.h>

#include "target/files.h"
#include "target/uv.h"
#include "target/uv_layout.h"
#include "view/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
	uint64_t base;
	const uint8_t *bytes;
	size_t size;
};

static size_t read_memory(void *arg, uint64_t address, void *buffer, size_t size)
{
	const struct memory *m = arg;

	if (address < m->base || address - m->base >= m->size)
		return 0;
	if (size > m->size - (address - m->base))
		size = m->size - (address - m->base);
	memcpy(buffer, m->bytes + (address - m->base), size);
	return size;
}

static void fuzz_loop(const uint8_t *data, size_t size)
{
	struct memory m = { 0x10000, data, size };
	const struct ray_reader reader = { read_memory, &m };
	ray_auto_memory uint8_t *patched = NULL;
	struct ray_arena *arena = ray_arena_create();
	struct ray_uv_loop loop;
	uint64_t word = m.base;
	uint32_t type;

	/* The two handles that make it a loop; the rest is up to the fuzzer. */
	patched = calloc(1, size + UV_LOOP_SIZE);
	if (!patched || !arena) {
		ray_arena_free(arena);
		return;
	}
	memcpy(patched, data, size);
	m.bytes = patched;
	m.size = size + UV_LOOP_SIZE;
	memcpy(patched + UV_LOOP_WQ_ASYNC + UV_HANDLE_LOOP, &word, 8);
	memcpy(patched + UV_LOOP_CHILD_WATCHER + UV_HANDLE_LOOP, &word, 8);
	type = RAY_UV_ASYNC;
	memcpy(patched + UV_LOOP_WQ_ASYNC + UV_HANDLE_TYPE, &type, 4);
	type = RAY_UV_SIGNAL;
	memcpy(patched + UV_LOOP_CHILD_WATCHER + UV_HANDLE_TYPE, &type, 4);
	(void)ray_uv_read_loop(&reader, m.base, arena, &loop);
	ray_arena_free(arena);
}

static void fuzz_note(const char *text)
{
	ray_auto(ray_files, files) = NULL;
	ray_auto(ray_error, err) = ray_files_from_json(text, &files);
	ray_auto_memory char *shown = NULL;
	size_t length;
	FILE *out;

	if (err)
		return;
	json_decref(ray_files_to_json(files));
	json_decref(ray_view_files_summary_json(files));
	out = open_memstream(&shown, &length);
	if (!out)
		return;
	ray_view_files(files, 80, out);
	ray_view_files_verbose(files, out);
	ray_view_files_summary(files, out);
	fclose(out);
}

static void fuzz_lines(const char *text)
{
	static const char *const tables[] = { "tcp", "tcp6", "unix", "netlink", "packet" };
	struct ray_arena *arena = ray_arena_create();
	struct ray_fdinfo info;
	struct ray_socket s;
	size_t i;

	for (i = 0; arena && i < RAY_COUNT(tables); i++)
		(void)ray_sockets_parse_line(tables[i], text, &s, arena);
	ray_fdinfo_parse(text, &info);
	ray_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ray_auto_memory char *text = NULL;

	if (!size)
		return 0;
	if (data[0] == 'L') {
		fuzz_loop(data + 1, size - 1);
		return 0;
	}
	text = strndup((const char *)data + 1, size - 1);
	if (!text)
		return 0;
	if (data[0] == 'N')
		fuzz_note(text);
	else
		fuzz_lines(text);
	return 0;
}
