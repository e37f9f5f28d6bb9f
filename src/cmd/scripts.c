/* scripts.c - embeds scripts/NAME.d, each as a text; the list is made by the Makefile. SPDX-License-Identifier: MIT */
#include <string.h>

#include "cmd/script.h"

#define SCRIPT(name)                                \
	extern const char ray_script_##name[];      \
	__asm__(".pushsection .rodata\n"            \
		".globl ray_script_" #name "\n"     \
		"ray_script_" #name ":\n"           \
		".incbin \"scripts/" #name ".d\"\n" \
		".byte 0\n"                         \
		".popsection\n");
#include <scripts.list>
#undef SCRIPT

static const struct {
	const char *name, *text;
} scripts[] = {
#define SCRIPT(name) { #name, ray_script_##name },
#include <scripts.list>
#undef SCRIPT
};

const char *ray_script_name(size_t index)
{
	return index < RAY_COUNT(scripts) ? scripts[index].name : NULL;
}

const char *ray_script_text(const char *name)
{
	for (size_t i = 0; i < RAY_COUNT(scripts); i++)
		if (strcmp(scripts[i].name, name) == 0)
			return scripts[i].text;
	return NULL;
}
