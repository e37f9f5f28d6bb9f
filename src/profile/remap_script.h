/* remap_script.h - one generated script: its text and its source map. For remap*.c only. SPDX-License-Identifier: MIT */
#ifndef RAY_PROFILE_REMAP_SCRIPT_H
#define RAY_PROFILE_REMAP_SCRIPT_H

#include "base/text.h"
#include "profile/remap.h"
#include "profile/sourcemap.h"

struct ray_remap_script {
	const char *name; /* as node has it */
	char *url;	  /* of its map, as V8 has it; "": it has none; NULL: look into the file */
	bool is_read;
	const char *folder;	    /* the path of the map, from which sources are named */
	struct ray_source_map *map; /* NULL: it has none that can be read */
	bool is_broken;		    /* it names one */
	char *text;		    /* of the script, kept for its names; NULL: none */
	size_t size;
	uint16_t *units; /* the text as V8 counts it; NULL: each byte is one */
	size_t unit_count;
	size_t *lines; /* where each begins; made at the first question */
	size_t line_count;
};

/* Reads it and its map; name and url are set. why gets what is wrong with the map. False without memory. */
bool ray_remap_script_read(struct ray_remap_script *s, const struct ray_remap_options *options, struct ray_text *why);
void ray_remap_script_deinit(struct ray_remap_script *s);
/* Does the identifier word stand at this place of the script? */
bool ray_remap_script_has_word(struct ray_remap_script *s, int line, int column, const char *word);

#endif
