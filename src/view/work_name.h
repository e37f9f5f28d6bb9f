/* work_name.h - what a work of the thread pool is, from the name of the function that it runs. SPDX-License-Identifier: MIT */
#ifndef RAY_VIEW_WORK_NAME_H
#define RAY_VIEW_WORK_NAME_H

#include "base/text.h"

struct ray_work_name {
	struct ray_text kind; /* fs, dns, crypto, zlib, work... */
	struct ray_text what; /* open, getaddrinfo, pbkdf2, readFile, an addon's function; "" where nothing is known */
};

/* kind and operation as the probe tells them; function is the symbol: "node`non-virtual thunk to node::crypto::DeriveBitsJob<...>::DoThreadPoolWork()". */
void ray_work_name(const char *kind, const char *operation, const char *function, struct ray_work_name *ret);
void ray_work_name_deinit(struct ray_work_name *name);

#endif
