/* What the kernel side tells of the process that runs, against /proc; JSON; speculations. SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "engine/link.h"
#include "kern_run.h"

static struct kern_run run;

static void need(const char *function)
{
	if (kern_load(&run, function))
		return;
	if (strstr(run.skip, "not permitted"))
		skip();
	fail_msg("%s: %s", function, run.skip);
}

static const char *text_of(uint64_t a)
{
	int64_t ret = kern_call(&run, kern_temp(3), a, 0, 0);

	return ret ? kern_memory(&run, (uint64_t)ret) : NULL;
}

static void check_path(int fd)
{
	char link[64], expected[4096] = { 0 };

	assert_true(fd >= 0);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	assert_true(readlink(link, expected, sizeof(expected) - 1) > 0);
	expected[KERN_STRSIZE] = '\0';
	assert_string_equal(text_of((uint64_t)fd), expected);
	close(fd);
}

static bool needs_other_maps(const char *function)
{
	static const int mine[] = { RAY_LINK_SLOTS,  RAY_LINK_STATE,  RAY_LINK_RING,
				    RAY_LINK_POINTS, RAY_LINK_PROBES, RAY_LINK_STRINGS };
	bool used[RAY_LINK_MAP_COUNT] = { 0 };
	struct ray_linked l = { 0 };
	struct ray_piece piece = { 0 };
	bool others = false;

	kern_make_code(&piece, &function, 1);
	assert_null(ray_link_collect(run.trace.object, &piece, &l));
	ray_link_used_maps(run.trace.object, &l, used);
	for (size_t i = 0; i < RAY_COUNT(mine); i++)
		used[mine[i]] = false;
	for (int i = 0; i < RAY_LINK_MAP_COUNT; i++)
		others |= used[i];
	ray_linked_deinit(&l);
	ray_piece_deinit(&piece);
	return others;
}

static void paths_of_open_files_are_those_of_proc(void **state)
{
	char name[] = "/tmp/noderay-test-XXXXXX";
	int ends[2], fd;

	(void)state;
	need("ray_fd_path");
	check_path(open("/", O_RDONLY));
	check_path(open("/proc/self/status", O_RDONLY));
	check_path(open("/dev/null", O_RDONLY));
	check_path(open("/usr/bin", O_RDONLY));
	check_path(socket(AF_UNIX, SOCK_STREAM, 0));
	check_path(epoll_create1(0));
	check_path(memfd_create("some name", 0));
	assert_int_equal(pipe(ends), 0);
	check_path(ends[0]);
	check_path(ends[1]);
	fd = mkstemp(name);
	unlink(name);
	check_path(fd);
	assert_string_equal(text_of(4000), "<none>");
	assert_string_equal(text_of((uint64_t)-1), "<none>");
}

static void names_and_file_systems(void **state)
{
	int fd = open("/proc/self/status", O_RDONLY);
	struct stat st;

	(void)state;
	need("ray_fd_name");
	assert_string_equal(text_of((uint64_t)fd), "status");
	need("ray_fd_fs");
	assert_string_equal(text_of((uint64_t)fd), "proc");
	need("ray_fd_mount");
	assert_string_equal(text_of((uint64_t)fd), "/proc");
	need("ray_fd_number");
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(kern_call(&run, (uint64_t)fd, RAY_FD_INODE, 0, 0), st.st_ino);
	assert_int_equal(kern_call(&run, (uint64_t)fd, RAY_FD_OFFSET, 0, 0), 0);
	assert_int_equal(kern_call(&run, (uint64_t)fd, RAY_FD_OFLAGS, 0, 0) & O_ACCMODE, O_RDONLY);
	close(fd);
}

static void the_process_itself(void **state)
{
	char expected[4096] = { 0 };
	FILE *f;

	(void)state;
	need("ray_cwd");
	assert_non_null(getcwd(expected, sizeof(expected)));
	assert_string_equal(text_of(0), expected);
	need("ray_root");
	assert_string_equal(text_of(0), "/");
	need("ray_ppid");
	assert_int_equal(kern_call(&run, 0, 0, 0, 0), getppid());
	need("ray_progenyof");
	assert_int_equal(kern_call(&run, (uint64_t)getpid(), 0, 0, 0), 1);
	assert_int_equal(kern_call(&run, (uint64_t)getppid(), 0, 0, 0), 1);
	assert_int_equal(kern_call(&run, 1, 0, 0, 0), 1);
	assert_int_equal(kern_call(&run, 0x7fffffff, 0, 0, 0), 0);
	need("ray_psargs");
	f = fopen("/proc/self/cmdline", "r");
	assert_non_null(f);
	assert_true(fread(expected, 1, sizeof(expected) - 1, f) > 0);
	fclose(f);
	assert_memory_equal(text_of(0), expected, strlen(expected));
	need("ray_vtimestamp");
	assert_true(kern_call(&run, 0, 0, 0, 0) > 0);
}

static void values_out_of_json(void **state)
{
	static const struct {
		const char *text, *path, *value;
	} rows[] = {
		{ "{\"a\":1,\"b\":\"two\"}", "b", "two" },
		{ "{\"a\":1,\"b\":\"two\"}", "a", "1" },
		{ " { \"a\" : { \"b\" : [ 10, 20, {\"c\":\"x\"} ] } }", "a.b[2].c", "x" },
		{ " { \"a\" : { \"b\" : [ 10, 20, {\"c\":\"x\"} ] } }", "a.b[1]", "20" },
		{ "{\"a\":{\"b\":[1,2]},\"c\":3}", "a", "{\"b\":[1,2]}" },
		{ "{\"a\":{\"b\":[1,2]},\"c\":3}", "a.b", "[1,2]" },
		{ "{\"a\":{\"c\":[1,2]},\"c\":3}", "c", "3" },
		{ "{\"x\":\"a\\\"b\",\"a\":true}", "a", "true" },
		{ "{\"x\":\"a\\\"b\",\"a\":true}", "x", "a\\\"b" },
		{ "{\"x\":\"}]\",\"a\":null}", "a", "null" },
		{ "[[1,2],[3,4]]", "1[0]", "3" },
		{ "[[1,2],[3,4]]", "[1][0]", "3" },
		{ "{\"ab\":1}", "a", NULL },
		{ "{\"a\":1}", "ab", NULL },
		{ "{\"a\":1}", "a.b", NULL },
		{ "{\"a\":[1]}", "a[1]", NULL },
		{ "{\"a\":[1]}", "a.x", NULL },
		{ "{\"a\":{}}", "b", NULL },
		{ "", "a", NULL },
		{ "{\"a\":1.5e3}", "", NULL },
		{ "{\"a\":-1.5e3 }", "a", "-1.5e3" },
		{ "{\"a\":\"cut", "a", NULL },
		{ "{\"a\":[{\"k\":1},{\"k\":2}]}", "a[1].k", "2" },
	};

	(void)state;
	need("ray_json");
	for (size_t i = 0; i < RAY_COUNT(rows); i++) {
		int64_t ret = kern_call(&run, kern_temp(3), kern_string(&run, 0, rows[i].text),
					kern_string(&run, 1, rows[i].path), 0);

		if (!rows[i].value)
			assert_int_equal(ret, 0);
		else if (!ret || strcmp(kern_memory(&run, (uint64_t)ret), rows[i].value))
			fail_msg("json(%s, %s) is %s, expected %s", rows[i].text, rows[i].path,
				 ret ? kern_memory(&run, (uint64_t)ret) : "NULL", rows[i].value);
		assert_int_equal(kern_slot(&run)->fault, 0);
	}
}

static void speculations_are_given_out_and_ended(void **state)
{
	(void)state;
	need("ray_speculation");
	for (int i = 1; i <= 4; i++)
		assert_int_equal(kern_call(&run, 0, 0, 0, 0), i);
	assert_int_equal(kern_call(&run, 0, 0, 0, 0), 0);
	assert_int_equal(run.trace.state->spec_unavailable, 1);
	need("ray_speculate");
	run.trace.state->spec_state[1] = 1;
	kern_call(&run, 2, 0, 0, 0);
	assert_int_equal(kern_slot(&run)->speculation, 2);
	kern_call(&run, 3, 0, 0, 0);
	assert_int_equal(kern_slot(&run)->speculation, RAY_SPECULATION_NONE);
	kern_call(&run, 0, 0, 0, 0);
	assert_int_equal(kern_slot(&run)->speculation, RAY_SPECULATION_NONE);
	need("ray_commit");
	run.trace.state->spec_state[1] = 1;
	kern_call(&run, 2, 0, 0, 0);
	assert_int_equal(run.trace.state->spec_state[1], 2);
	kern_call(&run, 100, 0, 0, 0);
	need("ray_discard");
	kern_call(&run, 2, 0, 0, 0);
	assert_int_equal(run.trace.state->spec_state[1], 0);
}

/* Word numbers, computed slowly. */
static void numbers_fall_into_distributions(void **state)
{
	static const int64_t numbers[] = { 0, 1, -1, 2, 3, 4, -4, 1023, 1024, INT64_MAX, INT64_MIN, -INT64_MAX };
	/* Powers of 10 from 0 to 3 in 20 steps: 18 words each; 73 is less than 1. */
	static const struct {
		int64_t value;
		int word;
	} log_linear[] = { { 0, 73 },  { 1, 74 },     { 2, 76 },      { 9, 90 },  { 10, 92 },	{ 14, 92 },
			   { 15, 93 }, { 9999, 145 }, { 10000, 146 }, { -1, 72 }, { -10000, 0 } };
	static const int expected[] = { 63, 64, 62, 65, 65, 66, 60, 73, 74, 126, 0, 0 };

	(void)state;
	need("ray_quantize_bin");
	for (size_t i = 0; i < RAY_COUNT(numbers); i++)
		assert_int_equal(kern_call_plain(&run, (uint64_t)numbers[i], 0, 0, 0, 0), expected[i]);
	need("ray_lquantize_bin");
	assert_int_equal(kern_call_plain(&run, (uint64_t)-11, (uint64_t)-10, 20, 5, 0), 0);
	assert_int_equal(kern_call_plain(&run, (uint64_t)-10, (uint64_t)-10, 20, 5, 0), 1);
	assert_int_equal(kern_call_plain(&run, 0, (uint64_t)-10, 20, 5, 0), 3);
	assert_int_equal(kern_call_plain(&run, 19, (uint64_t)-10, 20, 5, 0), 6);
	assert_int_equal(kern_call_plain(&run, 20, (uint64_t)-10, 20, 5, 0), 7);
	need("ray_llquantize_bin");
	for (size_t i = 0; i < RAY_COUNT(log_linear); i++)
		assert_int_equal(kern_call_plain(&run, (uint64_t)log_linear[i].value, 10, 0, 3, 20),
				 log_linear[i].word);
}

/* What is found by shifts is what the loop finds. */
static void powers_of_two_are_found_by_shifts(void **state)
{
	static const struct {
		uint64_t low, high, shift;
	} shapes[] = { { 10, 38, 4 }, { 0, 62, 1 }, { 0, 5, 6 }, { 3, 3, 2 }, { 1, 40, 10 } };
	int64_t values[400];
	int64_t expected[RAY_COUNT(shapes)][RAY_COUNT(values)];
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 64; i++)
		for (int k = -1; k <= 1; k++) {
			values[n++] = (int64_t)((1ULL << i) + (uint64_t)k);
			values[n++] = (int64_t) - ((1ULL << i) + (uint64_t)k);
		}
	for (int64_t i = 0; n < RAY_COUNT(values); i++)
		values[n++] = i * i * i * 7919 - i;
	need("ray_llquantize_bin");
	for (size_t k = 0; k < RAY_COUNT(shapes); k++)
		for (size_t i = 0; i < n; i++)
			expected[k][i] = kern_call_plain(&run, (uint64_t)values[i], 2, shapes[k].low, shapes[k].high,
							 1ULL << shapes[k].shift);
	need("ray_llquantize_shift");
	for (size_t k = 0; k < RAY_COUNT(shapes); k++)
		for (size_t i = 0; i < n; i++)
			assert_int_equal(kern_call_plain(&run, (uint64_t)values[i], shapes[k].low, shapes[k].high,
							 shapes[k].shift, 0),
					 expected[k][i]);
}

/* Where the kernel lets us. */
static void bytes_are_written_into_the_process(void **state)
{
	char to[16] = "0123456789";
	uint64_t from;

	(void)state;
	if (!kern_load(&run, "ray_copyout")) {
		assert_non_null(strstr(run.skip, "lets nobody write"));
		return; /* a kernel that is locked down: that this is told is all there is to see */
	}
	from = kern_string(&run, 0, "abcdef");
	kern_call(&run, from, (uintptr_t)to, 3, 0);
	assert_string_equal(to, "abc3456789");
	assert_int_equal(kern_slot(&run)->fault, 0);
	kern_call(&run, from, (uintptr_t)to, 0, 0);
	assert_string_equal(to, "abc3456789");
	kern_call(&run, from, 16, 3, 0);
	assert_int_equal(kern_slot(&run)->fault, RAY_FAULT_BADADDR);
	need("ray_copyoutstr");
	from = kern_string(&run, 0, "xy");
	kern_call(&run, from, (uintptr_t)to, 100, 0);
	assert_string_equal(to, "xy");
	assert_string_equal(to + 3, "3456789");
}

/* Each on its own: what the verifier does not take shows here, whatever a script uses. */
static void every_function_is_taken_by_the_verifier(void **state)
{
	const struct ray_object *object;
	size_t count = 0, failures = 0;

	(void)state;
	need("ray_load");
	assert_null(ray_trace_object(&run.trace, &object));
	for (size_t i = 0; i < object->functions.n; i++) {
		const char *name = object->functions.at[i].name;

		/* Those of the walker need its maps, or are called by it alone; they are tested with it. */
		if (!object->functions.at[i].is_global || !strncmp(name, "ray_walk_", 9) || needs_other_maps(name))
			continue;
		/* A kernel may be locked down, so that nothing writes into processes. */
		if (!kern_load(&run, name) && !strstr(run.skip, "lets nobody write"))
			failures++;
		count++;
	}
	assert_int_equal(failures, 0);
	assert_true(count > 50);
}

static int setup(void **state)
{
	(void)state;
	kern_init(&run);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kern_deinit(&run);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_of_open_files_are_those_of_proc),
		cmocka_unit_test(names_and_file_systems),
		cmocka_unit_test(the_process_itself),
		cmocka_unit_test(values_out_of_json),
		cmocka_unit_test(speculations_are_given_out_and_ended),
		cmocka_unit_test(bytes_are_written_into_the_process),
		cmocka_unit_test(every_function_is_taken_by_the_verifier),
		cmocka_unit_test(numbers_fall_into_distributions),
		cmocka_unit_test(powers_of_two_are_found_by_shifts),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
