/* heartbeat.h - each pass of a main loop reports that the loop is alive. SPDX-License-Identifier: MIT
 *
 * The functions are empty in the product. The tests link tests/watchdog.c instead, which aborts with a
 * stack trace when a main loop makes no pass for several seconds. */
#ifndef RAY_BASE_HEARTBEAT_H
#define RAY_BASE_HEARTBEAT_H

void ray_heartbeat(void);      /* at the start of each pass */
void ray_heartbeat_stop(void); /* the loop has ended */

#endif
