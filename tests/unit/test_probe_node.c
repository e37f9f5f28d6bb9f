/* test_probe_node.c - the node provider's tables: types of D against the kernel side's, hooks against events.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "kern/runtime.h"
#include "lang/lang.h"
#include "lang/program.h"
#include "probe/node_events.h"
#include "probe/watch.h"

#define FIELD(type, member)                                               \
	{                                                                 \
#type, #member, offsetof(struct ray_node_##type, member), \
			sizeof(((struct ray_node_##type *)0)->member)     \
	}
#define WHOLE(type)                                            \
	{                                                      \
#type, NULL, 0, sizeof(struct ray_node_##type) \
	}

static const struct row {
	const char *type, *member;
	size_t offset, size;
} rows[] = {
	WHOLE(request),
	FIELD(request, start),
	FIELD(request, url_length),
	FIELD(request, method),
	FIELD(request, host),
	FIELD(request, user_agent),
	FIELD(request, forwarded_for),
	FIELD(request, url),
	WHOLE(connection),
	FIELD(connection, fd),
	FIELD(connection, local_port),
	FIELD(connection, buffer_size),
	FIELD(connection, is_server),
	FIELD(connection, remote_address),
	FIELD(connection, local_address),
	WHOLE(response),
	FIELD(response, aborted),
	FIELD(response, request_body_bytes),
	FIELD(response, latency),
	FIELD(response, stream),
	WHOLE(gc),
	FIELD(gc, reason),
	FIELD(gc, before),
	FIELD(gc, after),
	FIELD(gc, duration),
	FIELD(gc, flags),
	FIELD(gc, request),
	WHOLE(loop),
	FIELD(loop, iteration),
	FIELD(loop, idle),
	FIELD(loop, duration),
	FIELD(loop, request),
	FIELD(loop, phase),
	WHOLE(callback),
	FIELD(callback, kind),
	FIELD(callback, fd),
	FIELD(callback, duration),
	FIELD(callback, request),
	WHOLE(fs),
	FIELD(fs, operation),
	FIELD(fs, fd),
	FIELD(fs, is_sync),
	FIELD(fs, result),
	FIELD(fs, wait),
	FIELD(fs, total),
	FIELD(fs, request),
	FIELD(fs, path),
	FIELD(fs, new_path),
	WHOLE(dns),
	FIELD(dns, kind),
	FIELD(dns, type),
	FIELD(dns, result),
	FIELD(dns, total),
	FIELD(dns, request),
	FIELD(dns, host),
	FIELD(dns, service),
	WHOLE(work),
	FIELD(work, kind),
	FIELD(work, wait),
	FIELD(work, running),
	FIELD(work, result),
	FIELD(work, request),
	FIELD(work, function),
	WHOLE(worker),
	FIELD(worker, thread_id),
	FIELD(worker, code),
	WHOLE(http2),
	FIELD(http2, stream),
	FIELD(http2, is_server),
	FIELD(http2, code),
	FIELD(http2, duration),
};

static void types_are_those_of_the_kernel_side(void **state)
{
	struct ray_source source = {
		.kind = RAY_TEXT_SCRIPT, .file = "prelude", .text = ray_node_prelude, .length = strlen(ray_node_prelude)
	};
	struct ray_lang_options options = { .strsize = 256 };
	struct ray_diagnostic diagnostic = { 0 };
	ray_auto(ray_program, program) = NULL;

	(void)state;
	assert_null(ray_program_create(NULL, &program));
	assert_null(ray_program_parse(program, &source, &options, NULL, &diagnostic));
	for (size_t i = 0; i < RAY_COUNT(rows); i++) {
		const struct ray_type *type;
		const struct ray_member *member;
		uint32_t bits = 0;
		char tag[64];

		snprintf(tag, sizeof(tag), "node_native_%s", rows[i].type);
		type = ray_type_tagged(program->types, RAY_TYPE_STRUCT, tag);
		assert_non_null(type);
		if (!rows[i].member) {
			assert_int_equal(ray_type_size(type), rows[i].size);
			continue;
		}
		member = ray_type_member(type, rows[i].member, &bits);
		if (!member || bits != rows[i].offset * 8 || ray_type_size(member->type) != rows[i].size)
			fail_msg("%s.%s lies elsewhere in D", tag, rows[i].member);
	}
}

/* A probe that no hook tells would be listed and never fire; a handler that nobody has would fail at the first use. */
static void every_event_has_a_hook(void **state)
{
	uint64_t told = 0;

	(void)state;
	for (size_t i = 0; i < ray_hook_count; i++) {
		told |= ray_hooks[i].needed_by;
		assert_non_null(memmem(ray_runtime_object, (size_t)(ray_runtime_object_end - ray_runtime_object),
				       ray_hooks[i].handler, strlen(ray_hooks[i].handler) + 1));
	}
	for (uint32_t i = 1; i < RAY_NODE_EVENT_COUNT; i++) {
		assert_non_null(ray_node_events[i].group);
		assert_true(ray_node_events[i].arg_count > 0);
	}
	assert_true(told & RAY_EVENT_BIT(PROCESS_EXIT));
}

static void one_row_for_each_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < ray_hook_count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct ray_hook *a = &ray_hooks[i], *b = &ray_hooks[k];

			if (a->kind == b->kind && !a->names[0] && !b->names[0] && a->kind != RAY_SITE_RAW_TRACEPOINT)
				assert_int_not_equal(a->number, b->number);
		}
}

static void descriptions_name_events(void **state)
{
	static const struct {
		struct ray_probe_spec spec;
		uint64_t events;
	} cases[] = {
		{ { .provider = "node*", .module = "", .function = "", .name = "gc-start" }, RAY_EVENT_BIT(GC_START) },
		{ { .provider = "node123", .module = "", .function = "gc", .name = "" },
		  RAY_EVENT_BIT(GC_START) | RAY_EVENT_BIT(GC_DONE) },
		{ { .provider = "", .module = "node*", .function = "", .name = "http-server-request" },
		  RAY_EVENT_BIT(HTTP_SERVER_REQUEST) },
		{ { .provider = "n*", .module = "", .function = "", .name = "dns-*" },
		  RAY_EVENT_BIT(DNS_START) | RAY_EVENT_BIT(DNS_DONE) },
		{ { .provider = "nodeful1", .module = "", .function = "", .name = "gc-start" }, 0 },
		{ { .provider = "pid12", .module = "", .function = "", .name = "gc-start" }, 0 },
		{ { .provider = "", .module = "", .function = "", .name = "BEGIN" }, 0 },
		{ { .provider = "", .module = "", .function = "", .name = "tick-1s" }, 0 },
		{ { .provider = "", .module = "", .function = "", .name = "" }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(cases); i++)
		assert_int_equal(ray_watch_events(&cases[i].spec), cases[i].events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_are_those_of_the_kernel_side),
		cmocka_unit_test(every_event_has_a_hook),
		cmocka_unit_test(one_row_for_each_place),
		cmocka_unit_test(descriptions_name_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
