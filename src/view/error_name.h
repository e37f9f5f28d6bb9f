/* error_name.h - errors as node's programs see them: ENOENT, ENOTFOUND, EAI_AGAIN. SPDX-License-Identifier: MIT */
#ifndef RAY_VIEW_ERROR_NAME_H
#define RAY_VIEW_ERROR_NAME_H

#include <stdint.h>

/* The name of libuv's error: error.code in JavaScript. NULL if the result is none; out is used for one without a name. */
const char *ray_view_uv_error(int64_t result, char out[24]);
/* Of a name that was looked up: less than 0 is libuv's, more than 0 that of c-ares. */
const char *ray_view_dns_error(int64_t result, char out[24]);

#endif
