/* Handlers of event loops and collections, called in the kernel with what hooks would give them. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "kern_run.h"

enum function { POLL, POLLED, TIMERS, CHECK, STREAM_IO, RUN_TIMERS, IMMEDIATE, FUNCTIONS };
static const char *const loop_functions[FUNCTIONS] = { "ray_on_poll",	  "ray_on_polled",    "ray_on_timers",
						       "ray_on_check",	  "ray_on_stream_io", "ray_on_run_timers",
						       "ray_on_immediate" };
enum gc_function {
	COLLECT,
	COLLECTED,
	PROLOGUE,
	EPILOGUE,
	SCAVENGE,
	COMPACT,
	INCREMENTAL,
	INCREMENTED,
	SIZE,
	REASON,
	GC_FUNCTIONS
};
static const char *const gc_functions[GC_FUNCTIONS] = {
	"ray_on_gc_collect",  "ray_on_gc_collected",	"ray_on_gc_prologue",	 "ray_on_gc_epilogue",
	"ray_on_gc_scavenge", "ray_on_gc_mark_compact", "ray_on_gc_incremental", "ray_on_gc_incremented",
	"ray_on_gc_size",     "ray_on_gc_reason",
};

enum { OWN_FD = 14, OTHER_FD = 21, ROOM = 1024 };

static struct kern_run run;

/* uv_loop_t, uv_tcp_t and uv_timer_t as far as handlers look into them. */
struct fake_fields {
	uint32_t flags, pad;
};
struct fake_loop {
	char start[40];
	struct fake_fields *fields; /* at 40 */
	char middle[16];
	int32_t backend_fd; /* at 64 */
	int32_t pad;
};
struct fake_stream {
	void *data;
	struct fake_loop *loop; /* at 8 */
	int32_t type;		/* at 16 */
	char middle[116];
	char watcher[48]; /* at 136 */
	int32_t fd;
	int32_t pad;
};
_Static_assert(offsetof(struct fake_loop, fields) == 40 && offsetof(struct fake_loop, backend_fd) == 64, "uv_loop_t");
_Static_assert(offsetof(struct fake_stream, watcher) == 136 && offsetof(struct fake_stream, fd) == 184, "uv_stream_t");

static struct fake_fields own_fields = { .flags = 1 }, other_fields;
static struct fake_loop own = { .fields = &own_fields, .backend_fd = OWN_FD };
static struct fake_loop other = { .fields = &other_fields, .backend_fd = OTHER_FD };

/* ---- calling ---- */

static uint64_t call(int function, const uint64_t *args, size_t count, uint64_t result, uint64_t step)
{
	struct ray_slot *s = kern_slot(&run);

	if (!step) {
		memset(s->hook_args, 0, sizeof(s->hook_args));
		memcpy(s->hook_args, args, count * sizeof(*args));
		s->hook_args[RAY_HOOK_RESULT] = result;
	}
	s->spills[6] = (uint64_t)function;
	return (uint64_t)kern_call(&run, step, 0, 0, 0);
}

static const struct ray_node_loop *told_loop(void)
{
	return (void *)kern_memory(&run, kern_slot(&run)->args[0]);
}

static const char *told_name(uint64_t event)
{
	static const char *const names[] = {
#define NAME(name, text) [RAY_EVENT_##name] = text,
		RAY_NODE_EVENTS(NAME)
#undef NAME
	};

	return event < RAY_NODE_EVENT_COUNT ? names[event] : "?";
}

/* Everything that one hit tells: "loop-start, callback-done tcp 23". */
static const char *tells(int function, const uint64_t *args, size_t count, uint64_t result)
{
	static char text[512];
	size_t n = 0;

	text[0] = '\0';
	for (uint64_t step = 0; step < 20; step++) {
		uint64_t event = call(function, args, count, result, step);

		if (!event)
			break;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? ", " : "", told_name(event));
		if (event == RAY_EVENT_CALLBACK_START || event == RAY_EVENT_CALLBACK_DONE) {
			const struct ray_node_callback *k = (void *)kern_memory(&run, kern_slot(&run)->args[0]);

			n += (size_t)snprintf(text + n, sizeof(text) - n, " %s %s %d", k->phase, k->kind, k->fd);
		}
	}
	return text;
}
#define TELLS(function, result, ...)                                                                         \
	tells(function, (uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t), \
	      (uint64_t)(result))

static const char *poll_with(int fd, int timeout)
{
	return TELLS(POLL, 0, (uint64_t)fd, 0, ROOM, (uint64_t)timeout);
}

static const char *polled(int fd, int timeout, int result)
{
	return TELLS(POLLED, result, (uint64_t)fd, 0, ROOM, (uint64_t)timeout);
}

static void watch(uint32_t version, uint32_t flags)
{
	static struct ray_watched watched;
	uint32_t tgid = (uint32_t)getpid();

	memset(&watched, 0, sizeof(watched));
	watched.version = version;
	watched.flags = flags;
	watched.at.loop_time = 544;
	strcpy(watched.reasons[1], "allocation failure");
	strcpy(watched.reasons[21], "testing");
	assert_int_equal(bpf_map_update_elem(run.trace.maps[RAY_LINK_NODES], &tgid, &watched, BPF_ANY), 0);
	bpf_map_delete_elem(run.trace.maps[RAY_LINK_NODE_THREADS], &tgid);
}

#define REQUIRE_KERNEL()         \
	do {                     \
		if (run.skip[0]) \
			skip();  \
	} while (0)

/* ---- loops ---- */

static void an_iteration_sleeps_then_works(void **state)
{
	(void)state;
	REQUIRE_KERNEL();
	watch(24021, 0);
	assert_string_equal(poll_with(OWN_FD, 0), "");
	assert_string_equal(polled(OWN_FD, 0, 0), "");
	assert_string_equal(poll_with(OWN_FD, 50), "");
	usleep(2000);
	assert_string_equal(polled(OWN_FD, 50, 1), "loop-start");
	assert_true(told_loop()->idle >= 2000000);
	assert_string_equal(TELLS(CHECK, 0, (uint64_t)&own), "");
	assert_string_equal(TELLS(TIMERS, 0, (uint64_t)&own), "");
	usleep(1000);
	assert_string_equal(poll_with(OWN_FD, 0), "loop-done");
	assert_true(told_loop()->busy >= 1000000);
	assert_true(told_loop()->idle >= 2000000);
	assert_true(told_loop()->timers >= 1000000);
	assert_true(told_loop()->timers + told_loop()->check + told_loop()->poll <= told_loop()->busy);
	assert_true(told_loop()->loop == (uint64_t)&own);
}

static void a_loop_with_immediates_never_sleeps(void **state)
{
	(void)state;
	REQUIRE_KERNEL();
	watch(24021, 0);
	poll_with(OWN_FD, 0);
	assert_string_equal(polled(OWN_FD, 0, 0), "");
	assert_string_equal(TELLS(CHECK, 0, (uint64_t)&own), "loop-start");
	assert_string_equal(TELLS(TIMERS, 0, (uint64_t)&own), "");
	assert_string_equal(poll_with(OWN_FD, 0), "loop-done");
	/* Where nothing but its polls is seen, both are told by the next one. */
	assert_string_equal(polled(OWN_FD, 0, 0), "");
	assert_string_equal(poll_with(OWN_FD, 0), "loop-start, loop-done");
}

static void a_full_array_is_not_the_end(void **state)
{
	(void)state;
	REQUIRE_KERNEL();
	watch(24021, 0);
	poll_with(OWN_FD, 0);
	assert_string_equal(polled(OWN_FD, 0, ROOM), "loop-start");
	assert_string_equal(poll_with(OWN_FD, 0), "");
	assert_string_equal(polled(OWN_FD, 0, 3), "");
	assert_string_equal(poll_with(OWN_FD, 0), "loop-done");
}

static void a_loop_inside_a_callback_is_none_of_its_own(void **state)
{
	struct fake_stream tcp = { .loop = &own, .type = 12, .fd = 23 }, pipe = { .loop = &other, .type = 7, .fd = 24 };

	(void)state;
	REQUIRE_KERNEL();
	watch(24021, 0);
	poll_with(OWN_FD, 0);
	polled(OWN_FD, 0, 1);
	assert_string_equal(TELLS(STREAM_IO, 0, (uint64_t)&own, (uint64_t)tcp.watcher), "callback-start poll tcp 23");
	assert_string_equal(TELLS(TIMERS, 0, (uint64_t)&other), "");
	assert_string_equal(poll_with(OTHER_FD, -1), "");
	assert_string_equal(polled(OTHER_FD, -1, 1), "");
	assert_string_equal(TELLS(STREAM_IO, 0, (uint64_t)&other, (uint64_t)pipe.watcher), "");
	for (int i = 0; i < 20; i++)
		assert_string_equal(poll_with(OTHER_FD, 0), "");
	assert_string_equal(TELLS(CHECK, 0, (uint64_t)&own), "callback-done poll tcp 23");
	assert_string_equal(TELLS(TIMERS, 0, (uint64_t)&own), "");
	assert_string_equal(poll_with(OWN_FD, 0), "loop-done");
}

static void a_callback_ends_when_the_next_begins(void **state)
{
	struct fake_stream one = { .loop = &own, .type = 12, .fd = 23 }, two = { .loop = &own, .type = 7, .fd = 24 };

	(void)state;
	REQUIRE_KERNEL();
	watch(24021, 0);
	poll_with(OWN_FD, 0);
	polled(OWN_FD, 0, 2);
	assert_string_equal(TELLS(STREAM_IO, 0, (uint64_t)&own, (uint64_t)one.watcher), "callback-start poll tcp 23");
	assert_string_equal(TELLS(STREAM_IO, 0, (uint64_t)&own, (uint64_t)two.watcher),
			    "callback-done poll tcp 23, callback-start poll pipe 24");
	assert_string_equal(TELLS(CHECK, 0, (uint64_t)&own), "callback-done poll pipe 24");
	assert_string_equal(TELLS(IMMEDIATE, 0, (uint64_t)&one), "callback-start check check -1");
	assert_string_equal(TELLS(TIMERS, 0, (uint64_t)&own), "callback-done check check -1");
	assert_string_equal(TELLS(RUN_TIMERS, 0, (uint64_t)&one), "callback-start timers timer -1, timer-fire");
	usleep(1000);
	assert_string_equal(TELLS(STREAM_IO, 0, (uint64_t)&own, (uint64_t)two.watcher),
			    "callback-done timers timer -1, callback-start pending pipe 24");
	assert_string_equal(poll_with(OWN_FD, 0), "callback-done pending pipe 24, loop-done");
}

static void callbacks_that_cannot_be_told_apart_are_one(void **state)
{
	(void)state;
	REQUIRE_KERNEL();
	watch(24021, RAY_WATCHED_NO_IO);
	poll_with(OWN_FD, 0);
	assert_string_equal(polled(OWN_FD, 0, 2), "loop-start, callback-start poll any -1");
	assert_string_equal(poll_with(OWN_FD, 0), "callback-done poll any -1, loop-done");
}

static void a_loop_that_does_not_ask_first(void **state)
{
	(void)state;
	REQUIRE_KERNEL();
	watch(24021, 0);
	for (int i = 0; i < 70; i++) {
		poll_with(OWN_FD, -1);
		polled(OWN_FD, -1, 1);
	}
	assert_string_equal(poll_with(OWN_FD, -1), "loop-done");
	assert_string_equal(polled(OWN_FD, -1, -4 /* EINTR */), "");
	assert_string_equal(poll_with(OWN_FD, -1), "");
	assert_string_equal(polled(OWN_FD, -1, 1), "loop-start");
}

/* ---- collections ---- */

static const char *gc(enum gc_function function, uint64_t sp, uint64_t first, uint64_t second, uint64_t third)
{
	static char text[128];
	uint64_t args[] = { 0, first, second, third }, event;

	kern_slot(&run)->user_sp = sp;
	event = call(function, args, 4, first, 0);
	text[0] = '\0';
	if (event) {
		const struct ray_node_gc *g = (void *)kern_memory(&run, kern_slot(&run)->args[2]);

		snprintf(text, sizeof(text), "%s %llu %s, %s, %llu to %llu", told_name(event),
			 (unsigned long long)kern_slot(&run)->args[0], g->type, g->reason,
			 (unsigned long long)g->before, (unsigned long long)g->after);
		call(function, args, 4, first, 1);
	}
	return text;
}

static void collections_as_v8_tells_them(void **state)
{
	(void)state;
	REQUIRE_KERNEL();
	watch(24021, 0);
	assert_string_equal(gc(COLLECT, 9000, 2, 1, 0), "");
	assert_string_equal(gc(PROLOGUE, 8000, 1, 0, 0), "gc-start 1 scavenge, allocation failure, 0 to 0");
	assert_string_equal(gc(SIZE, 7000, 500, 0, 0), "");
	assert_string_equal(gc(SCAVENGE, 7000, 0, 0, 0), "");
	assert_string_equal(gc(SIZE, 7000, 300, 0, 0), "");
	assert_string_equal(gc(EPILOGUE, 8000, 1, 0, 0), "gc-done 1 scavenge, allocation failure, 500 to 300");
	assert_string_equal(gc(COLLECTED, 9008, 0, 0, 0), "");
}

static void collections_without_prologue(void **state)
{
	(void)state;
	REQUIRE_KERNEL();
	watch(18020, 0);
	assert_string_equal(gc(COLLECT, 9000, 2, 21, 4), "");
	assert_string_equal(gc(SIZE, 7000, 500, 0, 0), "");
	assert_string_equal(gc(COMPACT, 7500, 0, 0, 0), "gc-start 4 mark-compact, testing, 500 to 0");
	assert_string_equal(gc(SIZE, 7000, 200, 0, 0), "");
	assert_string_equal(gc(COLLECTED, 9008, 0, 0, 0), "gc-done 4 mark-compact, testing, 500 to 200");
	assert_string_equal(gc(COLLECTED, 9008, 0, 0, 0), "");
}

static void collections_inside_others(void **state)
{
	(void)state;
	REQUIRE_KERNEL();
	watch(24021, 0);
	gc(COLLECT, 9000, 2, 21, 0);
	assert_string_equal(gc(PROLOGUE, 8000, 4, 0, 0), "gc-start 4 mark-compact, testing, 0 to 0");
	/* A collection that a callback of the first one asks for is told to nobody. */
	assert_string_equal(gc(COLLECT, 6000, 2, 1, 0), "");
	assert_string_equal(gc(SCAVENGE, 5000, 0, 0, 0), "");
	assert_string_equal(gc(COLLECTED, 6008, 0, 0, 0), "");
	/* Weak callbacks are. */
	assert_string_equal(gc(PROLOGUE, 7000, 16, 0, 0), "gc-start 16 weak-callbacks, testing, 0 to 0");
	assert_string_equal(gc(EPILOGUE, 7000, 16, 0, 0), "gc-done 16 weak-callbacks, testing, 0 to 0");
	assert_string_equal(gc(EPILOGUE, 8000, 4, 0, 0), "gc-done 4 mark-compact, testing, 0 to 0");
	assert_string_equal(gc(COLLECTED, 9008, 0, 0, 0), "");
}

static void steps_of_marking_are_told_once(void **state)
{
	(void)state;
	REQUIRE_KERNEL();
	watch(18020, 0);
	gc(REASON, 9000, 1, 0, 0);
	assert_string_equal(gc(INCREMENTAL, 8000, 0, 0, 0), "gc-start 8 incremental, allocation failure, 0 to 0");
	assert_string_equal(gc(PROLOGUE, 7000, 8, 0, 0), "");
	assert_string_equal(gc(INCREMENTED, 8000, 0, 0, 0), "gc-done 8 incremental, allocation failure, 0 to 0");
	assert_string_equal(gc(EPILOGUE, 7000, 8, 0, 0), "");
}

static void types_of_node_16_have_other_numbers(void **state)
{
	(void)state;
	REQUIRE_KERNEL();
	watch(16020, 0);
	gc(COLLECT, 9000, 2, 1, 0);
	assert_string_equal(gc(PROLOGUE, 8000, 2, 0, 0), "gc-start 2 mark-compact, allocation failure, 0 to 0");
	assert_string_equal(gc(EPILOGUE, 8000, 2, 0, 0), "gc-done 2 mark-compact, allocation failure, 0 to 0");
	gc(COLLECTED, 9008, 0, 0, 0);
	assert_string_equal(gc(INCREMENTAL, 8000, 0, 0, 0), "gc-start 4 incremental, allocation failure, 0 to 0");
}

static int load(const char *const *functions, size_t count)
{
	kern_init(&run);
	run.plan.event_at = run.plan.slot_size;
	run.plan.event_size = sizeof(struct ray_node_area);
	run.plan.slot_size += run.plan.event_size;
	run.trace.watched = RAY_EVENT_BIT(LOOP_START) | RAY_EVENT_BIT(LOOP_DONE) | RAY_EVENT_BIT(CALLBACK_START) |
			    RAY_EVENT_BIT(CALLBACK_DONE) | RAY_EVENT_BIT(TIMER_FIRE) | RAY_EVENT_BIT(GC_START) |
			    RAY_EVENT_BIT(GC_DONE);
	return !kern_load_all(&run, functions, count) && !strstr(run.skip, "not permitted");
}

static int load_loops(void **state)
{
	(void)state;
	return load(loop_functions, FUNCTIONS);
}

static int load_collections(void **state)
{
	(void)state;
	return load(gc_functions, GC_FUNCTIONS);
}

static int unload(void **state)
{
	(void)state;
	kern_deinit(&run);
	return 0;
}

int main(void)
{
	const struct CMUnitTest loops[] = {
		cmocka_unit_test(an_iteration_sleeps_then_works),
		cmocka_unit_test(a_loop_with_immediates_never_sleeps),
		cmocka_unit_test(a_full_array_is_not_the_end),
		cmocka_unit_test(a_loop_inside_a_callback_is_none_of_its_own),
		cmocka_unit_test(a_callback_ends_when_the_next_begins),
		cmocka_unit_test(callbacks_that_cannot_be_told_apart_are_one),
		cmocka_unit_test(a_loop_that_does_not_ask_first),
	};
	const struct CMUnitTest collections[] = {
		cmocka_unit_test(collections_as_v8_tells_them),	       cmocka_unit_test(collections_without_prologue),
		cmocka_unit_test(collections_inside_others),	       cmocka_unit_test(steps_of_marking_are_told_once),
		cmocka_unit_test(types_of_node_16_have_other_numbers),
	};
	int failed = cmocka_run_group_tests(loops, load_loops, unload);

	return failed + cmocka_run_group_tests(collections, load_collections, unload);
}
