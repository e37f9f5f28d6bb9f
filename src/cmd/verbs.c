/* verbs.c - the table of verbs. One line here registers src/cmd/NAME.c, which defines
 * `const struct ray_verb ray_verb_NAME`. SPDX-License-Identifier: MIT */
#include "cmd/verbs.h"

#include <ctype.h>
#include <string.h>

#include "cmd/suggest.h"

/* In the order of --help. */
/* clang-format off */
#define VERBS(X) \
	X(ps) \
	X(summary) \
	X(stack) \
	X(record) \
	X(top) \
	X(convert) \
	X(diff) \
	X(trace) \
	X(http) \
	X(fs) \
	X(dns) \
	X(net) \
	X(gc) \
	X(loop) \
	X(pool) \
	X(syscalls) \
	X(maps) \
	X(files) \
	X(args) \
	X(env) \
	X(core) \
	X(doctor) \
	X(completion)
/* clang-format on */

#define DECLARE(name) extern const struct ray_verb ray_verb_##name;
VERBS(DECLARE)

#define POINTER(name) &ray_verb_##name,
const struct ray_verb *const ray_verbs[] = { VERBS(POINTER) NULL };

const struct ray_verb *ray_verb_find(const char *name)
{
	size_t i;

	for (i = 0; ray_verbs[i]; i++)
		if (!strcmp(ray_verbs[i]->name, name) || (ray_verbs[i]->alias && !strcmp(ray_verbs[i]->alias, name)))
			return ray_verbs[i];
	return NULL;
}

struct ray_error *ray_verb_get(const char *name, const struct ray_verb **ret)
{
	const struct ray_verb *verb = ray_verb_find(name);
	struct ray_suggest best;
	struct ray_error *err;
	size_t i;

	if (verb) {
		*ret = verb;
		return NULL;
	}
	if (isdigit((unsigned char)name[0]) || strchr(name, '/')) {
		err = ray_error_new(RAY_USAGE, "a verb comes before '%s'", name);
		return ray_error_remedy(err, "for what it is doing now: noderay stack %s", name);
	}
	err = ray_error_new(RAY_USAGE, "no such verb: '%s'", name);
	ray_suggest_init(&best, name, strlen(name));
	for (i = 0; ray_verbs[i]; i++) {
		ray_suggest_offer(&best, ray_verbs[i]->name);
		if (ray_verbs[i]->alias)
			ray_suggest_offer(&best, ray_verbs[i]->alias);
	}
	if (best.word)
		return ray_error_remedy(err, "did you mean 'noderay %s'?", best.word);
	return ray_error_remedy(err, "'noderay --help' lists the verbs");
}
