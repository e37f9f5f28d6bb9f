/* test_lang_decl.c - declarations, inlines, translators and provider blocks of D. SPDX-License-Identifier: MIT */
#include "lang/cpp.h"
#include "parse_d.h"

/* Declarations alone, with a clause behind them. */
static const char *parse_declarations(const char *text, struct ray_text *out)
{
	static const char after[] = ":::BEGIN { default }\n";
	ray_auto_text script = { 0 };
	size_t length;

	ray_text_printf(&script, "%s BEGIN {}", text);
	parse_argument(ray_text_get(&script), out);
	length = strlen(after);
	if (out->length >= length && !strcmp(out->bytes + out->length - length, after))
		out->bytes[out->length - length] = '\0';
	return ray_text_get(out);
}

static void types_are_as_in_c(void **state)
{
	(void)state;
	check_rows(parse_declarations,
		   { "int a; unsigned b; long unsigned int c; short d;",
		     "a: <int>\nb: <unsigned int>\nc: <unsigned long>\nd: <short>\n" },
		   { "long long e, *f, g[2];", "e: <long long>\nf: <long long *>\ng: <long long [2]>\n" },
		   { "signed char h; const volatile int i; string j;", "h: <signed char>\ni: <int>\nj: <string>\n" },
		   { "int a[3][4]; char *p[5]; int (*x)[5];", "a: <int [3][4]>\np: <char *[5]>\nx: <int (*)[5]>\n" },
		   { "int (*f)(int, char *, ...); int (*(*fp)(int))(char);", "f: <int (*)()>\nfp: <int (*(*)())()>\n" },
		   { "int*x; char*y; uint32_t*z;", "x: <int *>\ny: <char *>\nz: <uint32_t *>\n" },
		   { "self int t; this string u;", "self->t: <int>\nthis->u: <string>\n" },
		   { "int as[string, int, char *k]; self int b[int];",
		     "as: <string> <int> <char *> -> <int>\nself->b: <int> -> <int>\n" },
		   { "int v[int][3]; int *w[int];", "v: <int> -> <int [3]>\nw: <int> -> <int *>\n" },
		   { "struct s *x; struct s { int a; }; struct s y;", "x: <struct s *>\ny: <struct s>\n" },
		   { "union { int a; } x; enum { A } y;", "x: <union (anon)>\ny: <enum (anon)>\n" },
		   { "typedef int t_t; t_t *f(t_t, t_t x); extern int g(void), h; extern e9;", "" },
		   { "void *p[4]; void (*f)(void); typedef int t_t; int (*g)(t_t);",
		     "p: <void *[4]>\nf: <void (*)()>\ng: <int (*)()>\n" });
}

static void typedefs_are_types_and_may_also_be_names(void **state)
{
	(void)state;
	check_rows(parse_argument,
		   { "typedef int foo_t; foo_t x; foo_t *y; struct q { foo_t foo_t; }; BEGIN { (foo_t)1; foo_t = 3; }",
		     "x: <foo_t>\ny: <foo_t *>\n:::BEGIN { (cast <foo_t> 1) (= foo_t 3) }\n" },
		   { "typedef struct s { int a; } s_t, *s_p; BEGIN { (s_p)x }", ":::BEGIN { (cast <s_p> x) }\n" },
		   { "typedef char u8; typedef long uid_t; uid_t x; int uint; BEGIN { uint }",
		     "x: <uid_t>\nuint: <int>\n:::BEGIN { uint }\n" },
		   { "typedef int t[4]; int x[sizeof (t)]; BEGIN {}", "x: <int [16]>\n:::BEGIN { default }\n" });
}

static void constants_give_sizes(void **state)
{
	(void)state;
	check_rows(
		parse_declarations, { "enum color { RED, GREEN = 5, BLUE }; int a[BLUE];", "a: <int [6]>\n" },
		{ "enum { A = 3, B = A + 1, C = A < B ? 7 : 8 }; int a[C], b[B];", "a: <int [7]>\nb: <int [4]>\n" },
		{ "inline int TWO = 2; int b[TWO * 4]; int c[sizeof (int)];",
		  "b: <int [8]>\nc: <int [4]>\ninline TWO: <int> = 2\n" },
		{ "int a[(char)257]; int b[~0 + 3]; int c[-7 / -2]; int d[7 % 4]; int e[1 << 3 | 1]; int f[!0 && 2];",
		  "a: <int [1]>\nb: <int [2]>\nc: <int [3]>\nd: <int [3]>\ne: <int [9]>\nf: <int [1]>\n" },
		{ "struct s { int a; long b; }; int x[offsetof(struct s, b)]; int y[sizeof (\"abc\")];",
		  "x: <int [8]>\ny: <int [4]>\n" },
		{ "int a[0];", "error: [D_DECL_ARRSUB] positive integral constant expression or tuple signature "
			       "expected as array declaration subscript" },
		{ "int a[-1];", "error: [D_DECL_ARRSUB] positive integral constant expression or tuple signature "
				"expected as array declaration subscript" },
		{ "int a[x];", "error: [D_DECL_ARRSUB] positive integral constant expression or tuple signature "
			       "expected as array declaration subscript" },
		{ "int a[0x100000000];", "error: [D_DECL_ARRBIG] array dimension too big" },
		{ "int a[0xffffffff][0xffffffff][7];", "error: [D_DECL_ARRBIG] array dimension too big" });
}

static uint64_t offset_of(const struct ray_program *program, const char *member, uint32_t *width)
{
	const struct ray_type *type = ray_type_defined(program->types, RAY_TYPE_STRUCT, "s");
	uint32_t bit_offset = 0;
	const struct ray_member *m = ray_type_member(type, member, &bit_offset);

	assert_non_null(m);
	*width = m->bit_width;
	return bit_offset;
}

/* What gcc makes of the same members is written down beside them. */
static void members_lie_where_the_compiler_puts_them(void **state)
{
	static const char text[] =
		"struct s { char a; int b : 3; int : 2; int c : 30; unsigned char d : 1; long e; short f[3];"
		" struct { int g; char h; }; union { int i; char j[5]; } k; int : 0; char l : 4; }; BEGIN {}";
	struct real {
		char a;
		int b : 3;
		int : 2;
		int c : 30;
		unsigned char d : 1;
		long e;
		short f[3];
		struct {
			int g;
			char h;
		};
		union {
			int i;
			char j[5];
		} k;
		int : 0;
		char l : 4;
	};
	const struct ray_source source = { .text = text, .length = strlen(text) };
	ray_auto(ray_program, program) = NULL;
	uint32_t width;

	(void)state;
	assert_null(ray_program_create(NULL, &program));
	assert_null(ray_program_parse(program, &source, NULL, NULL, NULL));
	assert_int_equal(offset_of(program, "a", &width), 0);
	assert_int_equal(offset_of(program, "b", &width), 8);
	assert_int_equal(width, 3);
	assert_int_equal(offset_of(program, "c", &width), 32);
	assert_int_equal(width, 30);
	assert_int_equal(offset_of(program, "d", &width), 62);
	assert_int_equal(offset_of(program, "e", &width), offsetof(struct real, e) * 8);
	assert_int_equal(width, 0);
	assert_int_equal(offset_of(program, "f", &width), offsetof(struct real, f) * 8);
	assert_int_equal(offset_of(program, "h", &width), offsetof(struct real, h) * 8);
	assert_int_equal(offset_of(program, "k", &width), offsetof(struct real, k) * 8);
	assert_int_equal(ray_type_size(ray_type_defined(program->types, RAY_TYPE_STRUCT, "s")), sizeof(struct real));
}

static void bad_types_are_refused(void **state)
{
	(void)state;
	check_rows(
		parse_declarations, { "int int;", "error: [D_DECL_COMBO] invalid type combination" },
		{ "struct s { int a; } int x;", "error: [D_DECL_COMBO] invalid type combination" },
		{ "long char c;",
		  "error: [D_DECL_CHARATTR] invalid type declaration: short and long may not be used with char type" },
		{ "unsigned void c;",
		  "error: [D_DECL_VOIDATTR] invalid type declaration: attributes may not be used with void type" },
		{ "unsigned struct s { int a; } c;",
		  "error: [D_DECL_SIGNINT] invalid type declaration: signed and unsigned may only be used with integer type" },
		{ "long struct s { int a; } c;",
		  "error: [D_DECL_LONGINT] invalid type declaration: long and long long may only be used with integer or floating-point type" },
		{ "short long x;", "error: [D_UNKNOWN] failed to resolve type short long : Unknown type name" },
		{ "self this int x;", "error: [D_DECL_CLASS] only one storage class allowed in a declaration" },
		{ "static int x;", "error: [D_DECL_BADCLASS] specified storage class not appropriate in D" },
		{ "int;", "error: [D_DECL_USELESS] useless declaration" },
		{ "void v;", "error: [D_DECL_VOIDOBJ] cannot have void object: v" },
		{ "void v[3];", "error: [D_DECL_VOIDOBJ] cannot declare array of void" },
		{ "struct foo x;", "error: [D_DECL_INCOMPLETE] incomplete struct/union/enum struct foo: x" },
		{ "int x[];",
		  "error: [D_DECL_ARRNULL] array declaration requires array dimension or tuple signature: x" },
		{ "int x = 5;", "error: [D_SYNTAX] syntax error near \"=\"" },
		{ "int a`b;", "error: [D_DECL_SCOPE] D scoping operator may not be used in a declaration name (a`b)" });
}

static void bad_structs_and_enums_are_refused(void **state)
{
	(void)state;
	check_rows(
		parse_declarations, { "struct s { };", "error: [D_SYNTAX] syntax error near \"}\"" },
		{ "struct s { int a; int a; };",
		  "error: [D_UNKNOWN] failed to define member 'a': Duplicate member or variable name" },
		{ "struct s { struct s x; };", "error: [D_DECL_INCOMPLETE] incomplete struct/union/enum struct s: x" },
		{ "union s { union s x; };", "error: [D_DECL_INCOMPLETE] incomplete struct/union/enum union s: x" },
		{ "struct s { union t x; };", "error: [D_DECL_INCOMPLETE] incomplete struct/union/enum struct t: x" },
		{ "struct s { void x; };", "error: [D_DECL_VOIDOBJ] cannot have void member: x" },
		{ "struct s { int x[int]; };", "error: [D_DECL_DYNOBJ] cannot have dynamic member: x" },
		{ "struct s { int a : 33; };", "error: [D_DECL_BFSIZE] bit-field too big for type: a" },
		{ "struct s { int a : 0; };",
		  "error: [D_DECL_BFCONST] positive integral constant expression expected as bit-field size" },
		{ "struct s { int : 0; } x;", "error: [D_DECL_INCOMPLETE] incomplete struct/union/enum struct s: x" },
		{ "struct s { float : 3; };", "error: [D_DECL_BFTYPE] invalid type for bit-field: (anon)" },
		{ "struct s { int a; }; struct s { int b; };", "error: [D_DECL_TYPERED] type redeclared: struct s" },
		{ "struct s { static int a; };", "error: [D_SYNTAX] syntax error near \"static\"" },
		{ "enum { A, A };",
		  "error: [D_UNKNOWN] failed to define enumerator 'A': Duplicate member or variable name" },
		{ "enum { A }; enum { A };", "error: [D_DECL_IDRED] identifier redeclared: A" },
		{ "enum { pid };", "error: [D_DECL_IDRED] identifier redeclared: pid" },
		{ "enum { A = x };",
		  "error: [D_DECL_ENCONST] enumerator 'A' must be assigned to an integral constant expression" },
		{ "enum { A = 2147483648 };",
		  "error: [D_DECL_ENOFLOW] enumerator 'A' value overflows INT_MAX (2147483647)" },
		{ "enum e { A }; enum e { B };", "error: [D_DECL_TYPERED] type redeclared: enum e" });
}

static void names_are_declared_once(void **state)
{
	(void)state;
	check_rows(
		parse_declarations, { "int x; int x;", "x: <int>\n" },
		{ "int x; string x;",
		  "error: [D_DECL_IDRED] identifier redeclared: x\n\t current: scalar string\n\tprevious: scalar int" },
		{ "int x[int]; int x;",
		  "error: [D_DECL_IDRED] identifier redeclared: x\n\t current: scalar int\n\tprevious: associative array int" },
		{ "int x[int]; int x[string];",
		  "error: [D_DECL_IDRED] identifier redeclared: x\n\t current: associative array, key #1 of type string\n\tprevious: associative array, key #1 of type int" },
		{ "int x[int]; int x[int, int];",
		  "error: [D_DECL_IDRED] identifier redeclared: x\n\t current: associative array of int, tuple length 2\n\tprevious: associative array of int, tuple length 1" },
		{ "int pid;", "error: [D_DECL_IDRED] built-in identifier redeclared: pid" },
		{ "int printf;", "error: [D_DECL_IDRED] built-in identifier redeclared: printf" },
		{ "self int pid; self string pid;",
		  "error: [D_DECL_IDRED] identifier redeclared: pid\n\t current: scalar string\n\tprevious: scalar int" },
		{ "typedef int t; int t;", "error: [D_DECL_IDRED] typedef identifier redeclared: t" },
		{ "typedef int pid;", "error: [D_DECL_IDRED] global variable identifier redeclared: pid" },
		{ "typedef int uint_t;", "error: [D_DECL_IDRED] typedef redeclared: uint_t" },
		{ "typedef int a; typedef char a;", "error: [D_DECL_IDRED] typedef redeclared: a" },
		{ "extern int x; extern char x;",
		  "error: [D_DECL_IDRED] identifier redeclared: D`x\n\t current: char\n\tprevious: int" },
		{ "this int a[int];",
		  "error: [D_DECL_LOCASSC] associative arrays may not be declared as local variables: a" });
}

static void parameters_are_checked(void **state)
{
	(void)state;
	check_rows(
		parse_declarations,
		{ "int a[int, void];",
		  "error: [D_DECL_PROTO_TYPE] array prototype may not use parameter of type void: (anonymous), parameter #2" },
		{ "int a[3][int];", "error: [D_DECL_DYNOBJ] cannot declare array of associative arrays" },
		{ "int a[int, ...];",
		  "error: [D_DECL_PROTO_VARARGS] array prototype may not use a variable-length argument list" },
		{ "int f(int a, int a);",
		  "error: [D_DECL_PROTO_FORM] parameter is already declared in function prototype: a, parameter #2" },
		{ "int f(void, int);", "error: [D_DECL_PROTO_VOID] void must be sole parameter" },
		{ "int f(void v);", "error: [D_DECL_PROTO_NAME] void parameter may not have a name: v" },
		{ "int f(static int x);",
		  "error: [D_DECL_PARMCLASS] inappropriate storage class for function or associative array parameter" },
		{ "int f(register int x, int (*g)(int), char [], ...);", "" });
}

static void inlines_have_bodies_and_formals(void **state)
{
	(void)state;
	check_rows(
		parse_declarations,
		{ "inline int f[int a, string s] = a + strlen(s); inline string g = \"x\";",
		  "inline f: <int> <string> -> <int> = (+ a (call strlen s))\ninline g: <string> = \"x\"\n" },
		{ "inline int x;", "error: [D_SYNTAX] syntax error near \";\"" },
		{ "inline void x = 1;", "error: [D_DECL_VOIDOBJ] cannot declare void inline: x" },
		{ "inline int x[3] = 1;",
		  "error: [D_DECL_ARRNULL] inline declaration cannot be of scalar array type: x" },
		{ "inline int x[] = 1;",
		  "error: [D_DECL_ARRNULL] inline declaration requires array tuple signature: x" },
		{ "inline static int x = 1;",
		  "error: [D_DECL_BADCLASS] specified storage class not appropriate for inline declaration" },
		{ "inline int x = 1; inline int x = 2;",
		  "error: [D_DECL_IDRED] identifier redefined: x\n\t current: inline definition\n\tprevious: scalar inline" },
		{ "inline int rand = 1;",
		  "error: [D_DECL_IDRED] identifier redefined: rand\n\t current: inline definition\n\tprevious: function " });
}

static void translators_map_members(void **state)
{
	(void)state;
	check_rows(
		parse_declarations,
		{ "struct t { int a; }; translator struct t < struct s *p > { a = p->x; };",
		  "translator <struct t> <struct s *> p { (a (-> p x)) }\n" },
		{ "typedef struct { int a; } t_t; typedef int s_t; translator t_t <s_t B> { };",
		  "translator <t_t> <s_t> B { }\n" },
		{ "translator struct t < int p > { };", "error: [D_XLATE_SOU] incomplete struct/union/enum struct t" },
		{ "translator int < int p > { };",
		  "error: [D_XLATE_SOU] translator output type must be a struct or union" },
		{ "struct t { int a; }; translator struct t < int p > { }; translator struct t < int q > { };",
		  "error: [D_XLATE_REDECL] translator from int to struct t has already been declared" },
		{ "struct t { int a; }; translator struct t < int p > { a 1; };",
		  "error: [D_SYNTAX] syntax error near \"1\"" });
}

static void provider_blocks_are_checked(void **state)
{
	(void)state;
	check_rows(
		parse_declarations, { "provider foo { probe bar(int, char *c) : (char *c); probe baz(); };", "" },
		{ "provider foo { };", "" },
		{ "provider foo1 { };", "error: [D_PROV_BADNAME] provider name may not end with a digit: foo1" },
		{ "provider foo { probe a(); probe a(); };", "error: [D_PROV_PRDUP] probe redeclared: foo:::a" },
		{ "provider foo { probe a(int x) : (int y); };",
		  "error: [D_DECL_PROTO_FORM] parameter is not declared in probe output prototype: y, parameter #1" },
		{ "provider foo { probe a(int x) : (int); };",
		  "error: [D_DECL_PROTO_NAME] parameter declaration requires a name: parameter #1" });
}

static void declarators_do_not_nest_without_end(void **state)
{
	ray_auto_text text = { 0 }, out = { 0 };

	(void)state;
	ray_text_add(&text, "int ");
	for (int i = 0; i < 5000; i++)
		ray_text_add(&text, "*(");
	assert_string_equal(parse_declarations(ray_text_get(&text), &out),
			    "error: [D_SYNTAX] expression is nested too deeply");
	ray_text_clear(&text);
	ray_text_add(&text, "int ");
	for (int i = 0; i < 5000; i++)
		ray_text_add(&text, "*");
	assert_string_equal(parse_declarations(ray_text_get(&text), &out),
			    "error: [D_SYNTAX] declaration is nested too deeply");
	ray_text_clear(&text);
	for (int i = 0; i < 5000; i++)
		ray_text_add(&text, "struct {");
	assert_string_equal(parse_declarations(ray_text_get(&text), &out),
			    "error: [D_SYNTAX] expression is nested too deeply");
}

static void headers_of_c_may_define_functions_and_d_types(void **state)
{
	(void)state;
	check_rows(parse_script,
		   { "# 1 \"x.h\" 1\ntypedef unsigned id_t;\nstatic inline id_t f(id_t x) { if (x) { return x; } }\n"
		     "inline int g(void) { return 1.5 > 1; }\n# 2 \"/dev/stdin\" 2\nid_t y; BEGIN {}",
		     "error: [D_SYNTAX] \"x.h\", line 3: floating-point constants are not permitted" },
		   { "# 1 \"x.h\" 1\ntypedef unsigned id_t;\nstatic inline id_t f(id_t x) { if (x) { return x; } }\n"
		     "inline int g(void) { }\n# 2 \"/dev/stdin\" 2\nid_t y; BEGIN {}",
		     "y: <id_t>\n:::BEGIN { default }\n" },
		   { "int f(void) { }", "error: [D_SYNTAX] line 1: syntax error near \"{\"" });
}

static void the_preprocessor_keeps_lines(void **state)
{
	static const char text[] = "#!/usr/sbin/dtrace -s\n#define N 3\nBEGIN { exit(N); }\n=\n";
	const char *const arguments[] = { "-DX=1", NULL };
	const struct ray_lang_options options = { .cpp_command = "cpp", .cpp_arguments = arguments };
	struct ray_lang_options missing = { .cpp_command = "/no/such/cpp" }, failing = { .cpp_command = "false" };
	const struct ray_source source = {
		.kind = RAY_TEXT_SCRIPT, .file = "a.d", .text = text, .length = strlen(text)
	};
	ray_auto(ray_program, program) = NULL;
	ray_auto(ray_error, err) = NULL;

	(void)state;
	assert_null(ray_program_create(NULL, &program));
	err = ray_program_parse(program, &source, &missing, NULL, NULL);
	assert_string_equal(ray_error_text(err), "Preprocessor not found");
	ray_error_free(err);
	err = ray_program_parse(program, &source, &failing, NULL, NULL);
	assert_string_equal(ray_error_text(err), "Preprocessor failed to process input program");
	ray_error_free(err);
	err = ray_program_parse(program, &source, &options, NULL, NULL);
	assert_string_equal(ray_error_text(err), "line 4: syntax error near \"=\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_are_as_in_c),
		cmocka_unit_test(typedefs_are_types_and_may_also_be_names),
		cmocka_unit_test(constants_give_sizes),
		cmocka_unit_test(members_lie_where_the_compiler_puts_them),
		cmocka_unit_test(bad_types_are_refused),
		cmocka_unit_test(bad_structs_and_enums_are_refused),
		cmocka_unit_test(names_are_declared_once),
		cmocka_unit_test(parameters_are_checked),
		cmocka_unit_test(inlines_have_bodies_and_formals),
		cmocka_unit_test(translators_map_members),
		cmocka_unit_test(provider_blocks_are_checked),
		cmocka_unit_test(declarators_do_not_nest_without_end),
		cmocka_unit_test(headers_of_c_may_define_functions_and_d_types),
		cmocka_unit_test(the_preprocessor_keeps_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
