/* script_maps.h - which source map a script names, told once to whoever wants to know. SPDX-License-Identifier: MIT
 *
 * Loaders such as tsx and ts-node compile TypeScript in memory: what runs is in no file, and neither is the "//# sourceMappingURL=" at its end. V8 keeps what that
 * says with the script. */
#ifndef RAY_STACK_SCRIPT_MAPS_H
#define RAY_STACK_SCRIPT_MAPS_H

#include <stdint.h>

struct ray_js;

struct ray_script_maps {
	/* file: as frames have it. url: as it stands in the script; "" if it names none. May come again for the same file. */
	void (*take)(void *arg, const char *file, const char *url);
	void *arg;
};

/* Of a script that a frame was just found to be of. Nothing happens where nobody wants to know, or when it was told before. */
void ray_script_maps_tell(struct ray_js *js, uint64_t script, const char *file);

#endif
