/* runtime.c - embeds build/runtime.bpf.o. SPDX-License-Identifier: MIT */
#include "kern/runtime.h"

__asm__(".pushsection .rodata\n"
	".balign 16\n"
	".globl ray_runtime_object\n"
	"ray_runtime_object:\n"
	".incbin \"build/runtime.bpf.o\"\n"
	".globl ray_runtime_object_end\n"
	"ray_runtime_object_end:\n"
	".popsection\n");
