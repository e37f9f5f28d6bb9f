/* summary_about.h - what `noderay summary` knows of a process besides what happens in it. SPDX-License-Identifier: MIT */
#ifndef RAY_CMD_SUMMARY_ABOUT_H
#define RAY_CMD_SUMMARY_ABOUT_H

#include "base/arena.h"
#include "view/summary.h"

/* What cannot be had is left empty; the texts are the arena's. */
void ray_summary_look(int pid, struct ray_arena *arena, struct ray_summary_about *ret);

#endif
