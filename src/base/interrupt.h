/* interrupt.h - the user wants to stop.
 * SPDX-License-Identifier: MIT
 *
 * Set by SIGINT, SIGTERM and SIGHUP, whose handlers main installs. Long work in any layer looks at it
 * between steps and ends early, with what it has or without leaving anything behind. */
#ifndef RAY_BASE_INTERRUPT_H
#define RAY_BASE_INTERRUPT_H

extern volatile int ray_interrupted;

#endif
