/* head.c - see head.h. SPDX-License-Identifier: MIT */
#include "profile/head.h"

#include <inttypes.h>
#include <string.h>

#include "base/version.h"
#include "profile/json_out.h"
#include "profile/reading.h"

/* One row for each: its key, and where it is. */
#define TEXTS(X) X(title) X(event) X(command) X(host) X(node_version)
#define NUMBERS(X) X(start_ns) X(duration_ns) X(period_ns) X(lost_samples) X(cut_stacks) X(unnamed_frames)

void ray_profile_head_write(const struct ray_profile *p, FILE *out)
{
	fprintf(out, "{\"version\":\"%s\",\"unit\":\"%s\",\"has_times\":%s", RAY_VERSION,
		ray_profile_unit_word(p->unit), p->has_times ? "true" : "false");
#define TEXT(name) ray_json_out_member(out, #name, p->name);
	TEXTS(TEXT)
	/* As texts: nanoseconds since the epoch are more than a number in JSON holds. */
#define NUMBER(name) \
	if (p->name) \
		fprintf(out, ",\"" #name "\":\"%" PRIu64 "\"", p->name);
	NUMBERS(NUMBER)
	putc('}', out);
}

static void read_unit(struct ray_profile *p, const char *word)
{
	for (int i = 0; i <= RAY_UNIT_COUNT; i++)
		if (!strcmp(word, ray_profile_unit_word((enum ray_profile_unit)i)))
			p->unit = (enum ray_profile_unit)i;
}

/* Digits, all of them; anything else is 0. */
static uint64_t read_number(const char *digits)
{
	uint64_t value = 0;

	if (strlen(digits) > 19 || digits[strspn(digits, "0123456789")])
		return 0;
	for (; *digits; digits++)
		value = value * 10 + (uint64_t)(*digits - '0');
	return value;
}

void ray_profile_head_read(struct ray_pull *j, struct ray_profile *p)
{
	struct ray_pull_text key, value;

	for (ray_pull_object(j); ray_pull_key(j, &key);) {
		if (!strcmp(key.bytes, "has_times")) {
			p->has_times = ray_pull_peek(j) == 't';
			ray_pull_skip(j);
			continue;
		}
		value = ray_pull_text(j);
		if (!strcmp(key.bytes, "unit"))
			read_unit(p, value.bytes);
#define READ_TEXT(name)                \
	if (!strcmp(key.bytes, #name)) \
		p->name = ray_reading_text(p, value.bytes, value.length);
		TEXTS(READ_TEXT)
#define READ_NUMBER(name)              \
	if (!strcmp(key.bytes, #name)) \
		p->name = read_number(value.bytes);
		NUMBERS(READ_NUMBER)
	}
}
