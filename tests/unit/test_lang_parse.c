/* test_lang_parse.c - expressions and clauses of D. SPDX-License-Identifier: MIT */
#include "lang/tree.h"
#include "parse_d.h"

static void clauses_have_descriptions_predicates_and_statements(void **state)
{
	(void)state;
	check_rows(
		parse_argument,
		{ "BEGIN { printf(\"hello %d\\n\", 42); exit(0); }",
		  ":::BEGIN { (call printf \"hello %d\\n\" 42) (call exit 0) }\n" },
		{ "syscall:::entry { @[probefunc] = count(); }",
		  "syscall:::entry { (= (@_ probefunc) (call count)) }\n" },
		{ "BEGIN", ":::BEGIN { default }\n" }, { "BEGIN {}", ":::BEGIN { default }\n" },
		{ "BEGIN { ; ; }", ":::BEGIN { default }\n" }, { "BEGIN{trace(1)}", ":::BEGIN { (call trace 1) }\n" },
		{ "syscall::read:entry, syscall::write:entry /pid == 5/ { x = 1 }",
		  "syscall::read:entry, syscall::write:entry / (== pid 5) / { (= x 1) }\n" },
		{ "BEGIN END", ":::BEGIN { default }\n:::END { default }\n" },
		{ "tick-1s { exit(0) } profile-97hz { @ = count() }",
		  ":::tick-1s { (call exit 0) }\n:::profile-97hz { (= @_ (call count)) }\n" },
		{ "12 { }", "12 { default }\n" },
		{ "BEGIN /a/ { b / c }  END /(a / b) > 1/ { }",
		  ":::BEGIN / a / { (/ b c) }\n:::END / (> (/ a b) 1) / { default }\n" },
		{ "BEGIN /a/", "error: [D_SYNTAX] syntax error near end-of-input" },
		{ "BEGIN /a/;", "error: [D_SYNTAX] expected actions { } following probe description and predicate" });
	check_rows(parse_script,
		   { "BEGIN\n",
		     "error: [D_SYNTAX] line 1: expected predicate and/or actions following probe description" },
		   { "int x;\n", "error: [D_EMPTY] line 2: empty D program translation unit" },
		   { "", "error: [D_EMPTY] line 1: empty D program translation unit" },
		   { "syscall::open:entry,\n{ }", "error: [D_SYNTAX] line 2: syntax error near \"{\"" });
}

static const char *parse_as(enum ray_text_kind kind, const char *text, struct ray_text *out)
{
	struct ray_source source = { .kind = kind, .text = text, .length = strlen(text) };

	return parse_text(source, NULL, false, out);
}

static void descriptions_are_filled_from_the_end(void **state)
{
	ray_auto_text out = { 0 };

	(void)state;
	check_rows(parse_argument, { "a:b:c:d", "a:b:c:d { default }\n" }, { "c:d", "::c:d { default }\n" },
		   { "a:::", "a::: { default }\n" }, { ":::d", ":::d { default }\n" }, { "::c:", "::c: { default }\n" },
		   { "*:a?[b-c]:!x:y-z", "*:a?[b-c]:!x:y-z { default }\n" },
		   { "a:b:c:d:e", "error: [D_PDESC_INVAL] invalid probe description \"a:b:c:d:e\": Overspecified probe "
				  "description" },
		   { "pid12:node:v8::internal::Heap::CollectGarbage:entry",
		     "pid12:node:v8::internal::Heap::CollectGarbage:entry { default }\n" },
		   { "0", "error: [D_PDESC_INVAL] invalid probe identifier 0: Unknown probe identifier" },
		   { "4294967296", "error: [D_PDESC_INVAL] identifier 4294967296 exceeds maximum probe id" },
		   { "2-2", "2 { default }\n:::-2 { default }\n" });
	assert_string_equal(parse_as(RAY_TEXT_PROVIDER, "a {}", &out), "a::: { default }\n");
	assert_string_equal(parse_as(RAY_TEXT_MODULE, "a:b /x/ {}", &out), "a:b:: / x / { default }\n");
	assert_string_equal(parse_as(RAY_TEXT_MODULE, "genunix:", &out), "genunix::: { default }\n");
	assert_string_equal(parse_as(RAY_TEXT_FUNCTION, "::read:", &out), ":read:: { default }\n");
	assert_string_equal(parse_as(RAY_TEXT_ID, "12", &out), "12 { default }\n");
	assert_string_equal(
		parse_as(RAY_TEXT_PROVIDER, "a:b", &out),
		"error: [D_PDESC_INVAL] invalid probe description \"a:b\": Overspecified probe description");
	assert_string_equal(parse_as(RAY_TEXT_FUNCTION, "4.56", &out),
			    "error: [D_PDESC_INVAL] probe identifier 4 not permitted when specifying functions");
}

static void operators_bind_as_in_c_with_xor_between_and_and_or(void **state)
{
	(void)state;
	check_rows(parse_body,
		   { "x = a || b ^^ c && d | e ^ f & g == h < i << j + k * l",
		     "(= x (|| a (^^ b (&& c (| d (^ e (& f (== g (< h (<< i (+ j (* k l))))))))))))" },
		   { "x = a * b + c << d < e == f & g ^ h | i && j ^^ k || l",
		     "(= x (|| (^^ (&& (| (^ (& (== (< (<< (+ (* a b) c) d) e) f) g) h) i) j) k) l))" },
		   { "a - b - c; a / b * c % d", "(- (- a b) c) (% (* (/ a b) c) d)" },
		   { "a ? b : c ? d : e; a ? b, c : d", "(? a b (? c d e)) (? a (, b c) d)" },
		   { "z = u = v += 2", "(= z (= u (+= v 2)))" }, { "a ? b = 1 : c", "(? a (= b 1) c)" },
		   { "a *= 1; a /= 1; a %= 1; a -= 1; a <<= 1; a >>= 1; a &= 1; a ^= 1; a |= 1",
		     "(*= a 1) (/= a 1) (%= a 1) (-= a 1) (<<= a 1) (>>= a 1) (&= a 1) (^= a 1) (|= a 1)" },
		   { "-x++; !~a; ++*p; --x--; +a", "(neg (x++ x)) (! (~ a)) (++x (deref p)) (--x (x-- x)) (pos a)" },
		   { "&p->q; *p.q; **p", "(address (-> p q)) (deref (. p q)) (deref (deref p))" },
		   { "x = 1, y = 2; f = (a, b)", "(, (= x 1) (= y 2)) (= f (, a b))" },
		   { "(a + b) * c", "(* (+ a b) c)" }, { "a >= b != c <= d", "(!= (>= a b) (<= c d))" });
}

static void only_unary_expressions_are_assigned_to(void **state)
{
	(void)state;
	check_rows(parse_body, { "a + b = 3", "error: [D_SYNTAX] syntax error near \"=\"" },
		   { "(int)a = 3", "error: [D_SYNTAX] syntax error near \"=\"" },
		   { "a ? b : c = 3", "error: [D_SYNTAX] syntax error near \"=\"" }, { "(a + b) = 3", "(= (+ a b) 3)" },
		   { "*p = 3; -a = 3", "(= (deref p) 3) (= (neg a) 3)" });
}

static void casts_and_sizes_take_types(void **state)
{
	(void)state;
	check_rows(
		parse_body,
		{ "(int)x + 1; (char *)p; -(int)-x",
		  "(+ (cast <int> x) 1) (cast <char *> p) (neg (cast <int> (neg x)))" },
		{ "(unsigned long long)1; (uint64_t)(int)x; (const struct foo **)p",
		  "(cast <unsigned long long> 1) (cast <uint64_t> (cast <int> x)) (cast <struct foo **> p)" },
		{ "sizeof x; sizeof (x) + 1; sizeof (int); sizeof (x)->y; sizeof (struct foo *)",
		  "(sizeof x) (+ (sizeof x) 1) (sizeof <int>) (sizeof (-> x y)) (sizeof <struct foo *>)" },
		{ "stringof (p); stringof p + q", "(stringof p) (+ (stringof p) q)" },
		{ "xlate <struct foo>(p)->a; offsetof(struct foo, b)",
		  "(-> (xlate <struct foo> p) a) (offsetof <struct foo> b)" },
		{ "(int (*)(void))p; (char [4])p", "(cast <int (*)()> p) (cast <char [4]> p)" },
		{ "stringof (int)x", "error: [D_SYNTAX] syntax error near \"int\"" },
		{ "(int)", "error: [D_SYNTAX] syntax error near \"}\"" },
		{ "offsetof(vnode_t, v_no)", "error: [D_SYNTAX] syntax error near \"vnode_t, v_no) }\"" },
		{ "sizeof (short long)", "error: [D_UNKNOWN] failed to resolve type short long : Unknown type name" });
}

static void variables_have_scopes_and_aggregations_keys(void **state)
{
	(void)state;
	check_rows(parse_body, { "self->x = 1; this->y[1, \"a\"]++", "(= self->x 1) (x++ (index this->y 1 \"a\"))" },
		   { "self->p->q = 3; (self)->z", "(= (-> self->p q) 3) self->z" },
		   { "`sym; vmlinux`sym", "`sym vmlinux`sym" },
		   { "args[0]->url; a[1][2]; f = a[b, c].d",
		     "(-> (index args 0) url) (index (index a 1) 2) (= f (. (index a b c) d))" },
		   { "@a[1, 2] = sum(x); @ = count(); @b = max(1)",
		     "(= (@a 1 2) (call sum x)) (= @_ (call count)) (= @b (call max 1))" },
		   { "printa(@a, @b); clear(@); @a[1][2] = count()",
		     "(call printa @a @b) (call clear @_) (= (index (@a 1) 2) (call count))" },
		   { "a[] = 1", "error: [D_SYNTAX] syntax error near \"]\"" }, { "self.x", "(. self x)" });
}

static void calls_need_a_function(void **state)
{
	(void)state;
	check_rows(parse_body, { "foo(1)", "error: [D_FUNC_UNDEF] undefined function name: foo" },
		   { "pid(1)", "error: [D_FUNC_IDKIND] scalar 'pid' may not be referenced as a function" },
		   { "args(1)", "error: [D_FUNC_IDKIND] associative array 'args' may not be referenced as a function" },
		   { "a->b(1)", "error: [D_FUNC_IDENT] function designator is not of function type" },
		   { "strlen(\"a\",)", "error: [D_SYNTAX] syntax error near \")\"" });
}

static void division_by_a_constant_zero_is_refused(void **state)
{
	(void)state;
	check_rows(parse_body, { "a / 0", "error: [D_DIV_ZERO] expression contains division by zero" },
		   { "a % (2 - 2)", "error: [D_DIV_ZERO] expression contains division by zero" },
		   { "a /= 0 * 7", "error: [D_DIV_ZERO] expression contains division by zero" }, { "a / b", "(/ a b)" },
		   { "a << 0", "(<< a 0)" });
}

static const char *parse_with_place(const char *text, struct ray_text *out)
{
	struct ray_source source = { .kind = RAY_TEXT_NAME, .text = text, .length = strlen(text) };

	return parse_text(source, NULL, true, out);
}

static void errors_have_a_place_even_without_a_file(void **state)
{
	(void)state;
	check_rows(parse_with_place,
		   { "BEGIN {\n  foo(1);\n}", "@2:3 error: [D_FUNC_UNDEF] undefined function name: foo" },
		   { "BEGIN { a + b = 3 }", "@1:15 error: [D_SYNTAX] syntax error near \"=\"" },
		   { "BEGIN { a /\n  0\n;}", "@3:1 error: [D_DIV_ZERO] expression contains division by zero" },
		   { "int pid;", "@1:5 error: [D_DECL_IDRED] built-in identifier redeclared: pid" });
}

/* before, n times, then middle, then after, n times. */
static const char *parse_nested(const char *before, const char *middle, const char *after, int n, struct ray_text *out)
{
	ray_auto_text text = { 0 };

	for (int i = 0; i < n; i++)
		ray_text_add(&text, before);
	ray_text_add(&text, middle);
	for (int i = 0; i < n; i++)
		ray_text_add(&text, after);
	return parse_body(ray_text_get(&text), out);
}

static void deep_nesting_is_an_error(void **state)
{
	static const struct {
		const char *before, *after;
	} rows[] = { { "(", ")" },  { "-", "" },	{ "", "+1" },	    { "x = ", "" },    { "1 ? 1 : ", "" },
		     { "a[", "]" }, { "strlen(", ")" }, { "(int)", "" },    { "sizeof ", "" }, { "", "++" },
		     { "", "->b" }, { "*", "" },	{ "1 ? ", " : 1" }, { "", "[1]" },     { "@a[", "]" } };
	ray_auto_text out = { 0 };

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(rows); i++) {
		assert_null(strstr(parse_nested(rows[i].before, "x", rows[i].after, 90, &out), "error"));
		assert_string_equal(parse_nested(rows[i].before, "x", rows[i].after, 20000, &out),
				    "error: [D_SYNTAX] expression is nested too deeply");
	}
}

static void several_texts_make_one_program(void **state)
{
	const struct ray_lang_options options = { .error_tags = true };
	struct ray_source first = {
		.kind = RAY_TEXT_SCRIPT, .file = "a.d", .text = "int x; BEGIN { x = 1 }", .length = 22
	};
	struct ray_source second = { .kind = RAY_TEXT_NAME, .text = "END { x }", .length = 9 };
	ray_auto(ray_program, program) = NULL;
	ray_auto_text out = { 0 };

	(void)state;
	assert_null(ray_program_create(NULL, &program));
	assert_null(ray_program_parse(program, &first, &options, NULL, NULL));
	assert_null(ray_program_parse(program, &second, &options, NULL, NULL));
	ray_dump_program(program, &out);
	assert_string_equal(ray_text_get(&out), "x: <int>\n:::BEGIN { (= x 1) }\n:::END { x }\n");
}

static void listing_needs_no_closing_brace(void **state)
{
	const struct ray_lang_options listing = { .allow_open_end = true };
	struct ray_source source = { .kind = RAY_TEXT_NAME, .text = "node*:::{", .length = 9 };
	ray_auto(ray_program, program) = NULL;
	ray_auto(ray_error, err) = NULL;
	ray_auto_text out = { 0 };

	(void)state;
	assert_null(ray_program_create(NULL, &program));
	assert_null(ray_program_parse(program, &source, &listing, NULL, NULL));
	ray_dump_program(program, &out);
	assert_string_equal(ray_text_get(&out), "node*::: { default }\n");
	err = ray_program_parse(program, &source, NULL, NULL, NULL);
	assert_string_equal(ray_error_text(err), "syntax error near end of input");
}

static void the_tree_shows_one_node_on_a_line(void **state)
{
	static const char text[] = "BEGIN /pid == 1/ { self->x = (int)a[1]->b + -2 ? \"s\" : `c; @k[1] = sum(3); }";
	const struct ray_source source = { .kind = RAY_TEXT_NAME, .text = text, .length = strlen(text) };
	ray_auto(ray_program, program) = NULL;
	ray_auto_text out = { 0 };

	(void)state;
	assert_null(ray_program_create(NULL, &program));
	assert_null(ray_program_parse(program, &source, NULL, NULL, NULL));
	ray_tree_print(program, 0, &out);
	assert_string_equal(ray_text_get(&out), "  PROGRAM\n"
						"    CLAUSE\n"
						"      PDESC :::BEGIN [0]\n"
						"    CTXATTR\n"
						"    PREDICATE /\n"
						"      OP2 == (type=<> flags=0)\n"
						"        IDENT pid (type=<> flags=0)\n"
						"        INT 0x1 (type=<int> flags=SIGN,COOK)\n"
						"    /\n"
						"    ACTION\n"
						"      D EXPRESSION\n"
						"        OP2 = (type=<> flags=0)\n"
						"          self->x (type=<> flags=0)\n"
						"          OP3 (type=<> flags=0)\n"
						"            OP2 + (type=<> flags=0)\n"
						"              CAST int (type=<> flags=0)\n"
						"                OP1 -> (type=<> flags=0)\n"
						"                  OP1 [ (type=<> flags=0)\n"
						"                    IDENT a (type=<> flags=0)\n"
						"                    INT 0x1 (type=<int> flags=SIGN,COOK)\n"
						"                  IDENT b\n"
						"              OP1 - (type=<> flags=0)\n"
						"                INT 0x2 (type=<int> flags=SIGN,COOK)\n"
						"          ?\n"
						"            STRING \"s\" (type=<> flags=DPTR)\n"
						"          :\n"
						"            SYMBOL `c (type=<> flags=0)\n"
						"      D EXPRESSION\n"
						"        OP2 = (type=<> flags=0)\n"
						"          AGGREGATION @k (type=<> flags=0)\n"
						"            INT 0x1 (type=<int> flags=SIGN,COOK)\n"
						"          FUNC sum (type=<> flags=0)\n"
						"            INT 0x3 (type=<int> flags=SIGN,COOK)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clauses_have_descriptions_predicates_and_statements),
		cmocka_unit_test(descriptions_are_filled_from_the_end),
		cmocka_unit_test(operators_bind_as_in_c_with_xor_between_and_and_or),
		cmocka_unit_test(only_unary_expressions_are_assigned_to),
		cmocka_unit_test(casts_and_sizes_take_types),
		cmocka_unit_test(variables_have_scopes_and_aggregations_keys),
		cmocka_unit_test(calls_need_a_function),
		cmocka_unit_test(division_by_a_constant_zero_is_refused),
		cmocka_unit_test(errors_have_a_place_even_without_a_file),
		cmocka_unit_test(deep_nesting_is_an_error),
		cmocka_unit_test(several_texts_make_one_program),
		cmocka_unit_test(listing_needs_no_closing_brace),
		cmocka_unit_test(the_tree_shows_one_node_on_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
