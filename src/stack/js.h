/* js.h - the JavaScript side of a target: which node it is, how its V8 is laid out, and its heap.
 * SPDX-License-Identifier: MIT
 *
 * Joins target (memory, symbols) and v8 (meaning). When the layout cannot be had, native frames still
 * can: then v8 is not ready and why says what is missing. */
#ifndef RAY_STACK_JS_H
#define RAY_STACK_JS_H

#include "base/hashmap.h"
#include "stack/cache.h"
#include "stack/constants.h"
#include "stack/deopt.h"
#include "stack/script_maps.h"
#include "target/node.h"
#include "v8/v8.h"
#include "v8/wasm.h"

struct ray_js {
	struct ray_target *target;
	struct ray_node node;
	struct ray_constants constants;
	const struct ray_v8_layout *layout; /* of the constants; NULL when it could not be had */
	struct ray_cache *cache;	    /* what v8 reads through; like v8 */
	struct ray_v8 v8;		    /* valid only with a layout */
	uint64_t maps_ns;		    /* when all maps were forgotten */
	struct ray_wasm_layout wasm_layout;
	struct ray_wasm *wasm;			   /* like v8 */
	char *why;				   /* why there is no layout; NULL when there is one */
	bool blind;				   /* not even the executable could be read: node holds nothing */
	const struct ray_script_maps *script_maps; /* who wants to know of them; NULL: nobody */
	RAY_HASHMAP(uint64_t) told_maps;	   /* hashes of the files that it was told */
	struct ray_deopt deopt;			   /* ray_js_deopt() */
	bool has_deopt;
};

/* Fails when the target is not a node, or when that cannot be told. */
RAY_MUST_USE struct ray_error *ray_js_open(struct ray_target *t, struct ray_js **ret);
/* For a core whose executable is missing: addresses can be shown, nothing can be named. why is copied. */
RAY_MUST_USE struct ray_error *ray_js_open_blind(struct ray_target *t, const char *why, struct ray_js **ret);
/* For a process that is no node: its native frames can be named all the same. */
RAY_MUST_USE struct ray_error *ray_js_open_native(struct ray_target *t, struct ray_js **ret);
void ray_js_close(struct ray_js *js);
RAY_DEFINE_AUTO(ray_js, ray_js_close)

/* The target has run on: what was read of its heap is forgotten. */
RAY_MUST_USE struct ray_error *ray_js_forget(struct ray_js *js);

/* V8's builtin that replaces frames; looked for at the first question. */
const struct ray_deopt *ray_js_deopt(struct ray_js *js);

/* A builtin of V8 by its symbol ("Builtins_CEntry_..."), without the prefix; NULL when it is none. */
const char *ray_js_builtin_name(const char *symbol);

#endif
