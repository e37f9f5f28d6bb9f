/* script_maps.c - see script_maps.h. SPDX-License-Identifier: MIT */
#include "stack/script_maps.h"

#include "base/text.h"
#include "stack/js.h"
#include "v8/script.h"

void ray_script_maps_tell(struct ray_js *js, uint64_t script, const char *file)
{
	ray_auto_text url = { 0 };
	uint64_t hash;

	/* A map in a script may have megabytes: not while the target stands still for us. */
	if (!js->script_maps || !file || !*file || js->v8.hurry)
		return;
	hash = ray_hash_text(0, file);
	if (ray_hashmap_find(&js->told_maps, hash, one, *one == hash) ||
	    !ray_v8_script_map_url(&js->v8, script, &url) || url.failed)
		return;
	if (ray_hashmap_add(&js->told_maps, hash, hash))
		js->script_maps->take(js->script_maps->arg, file, ray_text_get(&url));
}
