/* test_lang_lex.c - the words of D: constants, comments, names, macros, control lines. SPDX-License-Identifier: MIT */
#include "parse_d.h"

static void integers_have_the_first_type_that_holds_them(void **state)
{
	(void)state;
	check_rows(parse_body, { "1; 1u; 1l; 1UL; 1ll; 1ull", "1 1u 1l 1ul 1l 1ul" }, { "0777; 0xff; 0", "511 255 0" },
		   { "2147483647; 2147483648; 4294967295", "2147483647 2147483648l 4294967295l" },
		   { "0x7fffffff; 0x80000000; 0x100000000", "2147483647 2147483648u 4294967296l" },
		   { "0x8000000000000000; 0xffffffffffffffff", "9223372036854775808ul 18446744073709551615ul" },
		   { "9223372036854775807", "9223372036854775807l" },
		   { "9223372036854775808", "error: [D_INT_OFLOW] integer constant 0x8000000000000000 cannot be "
					    "represented in any built-in integral type" },
		   { "0x12345678123456781",
		     "error: [D_INT_OFLOW] constant 0x12345678123456781 results in integer overflow" },
		   { "0128", "error: [D_INT_DIGIT] constant 0128 contains invalid digit 8" },
		   { "1.5", "error: [D_SYNTAX] floating-point constants are not permitted" },
		   { ".5", "error: [D_SYNTAX] floating-point constants are not permitted" },
		   { "1e3", "error: [D_SYNTAX] floating-point constants are not permitted" },
		   { "0x", "error: [D_SYNTAX] syntax error near \"x }\"" });
}

static void characters_are_integers_of_their_bytes(void **state)
{
	(void)state;
	check_rows(parse_body, { "'a'; 'ab'; 'abcdefgh'", "97 24930 7017280452245743464l" },
		   { "'\\n'; '\\0'; '\\377'; '\\x41'; '\\''; '\"'; '\\\\'", "10 0 255 65 23591 34 92" },
		   { "''", "error: [D_CHR_NULL] empty character constant" },
		   { "'abcdefghi'", "error: [D_CHR_OFLOW] character constant is too long" },
		   { "'a", "error: [D_SYNTAX] syntax error near \"'\"" });
	check_rows(parse_script, { "BEGIN\n{ x = 'a\n'; }", "error: [D_CHR_NL] line 3: newline encountered in "
							    "character constant" });
}

static void strings_know_escapes_and_end_at_a_nul(void **state)
{
	(void)state;
	check_rows(parse_body, { "\"a\\tb\\\"c\\\\d\\101\\x42\\q\"", "\"a\\tb\"c\\dAB\\q\"" },
		   { "\"a\\0b\"; \"\"", "\"a\" \"\"" }, { "\"a\\\n\"", "error: [D_SYNTAX] syntax error near \"\"\"" },
		   { "\"abc", "error: [D_SYNTAX] syntax error near \"\"\"" });
	check_rows(parse_script,
		   { "BEGIN {\n x = \"a\n\"; }", "error: [D_STR_NL] line 3: newline encountered in string literal" });
}

static void comments_and_blanks_are_nothing(void **state)
{
	(void)state;
	check_rows(parse_script,
		   { "#!/usr/sbin/dtrace -s\n/* a\n * b */BEGIN/**/{/* c */exit(0)/* d */;}",
		     ":::BEGIN { (call exit 0) }\n" },
		   { "BEGIN // a\n{ // b\nexit(0); // c }\n}\n// d", ":::BEGIN { (call exit 0) }\n" },
		   { "BEGIN /x/ // y\n{ a / /* b */ c; a /\nb }", ":::BEGIN / x / { (/ a c) (/ a b) }\n" },
		   { "BEGIN /x//* y */ { }", ":::BEGIN / x / { default }\n" },
		   { "BEGIN { a \\\n + b }", ":::BEGIN { (+ a b) }\n" },
		   { "BEGIN {\f\v\r\n}", ":::BEGIN { default }\n" },
		   { "/* a\n/* b */", "error: [D_SYNTAX] line 2: /* encountered inside a comment" },
		   { "/* a\n\n", "error: [D_SYNTAX] line 3: end-of-file encountered before matching */" });
}

static void brackets_are_counted(void **state)
{
	(void)state;
	check_rows(parse_script, { "BEGIN { a) }", "error: [D_SYNTAX] line 1: extra ) in input stream" },
		   { "BEGIN { a] }", "error: [D_SYNTAX] line 1: extra ] in input stream" },
		   { "int x; }", "error: [D_SYNTAX] line 1: syntax error near \"}\"" },
		   { "int }", "error: [D_SYNTAX] line 1: extra } in input stream" },
		   { "BEGIN /rand(/\n{ }", "error: [D_SYNTAX] line 2: closing ) expected in predicate before /" },
		   { "BEGIN /args[0/ { }", "error: [D_SYNTAX] line 1: closing ] expected in predicate before /" });
}

static void syntax_errors_quote_as_the_reference_does(void **state)
{
	(void)state;
	check_rows(parse_script, { "BEGIN { x = 1 2; }", "error: [D_SYNTAX] line 1: syntax error near \"2\"" },
		   /* After a look at what follows a name, the rest of the line is quoted. */
		   { "BEGIN { 1 foo * bar; }", "error: [D_SYNTAX] line 1: syntax error near \"foo * bar; }\"" },
		   { "BEGIN { 1 foo\n * bar; }", "error: [D_SYNTAX] line 1: syntax error near \"foo \"" },
		   { "BEGIN { 1 pid * bar; }", "error: [D_SYNTAX] line 1: syntax error near \"pid\"" },
		   { "BEGIN { 1 +\n\n; }", "error: [D_SYNTAX] line 3: syntax error near \";\"" },
		   { "BEGIN { 1", "error: [D_SYNTAX] line 1: syntax error near end of input" },
		   { "BEGIN { x", "error: [D_SYNTAX] line 1: syntax error near end-of-input" },
		   { "BEGIN { #x }", "error: [D_SYNTAX] line 1: syntax error near \"#\"" },
		   { "BEGIN { $ }", "error: [D_SYNTAX] line 1: syntax error near \"$\"" },
		   { "BEGIN { if (x) { } }", "error: [D_SYNTAX] line 1: syntax error near \"if\"" },
		   { "= 1", "error: [D_SYNTAX] line 1: syntax error near \"=\"" });
}

static void keywords_may_be_names_of_members(void **state)
{
	(void)state;
	check_rows(parse_body, { "a->string; b.int; c-> this", "(-> a string) (. b int) (-> c this)" },
		   { "a->1", "error: [D_SYNTAX] syntax error near \"1\"" });
}

static const char *parse_with_arguments(const char *text, struct ray_text *out)
{
	static const char *const arguments[] = { "test.d", "42",   "-7", "name", "a \"q\"\\n", "99999999999999999999",
						 "12ab",   "\"s\"" };
	const struct ray_macros macros = {
		.arguments = arguments, .argument_count = RAY_COUNT(arguments), .allow_unused = true, .target = 1234
	};
	struct ray_source source = { .kind = RAY_TEXT_NAME, .text = text, .length = strlen(text) };

	return parse_text(source, &macros, false, out);
}

static void macros_stand_for_arguments_and_ids(void **state)
{
	(void)state;
	check_rows(parse_with_arguments,
		   { "BEGIN { $1; $2; $3; $4; $7 }", ":::BEGIN { 42 (neg 7) name \"a \"q\"\\n\" \"s\" }\n" },
		   { "BEGIN { $$1; $$4; $$0 }", ":::BEGIN { \"42\" \"a \"q\"\\n\" \"test.d\" }\n" },
		   { "BEGIN { $target; $$target; a->$3 }", ":::BEGIN { 1234 \"1234\" (-> a name) }\n" },
		   { "BEGIN { $5 }", "error: [D_MACRO_OFLOW] macro argument $5 constant 99999999999999999999 results "
				     "in integer overflow" },
		   { "BEGIN { $6 }", "error: [D_INT_DIGIT] constant 12ab contains invalid digit a" },
		   { "BEGIN { $8 }", "error: [D_MACRO_UNDEF] macro argument $8 is not defined" },
		   { "BEGIN { $$8 }", "error: [D_MACRO_UNDEF] macro argument $$8 is not defined" },
		   { "BEGIN { $foo }", "error: [D_MACRO_UNDEF] macro variable $foo is not defined" },
		   { "pid$target::$3:entry { }", "pid1234::name:entry { default }\n" },
		   { "pid$$1:a.out::tick-$1sec", "pid42:a.out::tick-42sec { default }\n" },
		   { "pid$foo:::", "error: [D_PDESC_INVAL] invalid probe description \"pid$foo:::\": Undefined macro "
				   "variable in probe description" },
		   { "BEGIN { $1 = 2 }", ":::BEGIN { (= 42 2) }\n" });
	/* Without a process there is no $target. */
	check_rows(parse_argument,
		   { "BEGIN { $target }", "error: [D_MACRO_UNDEF] macro variable $target is not defined" });
}

static void arguments_must_be_used_or_have_defaults(void **state)
{
	static const char *const arguments[] = { "test.d", "42", "43" };
	struct ray_macros macros = { .arguments = arguments, .argument_count = RAY_COUNT(arguments) };
	struct ray_source source = { .kind = RAY_TEXT_NAME, .text = "BEGIN { $1 }", .length = 12 };
	ray_auto_text out = { 0 };

	(void)state;
	assert_string_equal(parse_text(source, &macros, false, &out),
			    "error: [D_MACRO_UNUSED] extraneous argument '43' ($2 is not referenced)");
	source.text = "BEGIN { $2 }"; /* the reference asks for the last one only */
	assert_string_equal(parse_text(source, &macros, false, &out), ":::BEGIN { 43 }\n");
	macros.default_arguments = macros.allow_unused = true;
	source.text = "BEGIN {$3,$$3}";
	source.length = strlen(source.text);
	assert_string_equal(parse_text(source, &macros, false, &out), ":::BEGIN { (, 0 \"\") }\n");
}

static void pragmas_set_options_and_fail_as_documented(void **state)
{
	(void)state;
	check_rows(
		parse_script,
		{ "#pragma D option quiet\n  # pragma D option strsize=12\nBEGIN {}",
		  "option quiet\noption strsize=12\n:::BEGIN { default }\n" },
		{ "#\n#ident \"x\"\n#pragma foo bar\nBEGIN {}", ":::BEGIN { default }\n" },
		{ "\n#pragma D option\n", "error: [D_PRAGMA_MALFORM] line 2: malformed #pragma option <option>=<val>" },
		{ "#pragma D option a b\n",
		  "error: [D_PRAGMA_MALFORM] line 1: superfluous arguments specified for #pragma option" },
		{ "#pragma D foo\n", "error: [D_PRAGMA_INVAL] line 1: invalid D pragma: foo" },
		{ "#foo\n", "error: [D_PRAGCTL_INVAL] line 1: invalid control directive: #foo" },
		{ "#error this \"is\" wrong\n", "error: [D_PRAGERR] line 1: #error: this is wrong " },
		{ "#pragma D depends_on library net.d\n",
		  "error: [D_PRAGMA_DEPEND] line 1: main program may not explicitly depend on a library" },
		{ "#pragma D depends_on foo bar\n",
		  "error: [D_PRAGMA_INVAL] line 1: invalid class foo specified by #pragma depends_on" },
		{ "BEGIN { }\n#pragma D option quiet",
		  "error: [D_SYNTAX] line 2: end-of-file encountered before end of control line" },
		{ "#pragma D option \"a\n\n", "error: [D_STR_NL] line 2: newline encountered in string literal" });
}

static void attributes_wait_for_their_name(void **state)
{
	(void)state;
	check_rows(parse_script,
		   { "#pragma D attributes Stable/Stable/Common x\nint x;\n#pragma D binding \"1.2\" x\nBEGIN {}",
		     "x: <int>\n:::BEGIN { default }\n" },
		   { "#pragma D attributes Stable x\nBEGIN {}",
		     "error: [D_PRAGMA_UNUSED] line 1: unused #pragma attributes" },
		   { "#pragma D attributes Stabile x\n",
		     "error: [D_PRAGMA_INVAL] line 1: invalid attributes specified by #pragma attributes" },
		   { "#pragma D attributes Stable\n",
		     "error: [D_PRAGMA_MALFORM] line 1: malformed #pragma attributes <attributes> <ident>" },
		   { "#pragma D attributes Stable pid\n", "error: [D_PRAGMA_SCOPE] line 1: #pragma attributes cannot "
							  "modify entity defined outside program scope" },
		   { "#pragma D binding 1.2 x\n",
		     "error: [D_PRAGMA_MALFORM] line 1: malformed #pragma binding \"version\" <ident>" },
		   { "#pragma D binding \"x\" x\n",
		     "error: [D_PRAGMA_INVAL] line 1: invalid version string specified by #pragma binding" });
}

static void line_markers_name_the_place(void **state)
{
	(void)state;
	check_rows(parse_script, { "# 10 \"/dev/stdin\"\n=", "error: [D_SYNTAX] line 10: syntax error near \"=\"" },
		   { "# 10 \"x.h\" 1\n=", "error: [D_SYNTAX] \"x.h\", line 10: syntax error near \"=\"" },
		   { "#line 7\n\n=", "error: [D_SYNTAX] line 8: syntax error near \"=\"" },
		   { "# 10 x\n", "error: [D_PRAGMA_MALFORM] line 1: malformed #line <line> [ [\"file\"] state ]" });
}

static void bytes_that_are_no_words_are_refused(void **state)
{
	struct ray_source source = { .kind = RAY_TEXT_NAME, .text = "BEGIN { \0 }", .length = 11 };
	ray_auto_text out = { 0 };

	(void)state;
	assert_string_equal(parse_text(source, NULL, false, &out), "error: [D_SYNTAX] syntax error near end-of-input");
	source.text = "BEGIN\0";
	source.length = 6;
	assert_string_equal(parse_text(source, NULL, false, &out), "error: [D_SYNTAX] syntax error near end-of-input");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_have_the_first_type_that_holds_them),
		cmocka_unit_test(characters_are_integers_of_their_bytes),
		cmocka_unit_test(strings_know_escapes_and_end_at_a_nul),
		cmocka_unit_test(comments_and_blanks_are_nothing),
		cmocka_unit_test(brackets_are_counted),
		cmocka_unit_test(syntax_errors_quote_as_the_reference_does),
		cmocka_unit_test(keywords_may_be_names_of_members),
		cmocka_unit_test(macros_stand_for_arguments_and_ids),
		cmocka_unit_test(arguments_must_be_used_or_have_defaults),
		cmocka_unit_test(pragmas_set_options_and_fail_as_documented),
		cmocka_unit_test(attributes_wait_for_their_name),
		cmocka_unit_test(line_markers_name_the_place),
		cmocka_unit_test(bytes_that_are_no_words_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
