/* container.c - see container.h. SPDX-License-Identifier: MIT */
#include "target/container.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"

/* What stands before the id in its path, most telling first. */
static const struct {
	const char *mark;
	const char *runtime;
} runtimes[] = {
	{ "cri-containerd-", "containerd" },
	{ "cri-containerd:", "containerd" },
	{ "crio-", "cri-o" },
	{ "libpod", "podman" },
	{ "docker", "docker" },
	{ "containerd", "containerd" },
	{ "kubepods", "kubernetes" },
	{ "ecs", "ecs" },
	{ "buildkit", "buildkit" },
};

/* Groups that hold a name instead of an id. */
static const struct {
	const char *mark;
	const char *runtime;
	const char *end; /* a suffix that is no part of the name */
} named[] = {
	{ "/lxc.payload.", "lxc", "" },
	{ "/lxc.payload/", "lxc", "" },
	{ "/lxc/", "lxc", "" },
	{ "/machine.slice/systemd-nspawn@", "nspawn", ".service" },
	{ "/machine.slice/machine-", "nspawn", ".scope" },
};

static void copy(char *out, size_t size, const char *text, size_t length)
{
	if (length >= size)
		length = size - 1;
	memcpy(out, text, length);
	out[length] = '\0';
}

static size_t span_hex(const char *p, size_t length)
{
	size_t n = 0;

	while (n < length && isxdigit((unsigned char)p[n]))
		n++;
	return n;
}

static size_t span_word(const char *p, size_t length)
{
	size_t n = 0;

	while (n < length && isalnum((unsigned char)p[n]))
		n++;
	return n;
}

/* A task of ECS is called by 32 hex digits, a dash and a number: a whole component of the path. */
static size_t span_ecs(const char *p, size_t length)
{
	size_t n = 33;

	if (length < 34 || span_hex(p, 32) != 32 || p[32] != '-')
		return 0;
	while (n < length && isdigit((unsigned char)p[n]))
		n++;
	return n > 33 && (n == length || p[n] == '/') ? n : 0;
}

/* The innermost: containers may lie in containers. */
static const char *last_id(const char *path, size_t length, size_t *length_ret)
{
	const char *found = NULL;
	size_t i = 0, n;

	for (; i < length; i += n ? n : 1) {
		n = span_word(path + i, length - i);
		if (n == 64 && span_hex(path + i, n) == n) {
			found = path + i;
			*length_ret = n;
		} else if (n == 32 && i && path[i - 1] == '/' && span_ecs(path + i, length - i)) {
			n = span_ecs(path + i, length - i);
			found = path + i;
			*length_ret = n;
		}
	}
	return found;
}

static bool parse_id(const char *path, size_t length, struct ray_container *ret)
{
	size_t id_length = 0;
	const char *id = last_id(path, length, &id_length);

	if (!id)
		return false;
	memset(ret, 0, sizeof(*ret));
	copy(ret->id, sizeof(ret->id), id, id_length);
	copy(ret->name, 13, id, id_length);
	for (size_t i = 0; i < RAY_COUNT(runtimes); i++) {
		if (!memmem(path, (size_t)(id - path), runtimes[i].mark, strlen(runtimes[i].mark)))
			continue;
		snprintf(ret->runtime, sizeof(ret->runtime), "%s", runtimes[i].runtime);
		break;
	}
	return true;
}

static bool parse_name(const char *path, size_t length, struct ray_container *ret)
{
	const char *at, *stop;
	size_t n, mark, end;

	for (size_t i = 0; i < RAY_COUNT(named); i++) {
		mark = strlen(named[i].mark);
		at = memmem(path, length, named[i].mark, mark);
		if (!at)
			continue;
		at += mark;
		stop = memchr(at, '/', length - (size_t)(at - path));
		n = (size_t)((stop ? stop : path + length) - at);
		end = strlen(named[i].end);
		if (end && (n <= end || memcmp(at + n - end, named[i].end, end) != 0))
			continue;
		n -= end;
		if (!n)
			continue;
		memset(ret, 0, sizeof(*ret));
		copy(ret->id, sizeof(ret->id), at, n);
		copy(ret->name, sizeof(ret->name), at, n);
		snprintf(ret->runtime, sizeof(ret->runtime), "%s", named[i].runtime);
		return true;
	}
	return false;
}

bool ray_container_parse(const char *cgroup, struct ray_container *ret)
{
	const char *line = cgroup, *path;
	size_t length;

	/* ID:CONTROLLERS:PATH; version 2 has one such line, version 1 one for each hierarchy. */
	for (; *line; line += length + (line[length] == '\n')) {
		length = strcspn(line, "\n");
		path = memchr(line, ':', length);
		path = path ? memchr(path + 1, ':', length - (size_t)(path + 1 - line)) : NULL;
		if (!path)
			continue;
		path++;
		if (parse_id(path, length - (size_t)(path - line), ret) ||
		    parse_name(path, length - (size_t)(path - line), ret))
			return true;
	}
	return false;
}
