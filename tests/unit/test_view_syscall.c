/* test_view_syscall.c - system calls as text, from facts made by hand. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kern/wire.h"
#include "probe/syscall_names.h"
#include "view/syscall.h"

enum { MOST_FIELDS = 12 };

struct told {
	struct ray_calls *calls;
	struct ray_fact_field fields[MOST_FIELDS];
	struct ray_fact fact;
};

static void begin(struct told *t, const char *what, const char *call)
{
	t->fact = (struct ray_fact){ .name = what, .fields = t->fields, .pid = 1, .tid = 2 };
	t->fields[t->fact.count++] = (struct ray_fact_field){ .name = "name",
							      .value = { .kind = RAY_VALUE_STRING,
									 .bytes = call,
									 .length = strlen(call),
									 .size = (uint32_t)strlen(call) + 1 } };
}

static void number(struct told *t, const char *name, int64_t value)
{
	t->fields[t->fact.count++] = (struct ray_fact_field){
		.name = name, .value = { .kind = RAY_VALUE_INTEGER, .size = 8, .integer = (uint64_t)value }
	};
}

static void bytes(struct told *t, const char *name, const void *at, size_t size)
{
	t->fields[t->fact.count++] = (struct ray_fact_field){
		.name = name, .value = { .kind = RAY_VALUE_BYTES, .bytes = at, .size = (uint32_t)size, .length = size }
	};
}

static void memory(struct told *t, const char *what, const char *call, int arg, const void *at, size_t size)
{
	begin(t, what, call);
	number(t, "arg", arg);
	bytes(t, strcmp(what, "string") ? "bytes" : "text", at, size);
	assert_null(ray_calls_take(t->calls, &t->fact));
}

/* The call itself, and how it reads. */
static void reads(struct told *t, const char *call, int64_t result, const uint64_t args[6], const char *expected)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
	const struct ray_call_seen *s;
	ray_auto_text out = { 0 };

	begin(t, "call", call);
	number(t, "ns", 1000);
	number(t, "result", result);
	for (int i = 0; i < 6; i++)
		number(t, names[i], (int64_t)args[i]);
	s = ray_calls_take(t->calls, &t->fact);
	assert_non_null(s);
	ray_text_printf(&out, "%s(", s->call ? ray_call_name(s->call) : "?");
	for (size_t i = 0; i < ray_call_arg_count(s); i++) {
		ray_text_add(&out, i ? ", " : "");
		ray_call_print_arg(s, i, &out);
	}
	ray_text_add(&out, ") = ");
	ray_call_print_result(s, &out);
	assert_string_equal(ray_text_get(&out), expected);
}

#define ARGS(...) ((const uint64_t[6]){ __VA_ARGS__ })

static int setup(void **state)
{
	struct told *t = calloc(1, sizeof(*t));

	t->calls = ray_calls_create();
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct told *t = *state;

	ray_calls_free(t->calls);
	free(t);
	return 0;
}

static void paths_flags_and_errors(void **state)
{
	struct told *t = *state;

	memory(t, "string", "openat", 1, "/a\"b\n\x7f", 6);
	reads(t, "openat", -2, ARGS(0xffffff9c, 1, 02000000, 0666),
	      "openat(AT_FDCWD, \"/a\\\"b\\n\\177\", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)");
	memory(t, "string", "openat", 1, "/cut\0", 5);
	reads(t, "openat", 7, ARGS(3, 1, 02 | 0100 | 01000, 0640),
	      "openat(3, \"/cut\"..., O_RDWR|O_CREAT|O_TRUNC, 0640) = 7");
	reads(t, "openat", -14, ARGS(3, 0x1000, 1u << 30),
	      "openat(3, 0x1000, O_RDONLY|0x40000000) = -1 EFAULT (Bad address)");
	reads(t, "newfstat", -512, ARGS(3, 0), "fstat(3, NULL) = ? ERESTARTSYS (to be restarted)");
	reads(t, "exit_group", 0, ARGS(3), "exit_group(3) = ?");
	reads(t, "mmap", 0x7f0000000000, ARGS(0, 4096, 3, 0x22, 0xffffffff, 0),
	      "mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000000000");
}

static void buffers_are_as_long_as_they_are(void **state)
{
	struct told *t = *state;

	memory(t, "memory", "read", 1, "ab\0\0011", 5);
	reads(t, "read", 5, ARGS(3, 1, 64), "read(3, \"ab\\0\\0011\", 64) = 5");
	memory(t, "memory", "read", 1, "abc", 3);
	reads(t, "read", 50, ARGS(3, 1, 64), "read(3, \"abc\"..., 64) = 50");
	memory(t, "memory", "read", 1, "abc", 3);
	reads(t, "read", -11, ARGS(3, 1, 64), "read(3, 0x1, 64) = -1 EAGAIN (Resource temporarily unavailable)");
	memory(t, "memory", "write", 1, "abc", 3);
	reads(t, "write", -32, ARGS(3, 1, 3), "write(3, \"abc\", 3) = -1 EPIPE (Broken pipe)");
}

static void vectors(void **state)
{
	const uint64_t iov[4] = { 0x10, 5, 0x20, 3 };
	struct told *t = *state;

	begin(t, "memory", "writev");
	number(t, "arg", 1);
	bytes(t, "bytes", iov, sizeof(iov));
	bytes(t, "first", "hell", 4);
	bytes(t, "second", "abc", 3);
	assert_null(ray_calls_take(t->calls, &t->fact));
	reads(t, "writev", 8, ARGS(3, 1, 2),
	      "writev(3, [{iov_base=\"hell\"..., iov_len=5}, {iov_base=\"abc\", iov_len=3}], 2) = 8");
}

static void addresses(void **state)
{
	static const unsigned char v4[] = { 2, 0, 0, 80, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0 };
	static const char unix_path[] = "\1\0/run/x";
	struct told *t = *state;

	memory(t, "memory", "connect", 1, v4, sizeof(v4));
	reads(t, "connect", -115, ARGS(3, 1, 16),
	      "connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"127.0.0.1\")}, 16) = "
	      "-1 EINPROGRESS (Operation now in progress)");
	memory(t, "memory", "bind", 1, unix_path, sizeof(unix_path));
	reads(t, "bind", 0, ARGS(3, 1, 9), "bind(3, {sa_family=AF_UNIX, sun_path=\"/run/x\"}, 9) = 0");
	memory(t, "memory", "bind", 1, "\1", 1);
	reads(t, "bind", 0, ARGS(3, 0x55, 1), "bind(3, 0x55, 1) = 0");
}

static void descriptors_have_names(void **state)
{
	struct ray_socket_name socket = {
		.family = 2, .type = 1, .local_port = 80, .remote_port = 5, .local = { 10, 0, 0, 1 }
	};
	struct told *t = *state;

	begin(t, "file", "close");
	number(t, "arg", 0);
	t->fields[t->fact.count++] = (struct ray_fact_field){
		.name = "path", .value = { .kind = RAY_VALUE_STRING, .bytes = "socket:[1]", .length = 10, .size = 11 }
	};
	bytes(t, "socket", &socket, sizeof(socket));
	assert_null(ray_calls_take(t->calls, &t->fact));
	reads(t, "close", 0, ARGS(9), "close(9<TCP:[10.0.0.1:80->0.0.0.0:5]>) = 0");
	reads(t, "close", 0, ARGS(9), "close(9) = 0"); /* what was told is forgotten */
}

/* Parts of a call that was not shown after all belong to no other. */
static void parts_of_another_call_are_dropped(void **state)
{
	struct told *t = *state;

	memory(t, "string", "openat", 1, "/old", 4);
	reads(t, "newstat", 0, ARGS(0x10, 0x20), "stat(0x10, 0x20) = 0");
	reads(t, "openat", 3, ARGS(0xffffff9c, 0x10), "openat(AT_FDCWD, 0x10, O_RDONLY) = 3");
	reads(t, "no such call", 3, ARGS(1), "?(0x1, 0, 0, 0, 0, 0) = 3");
}

/* Every word of the table means something. */
static void the_table_is_whole(void **state)
{
	struct told *t = *state;

	for (size_t i = 0; i < ray_syscall_count; i++) {
		const struct ray_syscall *call = &ray_syscalls[i];
		const char *parameters = call->parameters;
		size_t commas = *parameters ? 1 : 0, words = 0;
		struct ray_call_seen seen = { .call = call };
		ray_auto_text out = { 0 };

		for (; (parameters = strstr(parameters, ", ")); parameters += 2)
			commas++;
		for (const char *w = call->shown; *w && *w != '='; w += strcspn(w, " "), w += *w == ' ') {
			const char *colon = memchr(w, ':', strcspn(w, " "));

			words++;
			if (colon)
				assert_non_null(ray_name_set_find(colon + 1, strcspn(colon + 1, " ")));
		}
		assert_int_equal(words, commas);
		for (size_t k = 0; k < ray_call_arg_count(&seen); k++)
			ray_call_print_arg(&seen, k, &out);
		assert_true(out.length || !words);
	}
	assert_non_null(t);
	assert_int_equal(ray_syscall_is_of(ray_syscall_find("openat", 6), "file", 4), 1);
	assert_int_equal(ray_syscall_is_of(ray_syscall_find("connect", 7), "network", 7), 1);
	assert_int_equal(ray_syscall_is_of(ray_syscall_find("fstat", 5), "desc", 4), 1);
	assert_int_equal(ray_syscall_is_of(ray_syscall_find("brk", 3), "file", 4), 0);
	assert_int_equal(ray_syscall_is_of(ray_syscall_find("brk", 3), "flie", 4), -1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(paths_flags_and_errors),
		TEST(buffers_are_as_long_as_they_are),
		TEST(vectors),
		TEST(addresses),
		TEST(descriptors_have_names),
		TEST(parts_of_another_call_are_dropped),
		TEST(the_table_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
