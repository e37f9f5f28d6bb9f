/* runtime.h - the compiled kernel side, as it is linked into noderay: an ELF object for BPF.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_RUNTIME_H
#define RAY_KERN_RUNTIME_H

#include <stddef.h>

extern const unsigned char ray_runtime_object[];
extern const unsigned char ray_runtime_object_end[];

#endif
