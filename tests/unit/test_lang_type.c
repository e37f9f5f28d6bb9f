/* The table of types: what D knows by itself, what a script defines, what the kernel's BTF adds.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "lang/type.h"

static int set_up(void **state)
{
	struct ray_types *types;
	struct ray_arena *arena = ray_arena_create();

	if (!arena || ray_types_create(arena, &types))
		return -1;
	static struct {
		struct ray_arena *arena;
		struct ray_types *types;
	} both;
	both.arena = arena;
	both.types = types;
	*state = &both;
	return 0;
}

struct both {
	struct ray_arena *arena;
	struct ray_types *types;
};

static int tear_down(void **state)
{
	struct both *b = *state;

	ray_types_free(b->types);
	ray_arena_free(b->arena);
	return 0;
}

static const char *text_of(const struct ray_type *t, char *out, size_t size)
{
	ray_auto_text text = { 0 };

	ray_type_print(t, &text);
	snprintf(out, size, "%s", ray_text_get(&text));
	return out;
}

static void typedefs_lead_to_basic_types(void **state)
{
	struct ray_types *t = ((struct both *)*state)->types;

	assert_int_equal(ray_type_size(ray_type_typedef(t, "uint16_t")), 2);
	assert_false(ray_type_is_signed(ray_type_typedef(t, "size_t")));
	assert_true(ray_type_is_signed(ray_type_typedef(t, "pid_t")));
	assert_ptr_equal(ray_type_resolve(ray_type_typedef(t, "int64_t")), ray_type_basic(t, RAY_BASIC_LONG));
	assert_null(ray_type_typedef(t, "no_such_thing"));
}

static void strsize_is_the_size_of_string(void **state)
{
	struct ray_types *t = ((struct both *)*state)->types;

	ray_types_set_strsize(t, 32);
	assert_int_equal(ray_type_size(ray_type_basic(t, RAY_BASIC_STRING)), 33);
}

static void types_print_as_c_writes_them(void **state)
{
	struct ray_types *t = ((struct both *)*state)->types;
	const struct ray_type *c = ray_type_basic(t, RAY_BASIC_CHAR);
	const struct ray_type *cc = ray_type_qualified(t, c, RAY_TYPE_CONST);
	char out[64];

	assert_string_equal(text_of(ray_type_array(t, c, 16), out, sizeof(out)), "char [16]");
	assert_string_equal(text_of(ray_type_pointer(t, cc), out, sizeof(out)), "const char *");
	assert_string_equal(text_of(ray_type_pointer(t, ray_type_array(t, c, 4)), out, sizeof(out)), "char (*)[4]");
	assert_string_equal(text_of(ray_type_array(t, ray_type_pointer(t, c), 4), out, sizeof(out)), "char *[4]");
}

static void forward_is_complete_once_defined(void **state)
{
	struct both *b = *state;
	struct ray_types *t = b->types;
	struct ray_type forward = { .kind = RAY_TYPE_FORWARD, .forward_kind = RAY_TYPE_STRUCT, .name = "ours" };
	struct ray_member member = { .name = "x", .type = ray_type_basic(t, RAY_BASIC_INT) };
	struct ray_type full = {
		.kind = RAY_TYPE_STRUCT, .name = "ours", .size = 4, .align = 4, .count = 1, .members = &member
	};
	uint32_t at = 99;

	assert_null(ray_type_define(t, &forward));
	assert_int_equal(ray_type_resolve(&forward)->kind, RAY_TYPE_FORWARD);
	assert_null(ray_type_define(t, &full));
	assert_ptr_equal(ray_type_resolve(&forward), &full);
	assert_ptr_equal(ray_type_member(&forward, "x", &at), &member);
	assert_int_equal(at, 0);
	ray_auto(ray_error, err) = ray_type_define(t, &full);
	assert_non_null(err);
}

static void enumerators_are_found_by_name(void **state)
{
	struct ray_types *t = ((struct both *)*state)->types;
	struct ray_enumerator list[] = { { "RED", 0 }, { "BLUE", 7 } };
	struct ray_type e = { .kind = RAY_TYPE_ENUM, .size = 4, .align = 4, .count = 2, .enumerators = list };
	const struct ray_type *of;

	assert_null(ray_type_define(t, &e));
	assert_int_equal(ray_type_enumerator(t, "BLUE", &of)->value, 7);
	assert_ptr_equal(of, &e);
	assert_null(ray_type_enumerator(t, "GREEN", &of));
}

static void members_of_anonymous_members_count(void **state)
{
	struct ray_types *t = ((struct both *)*state)->types;
	struct ray_member inner = { .name = "y", .type = ray_type_basic(t, RAY_BASIC_INT), .bit_offset = 32 };
	struct ray_type u = { .kind = RAY_TYPE_UNION, .size = 8, .count = 1, .members = &inner };
	struct ray_member outer = { .type = &u, .bit_offset = 64 };
	struct ray_type s = { .kind = RAY_TYPE_STRUCT, .size = 16, .count = 1, .members = &outer };
	uint32_t at;

	assert_ptr_equal(ray_type_member(&s, "y", &at), &inner);
	assert_int_equal(at, 96);
}

static void library_structures_come_when_named(void **state)
{
	struct ray_types *t = ((struct both *)*state)->types;
	const struct ray_type *ps = ray_type_typedef(t, "psinfo_t");
	uint32_t at;

	assert_non_null(ps);
	assert_non_null(ray_type_member(ps, "pr_psargs", &at));
	assert_ptr_equal(ray_type_tagged(t, RAY_TYPE_STRUCT, "psinfo"), ray_type_resolve(ps));
	assert_non_null(ray_type_member(ray_type_member(ps, "pr_lwp", &at)->type, "pr_lwpid", &at));
}

static void kernel_structures_come_from_btf(void **state)
{
	struct ray_types *t = ((struct both *)*state)->types;
	const struct ray_type *task;
	const struct ray_member *m;
	uint32_t at;

	if (access("/sys/kernel/btf/vmlinux", R_OK))
		skip();
	task = ray_type_tagged(t, RAY_TYPE_STRUCT, "task_struct");
	assert_non_null(task);
	m = ray_type_member(task, "real_parent", &at);
	assert_non_null(m);
	assert_ptr_equal(ray_type_resolve(ray_type_resolve(m->type)->target), task);
	assert_int_equal(ray_type_size(ray_type_member(task, "comm", &at)->type), 16);
	assert_null(ray_type_tagged(t, RAY_TYPE_STRUCT, "no_such_structure_here"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(typedefs_lead_to_basic_types),       T(strsize_is_the_size_of_string),
		T(types_print_as_c_writes_them),       T(forward_is_complete_once_defined),
		T(enumerators_are_found_by_name),      T(members_of_anonymous_members_count),
		T(library_structures_come_when_named), T(kernel_structures_come_from_btf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
