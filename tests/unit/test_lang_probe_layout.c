/* test_lang_probe_layout.c - libuv's structures, next to what the DWARF of node binaries says of them.
 * SPDX-License-Identifier: MIT
 *
 * Skipped where tools/nodes has not fetched them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lang/type.h"
#include "probe/uv.h"

static const char *const official[] = { "16.20.2", "18.20.8", "20.20.2", "22.23.3", "24.21.0", "26.10.0" };

/* Members that have other names here, or that stand for one of a structure within. */
static const struct {
	const char *type, *member, *path;
} aliases[] = {
	{ "uv_loop_t", "active_reqs", "active_reqs.count" },
	{ "uv_loop_t", "timers", "timer_heap.nelts" },
	{ "uv_stream_t", "fd", "io_watcher.fd" },
	{ "uv_tcp_t", "fd", "io_watcher.fd" },
	{ "uv_pipe_t", "fd", "io_watcher.fd" },
	{ "uv_tty_t", "fd", "io_watcher.fd" },
	{ "uv_udp_t", "fd", "io_watcher.fd" },
	{ "uv_poll_t", "fd", "io_watcher.fd" },
	{ "uv_stdio_container_t", "stream", "data.stream" },
	{ "uv_stdio_container_t", "fd", "data.fd" },
	{ "uv_udp_send_t", "addr", "u" },
};

static char nodes[256];
static struct ray_types *types;

static const char *path_of(const char *type, const char *member)
{
	for (size_t i = 0; i < RAY_COUNT(aliases); i++)
		if (!strcmp(aliases[i].type, type) && !strcmp(aliases[i].member, member))
			return aliases[i].path;
	return member;
}

/* Through typedefs and qualifiers. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;

	if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, ret))
		return false;
	return dwarf_peel_type(ret, ret) == 0;
}

/* The child of that name; *offset grows by where it lies. */
static bool member_find(Dwarf_Die *structure, const char *name, size_t length, Dwarf_Word *offset, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Word at = 0;

	if (dwarf_child(structure, ret))
		return false;
	do {
		const char *own = dwarf_diename(ret);

		if (dwarf_tag(ret) != DW_TAG_member || !own || strlen(own) != length || strncmp(own, name, length))
			continue;
		if (dwarf_attr(ret, DW_AT_data_member_location, &attribute))
			dwarf_formudata(&attribute, &at);
		*offset += at;
		return true;
	} while (dwarf_siblingof(ret, ret) == 0);
	return false;
}

/* "io_watcher.fd" in a structure. */
static bool path_find(Dwarf_Die *structure, const char *path, Dwarf_Word *offset, Dwarf_Word *size)
{
	Dwarf_Die at = *structure, member;

	for (;;) {
		size_t length = strcspn(path, ".");

		if (!member_find(&at, path, length, offset, &member) || !type_of(&member, &at))
			return false;
		if (!path[length])
			return dwarf_aggregate_size(&at, size) == 0;
		path += length + 1;
	}
}

static void compare(const struct ray_probe_type *row, Dwarf_Die *structure, const char *node)
{
	const struct ray_type *t = ray_type_resolve(ray_type_typedef(types, row->name));

	assert_non_null(t);
	if (dwarf_bytesize(structure) != (int)ray_type_size(t))
		fail_msg("%s: sizeof(%s) is %d, not %zu", node, row->name, dwarf_bytesize(structure), ray_type_size(t));
	for (size_t i = 0; i < t->count; i++) {
		const struct ray_member *m = &t->members[i];
		const char *path = path_of(row->name, m->name);
		Dwarf_Word offset = 0, size = 0;
		bool is_there = path_find(structure, path, &offset, &size);

		if (!is_there && !strcmp(path, "u")) /* before 1.49 it had no name of its own */
			is_there = path_find(structure, "addr", &offset, &size);
		if (!is_there)
			fail_msg("%s: %s has no %s", node, row->name, path);
		if (offset != m->bit_offset / 8 || size != ray_type_size(m->type))
			fail_msg("%s: %s.%s is %d bytes at %d, not %d at %d", node, row->name, path, (int)size,
				 (int)offset, (int)ray_type_size(m->type), (int)m->bit_offset / 8);
	}
}

static const struct ray_probe_type *row_of(const char *name)
{
	const struct ray_probe_type *row = name ? ray_probe_type_find(name, false) : NULL;

	return row && row->members && *row->members ? row : NULL;
}

/* All typedefs of one unit that the table knows. */
static void check_unit(Dwarf_Die *unit, const char *node, bool *seen)
{
	Dwarf_Die die, structure;

	if (dwarf_child(unit, &die))
		return;
	do {
		const struct ray_probe_type *row = dwarf_tag(&die) == DW_TAG_typedef ? row_of(dwarf_diename(&die)) :
										       NULL;

		if (!row || seen[row - ray_uv_types] || !type_of(&die, &structure) ||
		    dwarf_tag(&structure) != DW_TAG_structure_type || dwarf_bytesize(&structure) < 0)
			continue;
		compare(row, &structure, node);
		seen[row - ray_uv_types] = true;
	} while (dwarf_siblingof(&die, &die) == 0);
}

static size_t check_node(int fd, const char *node)
{
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	Dwarf_Off at = 0, next;
	bool seen[256] = { 0 };
	size_t header, count = 0;

	assert_non_null(dwarf);
	for (; dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL) == 0; at = next) {
		Dwarf_Die unit;

		if (dwarf_offdie(dwarf, at + header, &unit))
			check_unit(&unit, node, seen);
	}
	for (size_t i = 0; i < RAY_COUNT(seen); i++)
		count += seen[i];
	dwarf_end(dwarf);
	return count;
}

static void structures_lie_as_the_binaries_say(void **state)
{
	int found = 0;

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(official); i++) {
		char path[512];
		int fd;

		snprintf(path, sizeof(path), "%s/%s/bin/node", nodes, official[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		/* A few came with later versions only; most are in all. */
		assert_true(check_node(fd, official[i]) > 40);
		close(fd);
		found++;
	}
	if (!found) {
		print_message("no node was fetched (tools/nodes)\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(structures_lie_as_the_binaries_say) };
	struct ray_arena *arena = ray_arena_create();
	FILE *f = popen("tools/nodes --dir 2>/dev/null", "r");
	int failed;

	if (f && fgets(nodes, sizeof(nodes), f))
		nodes[strcspn(nodes, "\n")] = 0;
	if (f)
		pclose(f);
	if (!arena || ray_types_create(arena, &types))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	ray_types_free(types);
	ray_arena_free(arena);
	return failed;
}
