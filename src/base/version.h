/* version.h - which noderay this is. SPDX-License-Identifier: MIT */
#ifndef RAY_BASE_VERSION_H
#define RAY_BASE_VERSION_H

#define RAY_VERSION "0.1.0"

#endif
