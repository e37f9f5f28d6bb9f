/* round.c - see round.h. SPDX-License-Identifier: MIT */
#include "base/round.h"

void ray_round_begin(void)
{
}

void ray_rounds_end(void)
{
}
