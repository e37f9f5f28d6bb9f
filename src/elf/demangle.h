/* demangle.h - C++ and Rust names for people. SPDX-License-Identifier: MIT */
#ifndef RAY_ELF_DEMANGLE_H
#define RAY_ELF_DEMANGLE_H

/* Returns a malloc'ed readable name; a plain C name comes back as it is, but without its version
 * ("@@GLIBC_2.34"). NULL only without memory.
 * with_arguments keeps "(int, char*)"; stacks leave them out to stay within the line. */
char *ray_demangle(const char *name, int with_arguments);

#endif
