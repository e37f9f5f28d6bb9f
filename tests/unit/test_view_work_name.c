/* test_view_work_name.c - works by the names of their functions. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "view/work_name.h"

static void functions_say_what_a_work_is(void **state)
{
	static const struct {
		const char *kind, *operation, *function, *is_kind, *is_what;
	} cases[] = {
		{ "fs", "open", "node`uv__fs_work", "fs", "open" },
		{ "dns", "getaddrinfo", "libuv.so.1.0.0`0x7f194237dcd0", "dns", "getaddrinfo" },
		{ "crypto", "",
		  "node`non-virtual thunk to node::crypto::DeriveBitsJob<node::crypto::PBKDF2Traits>::DoThreadPoolWork()",
		  "crypto", "pbkdf2" },
		/* Nodes before 18 do not say the kind. */
		{ "work", "",
		  "node`non-virtual thunk to node::crypto::DeriveBitsJob<node::crypto::RandomBytesTraits>::DoThreadPoolWork()",
		  "crypto", "randomBytes" },
		{ "work", "",
		  "node`non-virtual thunk to node::crypto::KeyGenJob<node::crypto::KeyPairGenTraits<node::crypto::EcKeyGenTraits> >::DoThreadPoolWork()",
		  "crypto", "ecKeyGen" },
		{ "crypto", "",
		  "node`non-virtual thunk to node::crypto::CipherJob<node::crypto::RSACipherTraits>::DoThreadPoolWork()",
		  "crypto", "rsaCipher" },
		{ "work", "",
		  "node`non-virtual thunk to node::(anonymous namespace)::CompressionStream<node::(anonymous namespace)::ZlibContext>::DoThreadPoolWork()",
		  "zlib", "zlib" },
		{ "zlib", "",
		  "node`non-virtual thunk to node::(anonymous namespace)::CompressionStream<node::(anonymous namespace)::BrotliEncoderContext>::DoThreadPoolWork()",
		  "zlib", "brotliEncoder" },
		{ "zlib", "", "libnode.so.108`0x7f1940103bc0", "zlib", "" },
		{ "fs.readfile", "", "node`node::fs::ReadFileJob::DoThreadPoolWork()", "fs", "readFile" },
		{ "node_sqlite3", "", "node`node::sqlite::BackupJob::DoThreadPoolWork()", "node_sqlite3", "backup" },
		{ "work", "", "addon.node`Hash(uv_work_s*)", "work", "addon.node`Hash(uv_work_s*)" },
		{ "node_api", "", "addon.node`hash", "node_api", "addon.node`hash" },
		{ "work", "", "0x7f1940103bc0", "work", "" },
		{ "work", "", "", "work", "" },
		{ "work", "", "::DoThreadPoolWork", "work", "::DoThreadPoolWork" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ray_work_name name;

		ray_work_name(cases[i].kind, cases[i].operation, cases[i].function, &name);
		assert_string_equal(ray_text_get(&name.kind), cases[i].is_kind);
		assert_string_equal(ray_text_get(&name.what), cases[i].is_what);
		ray_work_name_deinit(&name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_say_what_a_work_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
