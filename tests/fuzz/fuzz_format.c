/* fuzz_format.c - any text as a format, printed with values of every kind. SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "view/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char text[] = "some text\nof two lines\n";
static const long double number = 1.25L;

static const struct ray_value kinds[] = {
	{ .kind = RAY_VALUE_INTEGER, .integer = (uint64_t)-3, .size = 4, .is_signed = true },
	{ .kind = RAY_VALUE_STRING, .bytes = text, .length = sizeof(text) - 1, .size = 256 },
	{ .kind = RAY_VALUE_BYTES, .bytes = text, .size = sizeof(text) - 1, .is_char = true },
	{ .kind = RAY_VALUE_FLOAT, .bytes = &number, .size = sizeof(number) },
	{ .kind = RAY_VALUE_USTACK, .bytes = text, .length = sizeof(text) - 1 },
	{ .kind = RAY_VALUE_SYMBOL, .bytes = text, .length = 4 },
	{ .kind = RAY_VALUE_AGGREGATION, .bytes = text, .length = 4 },
	{ .kind = RAY_VALUE_STRING },
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	ray_auto(ray_arena, arena) = ray_arena_create();
	struct ray_value values[16];
	struct ray_format *f;
	ray_auto_text out = { 0 };
	const char *tag;

	if (!arena || size < 1)
		return 0;
	for (size_t i = 0; i < 16; i++)
		values[i] = kinds[(bytes[0] + i * 5) % (sizeof(kinds) / sizeof(kinds[0]))];
	ray_auto(ray_error, err) = ray_format_parse(arena, (const char *)bytes + 1, size - 1, &f, &tag);
	if (err)
		return 0;
	/* Any conversion with any value: the checker keeps them apart, a damaged record may not. Wide ones only cost time. */
	for (size_t i = 0; i < f->count; i++)
		if (f->at[i].width > 4096 || f->at[i].precision > 4096)
			return 0;
	ray_format_print(f, values, 16, &out);
	return 0;
}
