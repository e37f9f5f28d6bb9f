/* fuzz_flow.c - any bytes as the code of a function. SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>

#include "probe/flow.h"
#include "probe/instruction.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bounds {
	uint64_t start, size;
};

static bool check(const struct ray_flow_step *step, void *arg)
{
	const struct bounds *b = arg;

	if (step->at - b->start >= b->size)
		abort();
	if (step->kind == RAY_FLOW_LEAVE && step->target - b->start < b->size)
		abort();
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t starts[] = { 0, 0x1000, UINT64_MAX - 64 };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		struct bounds b = { starts[i], size };

		ray_flow_walk(data, size, starts[i], check, &b);
	}
	if (ray_instruction_entry(data, size, 6) >= size && size)
		abort();
	return 0;
}
