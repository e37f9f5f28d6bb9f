/* node_facts.c - see node_facts.h. SPDX-License-Identifier: MIT */
#include "probe/node_facts.h"

#include <string.h>

#include "probe/flow.h"
#include "stack/constants.h"

static const struct ray_node_offsets uv_offsets = {
	.stream_fd = 184,
	.handle_type = 16,
	.watcher_fd = 48,
	.fs_type = 64,
	.fs_cb = 80,
	.fs_result = 88,
	.fs_pointer = 96,
	.fs_path = 104,
	.fs_new_path = 272,
	.fs_file = 280,
	.fs_work = 336,
	.addrinfo_work = 72,
	.addrinfo_host = 128,
	.addrinfo_service = 136,
	.addrinfo_result = 152,
	.nameinfo_work = 72,
	.nameinfo_address = 120,
	.nameinfo_result = 1312,
	.queue_work = 88,
	.random_work = 104,
	.request_type = 8,
	.timer_timeout = 128,
	.loop_time = 544,
};

/* enum GarbageCollectionReason. Chromium's statistics are kept by these numbers, so V8 only ever adds to them: the tables in node 16 to 26
 * agree as far as each goes. */
static const char *const reasons[] = {
	"unknown",
	"allocation failure",
	"allocation limit",
	"context disposal",
	"counters extension",
	"debugger",
	"deserialize",
	"external memory pressure",
	"finalize incremental marking via stack guard",
	"finalize incremental marking via task",
	"full hash-table",
	"heap profiler",
	"task",
	"last resort",
	"low memory notification",
	"make heap iterable",
	"memory pressure",
	"memory reducer",
	"runtime",
	"sampling profiler",
	"snapshot creator",
	"testing",
	"external finalize",
	"global allocation limit",
	"measure memory",
	"background allocation failure",
	"finalize concurrent MinorMS",
	"CppHeap allocation failure",
	"frozen",
	"idle context disposal",
	"finalize MinorMS for major GC",
};

_Static_assert(RAY_COUNT(reasons) <= RAY_NODE_REASONS, "they all fit");

const char *ray_v8_gc_reason(unsigned reason)
{
	return reason < RAY_COUNT(reasons) ? reasons[reason] : NULL;
}

/* ---- does this libuv have that layout? ---- */

struct look {
	int64_t first;
	bool has_first;
};

/* The accessors are one-liners: the first field they touch is the one they return. */
static bool take_first(const struct ray_flow_step *step, void *arg)
{
	struct look *look = arg;

	if (step->kind != RAY_FLOW_TOUCH)
		return true;
	look->first = step->displacement;
	look->has_first = true;
	return false;
}

static bool reads(struct ray_elf *e, const char *accessor, int64_t offset)
{
	enum { LONGEST = 64 };
	struct look look = { 0 };
	uint8_t code[LONGEST];
	struct ray_symbol s;

	if (!ray_elf_find_dynamic(e, accessor, &s) || !s.size || s.size > LONGEST ||
	    ray_elf_read(e, s.value, code, s.size) != s.size)
		return true;
	ray_flow_walk(code, s.size, s.value, take_first, &look);
	return !look.has_first || look.first == offset;
}

bool ray_uv_layout_holds(struct ray_elf *e)
{
	return reads(e, "uv_handle_get_type", uv_offsets.handle_type) &&
	       reads(e, "uv_fs_get_type", uv_offsets.fs_type) && reads(e, "uv_fs_get_result", uv_offsets.fs_result) &&
	       reads(e, "uv_fs_get_path", uv_offsets.fs_path) && reads(e, "uv_now", uv_offsets.loop_time);
}

void ray_node_facts(const struct ray_node_about *about, struct ray_watched *ret)
{
	struct ray_elf *uv = about->uv_module ? ray_code_module_elf(about->uv_module) : NULL;

	if (uv && ray_uv_layout_holds(uv))
		ret->at = uv_offsets;
	memset(ret->reasons, 0, sizeof(ret->reasons));
	for (size_t i = 0; i < RAY_COUNT(reasons); i++)
		snprintf(ret->reasons[i], sizeof(ret->reasons[i]), "%s", reasons[i]);
}

void ray_node_facts_v8(const struct ray_node_about *about, struct ray_watched *ret)
{
	static const enum ray_v8_field fields[RAY_NODE_V8_COUNT] = {
#define FIELD(name) [RAY_NODE_V8_##name] = RAY_V8_##name,
		RAY_NODE_V8(FIELD)
#undef FIELD
	};
	struct ray_constants constants;
	struct ray_error *err = ray_constants_read(ray_code_module_elf(about->module), about->node.v8, &constants);

	/* Compressed pointers are not for handlers. */
	if (!err && ray_v8_get(constants.layout, RAY_V8_TAGGED_SIZE) == 8)
		for (size_t i = 0; i < RAY_NODE_V8_COUNT; i++)
			ret->v8[i] = ray_v8_get(constants.layout, fields[i]);
	ray_constants_deinit(&constants);
	ray_error_free(err);
}
