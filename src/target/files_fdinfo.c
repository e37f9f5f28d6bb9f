/* files_fdinfo.c - reads the text of /proc/PID/fdinfo/FD. Pure; see files.h.
 * SPDX-License-Identifier: MIT
 *
 * A line is "key: value". What one descriptor type writes is a row below; an epoll with thousands
 * of members writes one "tfd:" line for each. */
#include "target/files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void parse_pos(const char *value, struct ray_fdinfo *info)
{
	info->pos = strtoull(value, NULL, 10);
}

static void parse_flags(const char *value, struct ray_fdinfo *info)
{
	info->flags = (uint32_t)strtoul(value, NULL, 8);
	info->has_flags = true;
}

static void parse_count(const char *value, struct ray_fdinfo *info)
{
	info->count = strtoull(value, NULL, 16);
	info->has_count = true;
}

static void parse_clock(const char *value, struct ray_fdinfo *info)
{
	info->timer_clock = (int)strtol(value, NULL, 10);
	info->has_timer = true;
}

static uint64_t parse_timespec(const char *value)
{
	uint64_t seconds, ns;

	if (sscanf(value, " (%" SCNu64 ", %" SCNu64 ")", &seconds, &ns) != 2 || seconds > UINT64_MAX / 2000000000)
		return 0;
	return seconds * 1000000000 + ns;
}

static void parse_value(const char *value, struct ray_fdinfo *info)
{
	info->timer_ns = parse_timespec(value);
}

static void parse_interval(const char *value, struct ray_fdinfo *info)
{
	info->period_ns = parse_timespec(value);
}

static void parse_watched(const char *value, struct ray_fdinfo *info)
{
	(void)value;
	info->watched++;
	info->has_watched = true;
}

static void parse_sigmask(const char *value, struct ray_fdinfo *info)
{
	info->sigmask = strtoull(value, NULL, 16);
}

static void parse_pid(const char *value, struct ray_fdinfo *info)
{
	info->pid = (int)strtol(value, NULL, 10);
}

static const struct {
	const char *key;
	void (*parse)(const char *value, struct ray_fdinfo *info);
} rows[] = {
	{ "pos:", parse_pos },
	{ "flags:", parse_flags },
	{ "eventfd-count:", parse_count },
	{ "clockid:", parse_clock },
	{ "it_value:", parse_value },
	{ "it_interval:", parse_interval },
	{ "tfd:", parse_watched },
	{ "inotify wd:", parse_watched },
	{ "fanotify ino:", parse_watched },
	{ "fanotify mnt_id:", parse_watched },
	{ "fanotify sdev:", parse_watched },
	{ "sigmask:", parse_sigmask },
	{ "Pid:", parse_pid },
};

void ray_fdinfo_parse(const char *text, struct ray_fdinfo *ret)
{
	const char *line, *end;
	size_t i, length;

	memset(ret, 0, sizeof(*ret));
	for (line = text; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		for (i = 0; i < RAY_COUNT(rows); i++) {
			length = strlen(rows[i].key);
			if (!strncmp(line, rows[i].key, length)) {
				rows[i].parse(line + length, ret);
				break;
			}
		}
	}
}
