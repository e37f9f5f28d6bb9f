/* fuzz_cmdline.c - texts that /proc hands out, and code that a binary holds: any bytes. SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "stack/isolate.h"
#include "target/container.h"
#include "target/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	ray_auto(ray_arena, arena) = ray_arena_create();
	ray_auto_memory char *text = malloc(size + 1);
	struct ray_container container;
	struct ray_script script;
	int64_t value, extra;

	if (!arena || !text)
		return 0;
	memcpy(text, bytes, size);
	text[size] = '\0';
	ray_script_parse(text, size, size & 1, arena, &script);
	ray_container_parse(text, &container);
	ray_isolate_decode(bytes, size, 0x1000, &value, &extra);
	return 0;
}
