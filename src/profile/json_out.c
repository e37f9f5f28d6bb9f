/* json_out.c - see json_out.h. SPDX-License-Identifier: MIT */
#include "profile/json_out.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

void ray_json_add_text(struct ray_text *out, const char *text)
{
	ray_auto_text safe = { 0 };
	const char *at;

	ray_text_add_safe(&safe, text, strlen(text));
	ray_text_add(out, "\"");
	for (at = ray_text_get(&safe); *at;) {
		size_t plain = strcspn(at, "\"\\");

		ray_text_add_bytes(out, at, plain);
		at += plain;
		if (*at) {
			ray_text_add(out, "\\");
			ray_text_add_bytes(out, at++, 1);
		}
	}
	ray_text_add(out, "\"");
	if (safe.failed)
		out->failed = 1;
}

void ray_json_out_text(FILE *out, const char *text)
{
	ray_auto_text own = { 0 };

	ray_json_add_text(&own, text);
	fputs(ray_text_get(&own), out);
}

void ray_json_out_member(FILE *out, const char *key, const char *text)
{
	if (!*text)
		return;
	fprintf(out, ",\"%s\":", key);
	ray_json_out_text(out, text);
}

/* Millions of them: printf takes several times as long. */
void ray_json_out_integer(FILE *out, int64_t value)
{
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char digits[24], *at = digits + sizeof(digits);

	do {
		*--at = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (value < 0)
		*--at = '-';
	fwrite_unlocked(at, 1, (size_t)(digits + sizeof(digits) - at), out);
}

void ray_json_out_us(FILE *out, uint64_t ns)
{
	ray_json_out_integer(out, (int64_t)(ns / 1000));
	if (ns % 1000)
		fprintf(out, ".%03" PRIu64, ns % 1000);
}
