/* diff_pack.c - a difference as the text that reports carry: one profile with two threads. SPDX-License-Identifier: MIT
 *
 * The first thread is all that was before: before_threads says so to whoever reads it. The tree is the difference's own, and only borrowed. */
#include <string.h>

#include "profile/pack.h"

static bool put_side(struct ray_profile *p, const struct ray_profile_side *side)
{
	const struct ray_profile_thread thread = { .name = side->title, .process = "" };

	if (!ray_vec_push(&p->threads, thread))
		return false;
	for (size_t i = 0; i < p->nodes.n; i++) {
		struct ray_profile_sample s = {
			.node = (uint32_t)i, .thread = (uint32_t)p->threads.n - 1, .weight = side->self[i], .count = 1
		};

		if (side->self[i] && !ray_vec_push(&p->samples, s))
			return false;
	}
	return true;
}

struct ray_error *ray_profile_diff_pack(const struct ray_profile_diff *d, struct ray_text *ret)
{
	struct ray_profile both = *d->tree;
	struct ray_error *err = &ray_enomem;

	memset(&both.threads, 0, sizeof(both.threads));
	memset(&both.samples, 0, sizeof(both.samples));
	both.before_title = d->sides[RAY_DIFF_BEFORE].title;
	both.title = d->sides[RAY_DIFF_AFTER].title;
	both.event = d->sides[RAY_DIFF_AFTER].event;
	both.unit = d->sides[RAY_DIFF_AFTER].unit;
	both.before_threads = 1;
	both.has_times = false;
	if (put_side(&both, &d->sides[RAY_DIFF_BEFORE]) && put_side(&both, &d->sides[RAY_DIFF_AFTER]))
		err = ray_profile_pack(&both, ret);
	ray_vec_free(&both.threads);
	ray_vec_free(&both.samples);
	return err;
}
