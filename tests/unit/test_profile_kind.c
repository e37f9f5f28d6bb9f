/* test_profile_kind.c - what functions are. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "profile/kind.h"

static void check_script(const char *file, enum ray_profile_kind kind, const char *package)
{
	const char *at;
	size_t length;

	assert_int_equal(ray_kind_of_script(file, &at, &length), kind);
	assert_int_equal(length, package ? strlen(package) : 0);
	if (package)
		assert_memory_equal(at, package, length);
	else
		assert_null(at);
}

static void scripts_are_told_by_their_paths(void **state)
{
	(void)state;
	check_script("", RAY_KIND_JS, NULL);
	check_script("/srv/app.js", RAY_KIND_JS, NULL);
	check_script("evalmachine.<anonymous>", RAY_KIND_JS, NULL);
	check_script("node:internal/timers", RAY_KIND_NODE, NULL);
	check_script("node:fs", RAY_KIND_NODE, NULL);
	check_script("internal/modules/cjs/loader.js", RAY_KIND_NODE, NULL);
	check_script("/srv/internal/x.js", RAY_KIND_JS, NULL);
	check_script("wasm://wasm/8f2c1a", RAY_KIND_WASM, NULL);
}

static void packages_are_named_by_the_innermost_directory(void **state)
{
	(void)state;
	check_script("/srv/node_modules/express/lib/router/index.js", RAY_KIND_PACKAGE, "express");
	check_script("/srv/node_modules/@babel/core/lib/index.js", RAY_KIND_PACKAGE, "@babel/core");
	check_script("/srv/node_modules/a/node_modules/b/index.js", RAY_KIND_PACKAGE, "b");
	check_script("node_modules/b/index.js", RAY_KIND_PACKAGE, "b");
	check_script("webpack:///./node_modules/lodash/lodash.js", RAY_KIND_PACKAGE, "lodash");
	check_script("file:///srv/node_modules/left-pad/index.mjs?v=1", RAY_KIND_PACKAGE, "left-pad");
	check_script("C:\\srv\\node_modules\\@s\\n\\i.js", RAY_KIND_PACKAGE, "@s\\n");
	check_script("/srv/node_modules/.pnpm/express@4.18.2/node_modules/express/index.js", RAY_KIND_PACKAGE,
		     "express");
	check_script("/srv/.yarn/cache/ms-npm-2.1.2-ec0c1512ff-8.zip/node_modules/ms/index.js", RAY_KIND_PACKAGE, "ms");
	check_script("/srv/node_modules/.prisma/client/index.js", RAY_KIND_PACKAGE, ".prisma");
	check_script("/srv/node_modules/a/node_modules/.cache/x/y.js", RAY_KIND_PACKAGE, "a");
}

static void what_only_looks_like_a_package_is_none(void **state)
{
	(void)state;
	check_script("/srv/node_modules/loose.js", RAY_KIND_JS, NULL);
	check_script("/srv/node_modules/@scope/loose.js", RAY_KIND_JS, NULL);
	check_script("/srv/my_node_modules/a/b.js", RAY_KIND_JS, NULL);
	check_script("/srv/node_modules_old/a/b.js", RAY_KIND_JS, NULL);
	check_script("/srv/node_modules/", RAY_KIND_JS, NULL);
	check_script("/srv/node_modules", RAY_KIND_JS, NULL);
}

static void native_functions_of_v8_are_told_by_their_names(void **state)
{
	static const struct {
		const char *name;
		enum ray_profile_kind kind;
	} rows[] = {
		{ "v8::internal::Heap::Scavenge()", RAY_KIND_GC },
		{ "v8::internal::Heap::AllocateRaw(int)", RAY_KIND_NATIVE },
		{ "v8::internal::MarkCompactCollector::CollectGarbage()", RAY_KIND_GC },
		{ "v8::internal::(anonymous namespace)::SweepingOnMutatorThreadForGlobalHandlesObserver::End()",
		  RAY_KIND_GC },
		{ "void v8::internal::WasmStruct::BodyDescriptor::IterateBody<v8::internal::X>(int)", RAY_KIND_GC },
		{ "cppgc::internal::MarkerBase::Start()", RAY_KIND_GC },
		{ "v8::internal::compiler::Pipeline::Run()", RAY_KIND_COMPILER },
		{ "v8::internal::ParserBase<v8::internal::Parser>::ParseExpression()", RAY_KIND_COMPILER },
		{ "v8::internal::Handle<v8::internal::Object> v8::internal::maglev::F<int>(int)", RAY_KIND_COMPILER },
		{ "v8::internal::wasm::(anonymous namespace)::LiftoffCompiler::Go()", RAY_KIND_COMPILER },
		{ "v8::internal::JsonParser<unsigned char>::ParseJson()", RAY_KIND_NATIVE },
		/* Only its own name counts, not what it takes or gives. */
		{ "v8::internal::compiler::Node* v8::internal::Factory::New(v8::internal::Parser*)", RAY_KIND_NATIVE },
		{ "std::vector<v8::internal::compiler::Node>::push_back(int)", RAY_KIND_NATIVE },
		{ "v8::internal::Foo::operator()(v8::internal::Scanner)", RAY_KIND_NATIVE },
		{ "uv_run", RAY_KIND_NATIVE },
		{ "", RAY_KIND_NATIVE },
		{ "<<<((", RAY_KIND_NATIVE },
	};
	(void)state;

	for (size_t i = 0; i < RAY_COUNT(rows); i++)
		assert_int_equal(ray_kind_of_native(rows[i].name), rows[i].kind);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scripts_are_told_by_their_paths),
		cmocka_unit_test(packages_are_named_by_the_innermost_directory),
		cmocka_unit_test(what_only_looks_like_a_package_is_none),
		cmocka_unit_test(native_functions_of_v8_are_told_by_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
