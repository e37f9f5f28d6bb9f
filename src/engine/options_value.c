/* options_value.c - see options_value.h. SPDX-License-Identifier: MIT */
#include "engine/options_value.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool parse_u64(const char *text, char **end, uint64_t *ret)
{
	while (isspace((unsigned char)*text))
		text++;
	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*ret = strtoull(text, end, 0);
	return errno == 0 && *ret <= INT64_MAX;
}

bool ray_option_parse_size(const char *text, uint64_t *ret)
{
	static const char units[] = "kmgt";
	const char *unit;
	uint64_t n;
	char *end;
	int shift = 0;

	if (!parse_u64(text, &end, &n))
		return false;
	if (*end) {
		unit = strchr(units, tolower((unsigned char)*end));
		if (!unit || end[1])
			return false;
		shift = 10 * (int)(unit - units + 1);
	}
	if (n > (uint64_t)INT64_MAX >> shift)
		return false;
	*ret = n << shift;
	return true;
}

bool ray_option_parse_rate(const char *text, uint64_t *ret)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "", 1 },
		{ "ns", 1 },
		{ "nsec", 1 },
		{ "us", 1000 },
		{ "usec", 1000 },
		{ "ms", 1000000 },
		{ "msec", 1000000 },
		{ "s", 1000000000 },
		{ "sec", 1000000000 },
		{ "m", 60000000000 },
		{ "min", 60000000000 },
		{ "h", 3600000000000 },
		{ "hour", 3600000000000 },
		{ "d", 86400000000000 },
		{ "day", 86400000000000 },
		{ "hz", 0 },
	};
	uint64_t n;
	char *end;

	if (!parse_u64(text, &end, &n))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcasecmp(units[i].name, end) != 0)
			continue;
		if (!units[i].ns)
			*ret = n ? 1000000000 / n : 0;
		else if (__builtin_mul_overflow(n, units[i].ns, ret))
			return false;
		return true;
	}
	return false;
}

/* Words or a number. is_set is false for "no" and its like: the default again. */
bool ray_option_parse_number(const char *text, uint64_t *ret, bool *is_set)
{
	static const char *const words[][2] = { { "yes", "no" },     { "enable", "disable" }, { "enabled", "disabled" },
						{ "true", "false" }, { "on", "off" },	      { "set", "unset" } };
	char *end;

	*is_set = true;
	*ret = 1;
	if (!text)
		return true;
	*is_set = *text != '\0';
	if (!*text)
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(text, words[i][0]) == 0)
			return true;
		if (strcasecmp(text, words[i][1]) == 0) {
			*is_set = false;
			return true;
		}
	}
	return parse_u64(text, &end, ret) && !*end;
}
