/* round.h - a main loop says that it comes round. SPDX-License-Identifier: MIT
 *
 * Here that does nothing. The program that the tests run has another one in its place (tests/watchdog.c), which ends it, and shows where it is, when a loop has not
 * come round for seconds: a wait without an end, or an endless loop, that no test was written for. */
#ifndef RAY_BASE_ROUND_H
#define RAY_BASE_ROUND_H

void ray_round_begin(void);
void ray_rounds_end(void);

#endif
