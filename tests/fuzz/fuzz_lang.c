/* fuzz_lang.c - D from random bytes, parsed and checked.
 * SPDX-License-Identifier: MIT
 *
 * The first byte chooses how the rest is read (script or argument, which one, with which options). Whatever probes a clause
 * describes, it is checked for BEGIN or a tick: the machine's own probes are none of the matter. */
#include <stdint.h>

#include "lang/dump.h"
#include "lang/lang.h"
#include "lang/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const arguments[] = {
	"script.d", "42", "-7", "name", "a \"string\"", "0x1g", "99999999999999999999"
};

static struct ray_catalogue *get_catalogue(void)
{
	static const struct ray_catalogue_options none;
	static struct ray_catalogue *catalogue;

	if (!catalogue && ray_catalogue_create(&none, &catalogue))
		abort();
	return catalogue;
}

static void describe_own_probes(struct ray_program *program)
{
	for (size_t i = 0; i < program->clauses.n; i++) {
		struct ray_clause *clause = program->clauses.at[i];

		clause->spec_count = 1;
		clause->specs[0] = (struct ray_probe_spec){ .provider = i % 2 ? "profile" : "dtrace",
							    .module = "",
							    .function = "",
							    .name = i % 2 ? "tick-1s" : "BEGIN" };
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ray_macros macros = { .arguments = arguments,
					   .argument_count = RAY_COUNT(arguments),
					   .allow_unused = true,
					   .default_arguments = size && data[0] & 0x08,
					   .target = 1234 };
	const struct ray_lang_options options = { .error_tags = true,
						  .strsize = 256,
						  .knows_default_probe_field = size && data[0] & 0x10,
						  .allow_empty = size && data[0] & 0x20 };
	struct ray_diagnostic diagnostic = { 0 };
	struct ray_source source;
	ray_auto_text text = { 0 };
	ray_auto(ray_program, program) = NULL;
	ray_auto(ray_error, err) = NULL;

	if (!size)
		return 0;
	source = (struct ray_source){ .kind = (enum ray_text_kind)(data[0] % 8 % (RAY_TEXT_ID + 1)),
				      .text = (const char *)data + 1,
				      .length = size - 1 };
	source.file = source.kind == RAY_TEXT_SCRIPT ? "script.d" : NULL;
	err = ray_program_create(&macros, &program);
	if (!err)
		err = ray_program_parse(program, &source, &options, &macros, &diagnostic);
	if (!err) {
		ray_dump_program(program, &text);
		describe_own_probes(program);
		ray_tree_print(program, 0, &text);
		err = ray_program_check(program, get_catalogue(), &options, &macros, &diagnostic);
		if (!err)
			ray_tree_print(program, 0, &text);
	}
	ray_diagnostic_deinit(&diagnostic);
	return 0;
}
