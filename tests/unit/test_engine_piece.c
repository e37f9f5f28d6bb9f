/* test_engine_piece.c - instructions under construction: jumps, constants, references.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/piece.h"

static void jumps_lead_to_their_labels(void **state)
{
	struct ray_piece p = { .name = "test" };
	uint32_t back = ray_piece_label(&p), forth = ray_piece_label(&p);

	(void)state;
	ray_piece_place(&p, back);
	ray_piece_emit(&p, RAY_MOV_IMM(BPF_REG_0, 0));
	ray_piece_jump(&p, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_0, 1), forth);
	ray_piece_jump(&p, RAY_JUMP_ALWAYS, back);
	ray_piece_place(&p, forth);
	ray_piece_emit(&p, RAY_EXIT_INSN);
	assert_true(ray_piece_finish(&p));
	assert_int_equal(p.insns.at[1].off, 1);
	assert_int_equal(p.insns.at[2].off, -3);
	ray_piece_deinit(&p);
}

static void a_label_without_a_place_is_told(void **state)
{
	struct ray_piece p = { .name = "test" };

	(void)state;
	ray_piece_jump(&p, RAY_JUMP_ALWAYS, ray_piece_label(&p));
	assert_false(ray_piece_finish(&p));
	ray_piece_deinit(&p);
}

static void a_jump_too_far_is_told(void **state)
{
	struct ray_piece p = { .name = "test" };
	uint32_t end = ray_piece_label(&p);

	(void)state;
	ray_piece_jump(&p, RAY_JUMP_ALWAYS, end);
	for (int i = 0; i < INT16_MAX + 1; i++)
		ray_piece_emit(&p, RAY_MOV_IMM(BPF_REG_0, 0));
	ray_piece_place(&p, end);
	assert_false(ray_piece_finish(&p));
	ray_piece_deinit(&p);
}

static void a_piece_in_another_one_goes_on_where_it_would_return(void **state)
{
	struct ray_piece p = { .name = "outer" }, inner = { .name = "inner" };
	uint32_t end = ray_piece_label(&p), over = ray_piece_label(&inner);

	(void)state;
	ray_piece_emit(&inner, RAY_MOV_REG(BPF_REG_8, BPF_REG_1));
	ray_piece_jump(&inner, RAY_JUMP_IMM(BPF_JEQ, BPF_REG_8, 0), over);
	ray_piece_load_map(&inner, BPF_REG_1, 7);
	ray_piece_emit(&inner, RAY_EXIT_INSN);
	ray_piece_place(&inner, over);
	ray_piece_emit(&inner, RAY_EXIT_INSN);
	assert_true(ray_piece_finish(&inner));
	ray_piece_emit(&p, RAY_MOV_IMM(BPF_REG_0, 0));
	ray_piece_inline(&p, &inner, 1, end);
	ray_piece_emit(&p, RAY_MOV_IMM(BPF_REG_0, 2));
	ray_piece_place(&p, end);
	ray_piece_emit(&p, RAY_EXIT_INSN);
	assert_true(ray_piece_finish(&p));
	assert_int_equal(p.insns.n, 8);
	assert_int_equal(p.insns.at[1].off, 3); /* as it was */
	assert_int_equal(p.insns.at[4].code, BPF_JMP | BPF_JA);
	assert_int_equal(p.insns.at[4].off, 2);
	assert_int_equal(p.insns.at[5].off, 1);
	assert_int_equal(p.references.n, 1);
	assert_int_equal(p.references.at[0].insn, 2);
	assert_int_equal(p.references.at[0].number, 7);
	ray_piece_deinit(&p);
	ray_piece_deinit(&inner);
}

static uint64_t loaded(const struct ray_piece *p)
{
	const struct bpf_insn *i = p->insns.at;

	if (BPF_CLASS(i->code) == BPF_LD)
		return (uint32_t)i[0].imm | (uint64_t)(uint32_t)i[1].imm << 32;
	return BPF_CLASS(i->code) == BPF_ALU ? (uint32_t)i->imm : (uint64_t)(int64_t)i->imm;
}

static void constants_take_as_few_instructions_as_they_can(void **state)
{
	static const struct {
		uint64_t value;
		size_t count;
	} cases[] = { { 0, 1 },		 { 42, 1 },	    { (uint64_t)-1, 1 }, { INT32_MAX, 1 },
		      { 0x80000000, 1 }, { UINT32_MAX, 1 }, { 0x100000000, 2 },	 { 1ULL << 63, 2 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ray_piece p = { .name = "test" };

		ray_piece_load_u64(&p, BPF_REG_1, cases[i].value);
		assert_int_equal(p.insns.n, cases[i].count);
		assert_int_equal(loaded(&p), cases[i].value);
		ray_piece_deinit(&p);
	}
}

static void the_offset_in_a_map_waits_for_the_linker(void **state)
{
	struct ray_piece p = { .name = "test" };

	(void)state;
	ray_piece_load_map_value(&p, BPF_REG_1, 1003, 24);
	assert_int_equal(p.insns.at[0].src_reg, BPF_PSEUDO_MAP_VALUE);
	assert_int_equal(p.insns.at[1].imm, 24);
	assert_int_equal(p.references.n, 1);
	assert_int_equal(p.references.at[0].kind, RAY_REF_MAP);
	assert_int_equal(p.references.at[0].number, 1003);
	ray_piece_deinit(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jumps_lead_to_their_labels),
		cmocka_unit_test(a_label_without_a_place_is_told),
		cmocka_unit_test(a_jump_too_far_is_told),
		cmocka_unit_test(a_piece_in_another_one_goes_on_where_it_would_return),
		cmocka_unit_test(constants_take_as_few_instructions_as_they_can),
		cmocka_unit_test(the_offset_in_a_map_waits_for_the_linker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
