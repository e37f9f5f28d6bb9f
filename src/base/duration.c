/* duration.c - see duration.h. SPDX-License-Identifier: MIT */
#include "base/duration.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "ns", 1 },	     { "us", 1000 },	   { "ms", 1000000 },
	{ "s", 1000000000 }, { "m", 60000000000 }, { "h", 3600000000000 },
};

bool ray_duration_parse(const char *text, uint64_t unit_ns, uint64_t *ret)
{
	double number;
	char *end;

	if (!isdigit((unsigned char)text[0]) && (text[0] != '.' || !isdigit((unsigned char)text[1])))
		return false; /* strtod() takes more: blanks, signs, "inf" */
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return false;
	number = strtod(text, &end);
	for (size_t i = 0; *end && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].name) == 0) {
			unit_ns = units[i].ns;
			end += strlen(end);
		}
	}
	number *= (double)unit_ns;
	if (*end || !isfinite(number) || number > (double)INT64_MAX)
		return false;
	*ret = (uint64_t)(number + 0.5);
	return true;
}

/* ns / unit, rounded to so many digits behind the point: in units of 10^-digits. Without them nothing can be too large. */
static uint64_t rounded(uint64_t ns, uint64_t unit, int digits)
{
	for (int i = 0; i < digits; i++)
		ns *= 10;
	return ns / unit + (ns % unit >= unit - unit / 2);
}

const char *ray_duration_format(uint64_t ns, char out[24])
{
	static const struct unit shown[] = { { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	uint64_t unit, value;
	int digits;
	size_t i = 0;

	if (ns < 1000) {
		snprintf(out, 24, "%uns", (unsigned int)ns);
		return out;
	}
	/* 999.5us and more are shown as 1.00ms. */
	while (i < 2 && ns >= shown[i].ns / 10 * 9995)
		i++;
	unit = shown[i].ns;
	digits = ns < unit / 1000 * 9995 ? 2 : ns < unit / 100 * 9995 ? 1 : 0;
	value = rounded(ns, unit, digits);
	if (digits == 2)
		snprintf(out, 24, "%u.%02u%s", (unsigned int)(value / 100), (unsigned int)(value % 100), shown[i].name);
	else if (digits)
		snprintf(out, 24, "%u.%u%s", (unsigned int)(value / 10), (unsigned int)(value % 10), shown[i].name);
	else
		snprintf(out, 24, "%" PRIu64 "%s", value, shown[i].name);
	return out;
}
