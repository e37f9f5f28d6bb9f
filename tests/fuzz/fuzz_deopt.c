/* fuzz_deopt.c - any bytes as machine code in which V8's builtin that replaces frames is looked for. SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

#include "stack/deopt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ray_deopt_distances distances;
	struct ray_deopt_entry e;

	for (size_t at = 0; ray_deopt_decode(data, size, &at, &e, &distances);)
		if (e.made >= e.moving || e.moving >= e.computed || e.computed > e.end || e.end > size)
			__builtin_trap();
	return 0;
}
