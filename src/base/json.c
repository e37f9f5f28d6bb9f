/* json.c - see json.h. SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
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

void ray_json_print(json_t *value)
{
	if (value)
		json_dumpf(value, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(value);
}
