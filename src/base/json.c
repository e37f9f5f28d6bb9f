/* json.c - see json.h. SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

json_t *ray_json_text(const char *text)
{
	ray_auto_text safe = { 0 };
	json_t *value;

	if (!text)
		return json_null();
	value = json_string(text);
	if (value)
		return value;
	ray_text_add_safe(&safe, text, strlen(text));
	return json_string(ray_text_get(&safe));
}

json_t *ray_json_hex(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	return json_string(text);
}

/* JSON lets DEL and U+0080 to U+009F stand as they are, but a terminal may obey them. Only strings can hold them. */
static void print_escaped(const char *text, FILE *out)
{
	const unsigned char *p;

	for (p = (const unsigned char *)text; *p; p++) {
		if (*p == 0x7f) {
			fputs("\\u007F", out);
		} else if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0) {
			fprintf(out, "\\u00%02X", p[1]);
			p++;
		} else {
			putc(*p, out);
		}
	}
}

void ray_json_print(json_t *value)
{
	/* Sixteen digits: microseconds of the time of day, and no 0.0076309999999999998. */
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(16)) : NULL;

	if (text)
		print_escaped(text, stdout);
	putchar('\n');
	free(text);
	json_decref(value);
}
