/* Taking a BPF object apart, putting programs together, offsets from BTF. No root needed. SPDX-License-Identifier: MIT */
#include <bpf/btf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "engine/disasm.h"
#include "engine/kernel_btf.h"
#include "engine/link.h"
#include "kern/runtime.h"

static size_t object_size(void)
{
	return (size_t)(ray_runtime_object_end - ray_runtime_object);
}

static void the_runtime_is_taken_apart(void **state)
{
	ray_auto(ray_object, o) = NULL;
	const struct ray_object_function *f;

	(void)state;
	assert_null(ray_object_create(ray_runtime_object, object_size(), &o));
	f = ray_object_find(o, "ray_strcmp");
	assert_non_null(f);
	assert_true(f->is_global);
	assert_true(f->count > 10 && f->type_id);
	f = ray_object_find(o, "ray_compare_step");
	assert_non_null(f);
	assert_false(f->is_global);
	assert_null(ray_object_find(o, "ray_no_such"));
}

/* Damage is told or does no harm, under the sanitizers. */
static void a_damaged_object_is_refused_or_harmless(void **state)
{
	ray_auto_memory unsigned char *bytes = malloc(object_size());
	uint32_t random = 12345;

	(void)state;
	assert_non_null(bytes);
	for (int i = 0; i < 400; i++) {
		ray_auto(ray_object, o) = NULL;
		ray_auto(ray_error, err) = NULL;
		size_t size = object_size();

		memcpy(bytes, ray_runtime_object, size);
		for (int j = 0; j < 40; j++) {
			random = random * 1664525 + 1013904223;
			bytes[(random >> 8) % size] = (unsigned char)random;
		}
		if (i % 4 == 0)
			size = (random >> 4) % size;
		err = ray_object_create(bytes, size, &o);
		assert_true(err || o);
	}
}

static struct ray_error *give_map(void *arg, uint32_t number, int *fd_ret)
{
	(void)arg;
	*fd_ret = (int)number + 100;
	return NULL;
}

static struct ray_error *give_constant(void *arg, uint32_t number, uint64_t *ret)
{
	(void)arg;
	*ret = 0x1234500000000ULL + number;
	return NULL;
}

static const struct ray_link_values values = { give_map, give_constant, NULL };

/* Every call leads to the start of a function; no symbol is left. */
static void check_program(const struct ray_linked *l)
{
	for (uint32_t i = 0; i < l->insns.n; i++) {
		const struct bpf_insn *in = &l->insns.at[i];
		bool is_wide = in->code == (BPF_LD | BPF_IMM | BPF_DW);
		bool is_call = in->code == (BPF_JMP | BPF_CALL) && in->src_reg == BPF_PSEUDO_CALL;
		bool is_found = false;

		if (is_wide && !in->src_reg)
			assert_true(((uint64_t)(uint32_t)in[1].imm << 32 & RAY_MAGIC_MASK) !=
				    (RAY_MAGIC & 0xffffffff00000000ULL));
		if (is_call || (is_wide && in->src_reg == BPF_PSEUDO_FUNC)) {
			for (size_t j = 0; j < l->parts.n; j++)
				is_found |= l->parts.at[j].start == i + 1 + (uint32_t)in->imm;
			assert_true(is_found);
		}
		i += is_wide;
	}
}

static void a_piece_is_linked_with_what_it_calls(void **state)
{
	ray_auto(ray_object, o) = NULL;
	struct ray_piece other = { .name = "other" }, p = { .name = "entry" };
	struct ray_linked l = { 0 };
	bool used[RAY_LINK_MAP_COUNT] = { 0 };

	(void)state;
	assert_null(ray_object_create(ray_runtime_object, object_size(), &o));
	ray_piece_emit(&other, RAY_MOV_IMM(BPF_REG_0, 0));
	ray_piece_emit(&other, RAY_EXIT_INSN);
	assert_true(ray_piece_finish(&other));
	ray_piece_call_runtime(&p, "ray_strcmp");
	ray_piece_call_piece(&p, &other);
	ray_piece_call_piece(&p, &other);
	ray_piece_load_pc(&p, BPF_REG_1, 0);
	ray_piece_load_const(&p, BPF_REG_2, RAY_LINK_STRSIZE);
	ray_piece_emit(&p, RAY_EXIT_INSN);
	assert_true(ray_piece_finish(&p));
	assert_null(ray_link_collect(o, &p, &l));
	ray_link_used_maps(o, &l, used);
	assert_true(used[RAY_LINK_SLOTS]);
	assert_false(used[RAY_LINK_RING]);
	assert_null(ray_link_finish(o, &values, &l));
	/* entry, strcmp, other, and strcmp's callback. */
	assert_int_equal(l.parts.n, 4);
	assert_int_equal(l.infos.n, 4);
	assert_int_equal(l.insns.at[3].imm, 3);
	assert_int_equal(l.insns.at[4].imm, RAY_LINK_STRSIZE);
	assert_int_equal(l.insns.at[5].imm, 0x12345);
	check_program(&l);
	ray_linked_deinit(&l);
	ray_piece_deinit(&p);
	ray_piece_deinit(&other);
}

static void a_call_of_nothing_is_told(void **state)
{
	ray_auto(ray_object, o) = NULL;
	ray_auto(ray_error, err) = NULL;
	struct ray_piece p = { .name = "entry" };
	struct ray_linked l = { 0 };

	(void)state;
	assert_null(ray_object_create(ray_runtime_object, object_size(), &o));
	ray_piece_call_runtime(&p, "ray_no_such");
	err = ray_link_collect(o, &p, &l);
	assert_non_null(err);
	assert_string_equal(ray_error_text(err), "entry calls ray_no_such(), which the runtime does not have");
	ray_linked_deinit(&l);
	ray_piece_deinit(&p);
}

static void offsets_are_those_of_libbpf(void **state)
{
	ray_auto(ray_kernel_btf, b) = NULL;
	struct btf *whole;
	const struct btf_type *type;
	const struct btf_member *m;
	uint32_t offset;

	(void)state;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		skip();
	assert_null(ray_kernel_btf_create(NULL, &b));
	whole = btf__load_vmlinux_btf();
	assert_non_null(whole);
	type = btf__type_by_id(whole, (uint32_t)btf__find_by_name_kind(whole, "task_struct", BTF_KIND_STRUCT));
	m = btf_members(type);
	for (int i = 0; i < btf_vlen(type); i++) {
		const char *name = btf__name_by_offset(whole, m[i].name_off);

		if (!*name)
			continue;
		assert_null(ray_kernel_btf_offset(b, "task_struct", name, &offset));
		assert_int_equal(offset, btf_member_bit_offset(type, (uint32_t)i) / 8);
	}
	assert_null(ray_kernel_btf_offset(b, "dentry", "d_name.name", &offset));
	assert_null(ray_kernel_btf_offset(b, "task_struct", "se.sum_exec_runtime", &offset));
	btf__free(whole);
}

static void what_the_kernel_has_not_is_told(void **state)
{
	ray_auto(ray_kernel_btf, b) = NULL;
	ray_auto(ray_error, err) = NULL, *err2 __attribute__((cleanup(ray_auto_free_ray_error))) = NULL;
	uint32_t offset;

	(void)state;
	err = ray_kernel_btf_create("/no/such/file", &b);
	assert_non_null(err);
	assert_non_null(strstr(ray_error_text(err), "tells no types"));
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		skip();
	assert_null(ray_kernel_btf_create(NULL, &b));
	err2 = ray_kernel_btf_offset(b, "task_struct", "no_such", &offset);
	assert_non_null(err2);
	assert_string_equal(ray_error_text(err2), "this kernel's struct task_struct has no member no_such");
}

static void a_damaged_btf_does_no_harm(void **state)
{
	ray_auto(ray_object, o) = NULL;
	char path[] = "/tmp/noderay-test-btf-XXXXXX";
	int fd = mkstemp(path);
	uint32_t random = 99, offset;

	(void)state;
	assert_true(fd >= 0);
	assert_null(ray_object_create(ray_runtime_object, object_size(), &o));
	for (int i = 0; i < 200; i++) {
		ray_auto_memory unsigned char *bytes = malloc(o->btf_size);
		ray_auto(ray_kernel_btf, b) = NULL;
		ray_auto(ray_error, err) = NULL;

		memcpy(bytes, o->btf, o->btf_size);
		for (int j = 0; i && j < 10; j++) {
			random = random * 1664525 + 1013904223;
			bytes[(random >> 8) % o->btf_size] = (unsigned char)random;
		}
		assert_int_equal(pwrite(fd, bytes, o->btf_size, 0), o->btf_size);
		err = ray_kernel_btf_create(path, &b);
		if (!err)
			err = ray_kernel_btf_offset(b, "ray_compare_loop", "x", &offset);
		assert_true(i || !err);
	}
	close(fd);
	unlink(path);
}

static void instructions_are_printed_as_dtrace_does(void **state)
{
	static const struct bpf_insn insns[] = {
		RAY_MOV_IMM(BPF_REG_3, 4),
		RAY_LOAD(BPF_DW, BPF_REG_1, BPF_REG_10, -8),
		RAY_STORE(BPF_W, BPF_REG_9, BPF_REG_1, 16),
		RAY_INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 2, 7),
		RAY_CALL_HELPER(BPF_FUNC_ktime_get_ns),
		RAY_EXIT_INSN,
	};
	ray_auto_memory char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	for (uint32_t i = 0; i < RAY_COUNT(insns); i++)
		assert_int_equal(ray_insn_print(f, &insns[i], i, false, NULL), 1);
	fclose(f);
	assert_string_equal(text, "0000 00000: b7 3 0 0000 00000004    mov  %r3, 4\n"
				  "0001 00008: 79 1 a fff8 00000000    lddw %r1, [%fp-8]\n"
				  "0002 00016: 63 9 1 0010 00000000    stw  [%r9+16], %r1\n"
				  "0003 00024: 15 0 0 0002 00000007    jeq  %r0, 7, 2                ! -> 006\n"
				  "0004 00032: 85 0 0 0000 00000005    call bpf_ktime_get_ns\n"
				  "0005 00040: 95 0 0 0000 00000000    exit\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_runtime_is_taken_apart),
		cmocka_unit_test(a_damaged_object_is_refused_or_harmless),
		cmocka_unit_test(a_piece_is_linked_with_what_it_calls),
		cmocka_unit_test(a_call_of_nothing_is_told),
		cmocka_unit_test(offsets_are_those_of_libbpf),
		cmocka_unit_test(what_the_kernel_has_not_is_told),
		cmocka_unit_test(a_damaged_btf_does_no_harm),
		cmocka_unit_test(instructions_are_printed_as_dtrace_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
