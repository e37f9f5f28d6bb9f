/* uv_files.h - what libuv uses each descriptor for.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_TARGET_UV_FILES_H
#define RAY_TARGET_UV_FILES_H

#include "target/files.h"
#include "target/uv.h"

/* Fills in use, loop and loop_role of the files, by what is in libuv's memory. What the kernel says of a
 * descriptor must agree with what libuv says, or it is not believed. When nothing was listed (a core
 * without noderay's note) the descriptors that libuv knows are added. The texts live in files. */
RAY_MUST_USE struct ray_error *ray_uv_explain_files(struct ray_target *t, const struct ray_uv *uv,
						    struct ray_files *files);

#endif
