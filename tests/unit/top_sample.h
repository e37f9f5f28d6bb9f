/* top_sample.h - a small shop under load, as `top` would see it, for tests of its model and screen. SPDX-License-Identifier: MIT */
#ifndef TEST_TOP_SAMPLE_H
#define TEST_TOP_SAMPLE_H

#include <string.h>

#include "view/top.h"

/* A stack, outermost first: "kind name file line, ...". */
struct sample_frame {
	enum ray_profile_kind kind;
	const char *name, *file;
	int begin, line;
};

#define SHOP "/srv/shop/catalogue.js"
#define NODE "/usr/bin/node"

static const struct sample_frame sample_root[] = {
	{ RAY_KIND_NATIVE, "node::SpinEventLoop", NODE, 0, 0 },
	{ RAY_KIND_NODE, "Server.emit", "node:events", 480, 508 },
	{ RAY_KIND_JS, "Shop.handle", "/srv/shop/server.js", 20, 23 },
};

struct sample_stack {
	uint32_t tid;
	int weight;
	struct sample_frame inner[4]; /* below the root; name NULL ends them */
};

static const struct sample_stack sample_stacks[] = {
	{ 100, 50, { { RAY_KIND_JS, "score", SHOP, 33, 33 }, { RAY_KIND_JS, "letterDistance", SHOP, 16, 20 } } },
	{ 100, 10, { { RAY_KIND_JS, "score", SHOP, 33, 33 }, { RAY_KIND_JS, "letterDistance", SHOP, 16, 18 } } },
	{ 100,
	  12,
	  { { RAY_KIND_JS, "score", SHOP, 33, 34 },
	    { RAY_KIND_JS, "letterDistance", SHOP, 16, 19 },
	    { RAY_KIND_GC, "v8::internal::Heap::Scavenge()", NODE, 0, 0 },
	    { RAY_KIND_NATIVE, "memmove", "/lib/libc.so.6", 0, 0 } } },
	{ 100, 8, { { RAY_KIND_PACKAGE, "serialize", "/srv/shop/node_modules/fast-json/index.js", 4, 9 } } },
	{ 100, 6, { { RAY_KIND_JS, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", "/srv/shop/names.js", 1, 2 } } },
	{ 100, 4, { { RAY_KIND_NATIVE, "uv_write", NODE, 0, 0 }, { RAY_KIND_KERNEL, "do_writev", "vmlinux", 0, 0 } } },
	{ 102, 10, { { RAY_KIND_COMPILER, "v8::internal::compiler::Run()", NODE, 0, 0 } } },
};

static inline uint32_t sample_call(struct ray_profile *p, uint32_t parent, const struct sample_frame *f)
{
	struct ray_profile_function function = { .kind = f->kind, .name = f->name, .file = f->file, .line = f->begin };
	struct ray_profile_frame frame = { .function = ray_profile_function(p, &function), .line = f->line };

	return ray_profile_node(p, parent, ray_profile_frame(p, &frame));
}

static inline struct ray_profile *sample_profile(void)
{
	struct ray_profile *p = ray_profile_create();

	for (size_t i = 0; i < RAY_COUNT(sample_stacks); i++) {
		const struct sample_stack *s = &sample_stacks[i];
		struct ray_profile_sample sample = { .weight = s->weight, .count = (uint32_t)s->weight };
		uint32_t node = 0;

		for (size_t k = 0; k < RAY_COUNT(sample_root) && s->tid == 100; k++)
			node = sample_call(p, node, &sample_root[k]);
		for (size_t k = 0; k < RAY_COUNT(s->inner) && s->inner[k].name; k++)
			node = sample_call(p, node, &s->inner[k]);
		sample.node = node;
		sample.thread = ray_profile_thread(p, &(struct ray_profile_thread){ .pid = 100, .tid = s->tid });
		ray_profile_add(p, &sample);
	}
	return p;
}

/* Seconds since it was first looked at. */
static inline void sample_moment(struct ray_top *t, int second)
{
	const uint64_t s = 1000000000;
	struct ray_top_process process = { .pid = 100,
					   .title = "node server.js",
					   .version = "24.21.0",
					   .uptime_s = 7800 + (uint64_t)second,
					   .rss = 97 << 20,
					   .heap_limit = 2ull << 30,
					   .cpu_ns = (uint64_t)second * s * 11 / 10 };
	struct ray_top_thread threads[] = {
		{ 100, 100, RAY_ROLE_MAIN, -1, "", (uint64_t)second * s * 9 / 10 },
		{ 100, 101, RAY_ROLE_PLATFORM, -1, "", (uint64_t)second * s / 20 },
		{ 100, 102, RAY_ROLE_PLATFORM, -1, "", (uint64_t)second * s / 20 },
		{ 100, 105, RAY_ROLE_POOL, -1, "", 0 },
		{ 100, 109, RAY_ROLE_WORKER, 1, "parser", (uint64_t)second * s / 10 },
	};
	struct ray_top_moment m = { .time_ns = (uint64_t)(second + 50) * s,
				    .epoch_ns = (uint64_t)(second + 1000) * s,
				    .processes = &process,
				    .process_count = 1,
				    .threads = threads,
				    .thread_count = RAY_COUNT(threads) };

	if (second)
		ray_top_cut(t, sample_profile(), &m);
	else
		ray_top_begin(t, &m);
}

static inline void sample_fact(struct ray_top *t, const char *name, const struct ray_fact_field *fields, size_t count)
{
	struct ray_fact f = { .name = name, .pid = 100, .tid = 100, .fields = fields, .count = count };

	ray_top_take(t, &f);
}

#define NUMBER(field, number)                                                                         \
	{                                                                                             \
		.name = (field), .value = {.kind = RAY_VALUE_INTEGER, .integer = (uint64_t)(number) } \
	}

/* The loop and the collector, up to that second. */
static inline void sample_events(struct ray_top *t, int second)
{
	static int64_t bins[RAY_POWER_BINS];
	struct ray_histogram lag = { .kind = RAY_HISTOGRAM_POWERS, .bins = bins, .count = RAY_POWER_BINS, .normal = 1 };
	const int64_t s = 1000000000;
	struct ray_fact_field loop[] = { NUMBER("pid", 100),
					 NUMBER("tid", 100),
					 NUMBER("awake", (second + 1000) * s - 200),
					 NUMBER("asleep", (second + 1000) * s - 100),
					 NUMBER("busy", second * s * 8 / 10),
					 NUMBER("longest", 183000000),
					 { .name = "lag", .histogram = &lag } };
	struct ray_fact_field gc[] = { NUMBER("ns", 4000000), NUMBER("after", 43 << 20) };
	struct ray_fact_field requests[] = { NUMBER("count", 195 * second) };

	memset(bins, 0, sizeof(bins));
	bins[RAY_POWER_ZERO + 20] = 90 * second;
	bins[RAY_POWER_ZERO + 24] = 10 * second;
	sample_fact(t, "loop", loop, RAY_COUNT(loop));
	for (int i = 0; i < 5; i++)
		sample_fact(t, "gc", gc, RAY_COUNT(gc));
	sample_fact(t, "requests", requests, RAY_COUNT(requests));
}

static inline struct ray_top *sample_top(int seconds)
{
	struct ray_top *t = ray_top_create();

	ray_top_has(t, true, true);
	sample_moment(t, 0);
	for (int i = 1; i <= seconds; i++) {
		sample_events(t, i);
		sample_moment(t, i);
	}
	return t;
}

#endif
