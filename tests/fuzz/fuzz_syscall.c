/* fuzz_syscall.c - any bytes as what the arguments of a system call point to. SPDX-License-Identifier: MIT
 *
 * The first byte picks the call, the next ones its result, its arguments and how much memory each has; the rest is that memory. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "view/syscall.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct input {
	const uint8_t *at;
	size_t left;
};

static uint64_t take(struct input *in, size_t n)
{
	uint64_t value = 0;

	n = n < in->left ? n : in->left;
	memcpy(&value, in->at, n);
	in->at += n;
	in->left -= n;
	return value;
}

static void take_memory(struct input *in, struct ray_call_memory *m)
{
	size_t n = take(in, 1);

	m->is_known = n & 1;
	n = n / 2 < in->left ? n / 2 : in->left;
	ray_text_add_bytes(&m->text, in->at, n);
	in->at += n;
	in->left -= n;
}

static void print_all(const struct ray_call_seen *s)
{
	ray_auto_text out = { 0 };

	for (size_t i = 0; i < ray_call_arg_count(s); i++)
		ray_call_print_arg(s, i, &out);
	ray_call_print_result(s, &out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input in = { bytes, size };
	struct ray_call_seen s = { .call = &ray_syscalls[take(&in, 2) % ray_syscall_count] };

	s.result = (int32_t)take(&in, 4);
	for (size_t i = 0; i < RAY_CALL_ARGS; i++)
		s.args[i] = take(&in, 4);
	for (size_t i = 0; i < RAY_CALL_ARGS; i++) {
		take_memory(&in, &s.memory[i]);
		take_memory(&in, &s.files[i]);
		take_memory(&in, &s.sockets[i]);
	}
	for (size_t i = 0; i < RAY_CALL_EXTRAS; i++)
		take_memory(&in, &s.extras[i]);
	print_all(&s);
	for (size_t i = 0; i < RAY_CALL_ARGS; i++) {
		ray_text_deinit(&s.memory[i].text);
		ray_text_deinit(&s.files[i].text);
		ray_text_deinit(&s.sockets[i].text);
	}
	for (size_t i = 0; i < RAY_CALL_EXTRAS; i++)
		ray_text_deinit(&s.extras[i].text);
	return 0;
}
