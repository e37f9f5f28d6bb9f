/* script_maps.c - see script_maps.h. SPDX-License-Identifier: MIT */
#include "stack/script_maps.h"

#include "base/text.h"
#include "stack/js.h"
#include "v8/script.h"

static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
	return hash;
}

static bool is_told(const struct ray_js *js, uint64_t hash)
{
	for (size_t i = js->told_maps.n; i-- > 0;)
		if (js->told_maps.at[i] == hash)
			return true;
	return false;
}

void ray_script_maps_tell(struct ray_js *js, uint64_t script, const char *file)
{
	ray_auto_text url = { 0 };
	uint64_t hash;

	/* A map in a script may have megabytes: not while the target stands still for us. */
	if (!js->script_maps || !file || !*file || js->v8.hurry)
		return;
	hash = hash_text(file);
	if (is_told(js, hash) || !ray_v8_script_map_url(&js->v8, script, &url) || url.failed)
		return;
	if (ray_vec_push(&js->told_maps, hash))
		js->script_maps->take(js->script_maps->arg, file, ray_text_get(&url));
}
