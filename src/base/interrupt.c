/* interrupt.c - see interrupt.h. SPDX-License-Identifier: MIT */
#include "base/interrupt.h"

volatile int ray_interrupted;
