/* report.h - findings in sections, each with a mark and, where it helps, what to do.
 * SPDX-License-Identifier: MIT
 *
 * Pure: collects texts, prints them wrapped, or as JSON, one object a line. Decides nothing. */
#ifndef RAY_VIEW_REPORT_H
#define RAY_VIEW_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/auto.h"

enum ray_mark { RAY_MARK_OK, RAY_MARK_PART, RAY_MARK_NO };

struct ray_report;

struct ray_report *ray_report_create(void); /* NULL when there is no memory */
void ray_report_free(struct ray_report *r);
RAY_DEFINE_AUTO(ray_report, ray_report_free)

/* section is not copied; findings of one section are added one after the other. */
void ray_report_add(struct ray_report *r, const char *section, const char *name, enum ray_mark mark, const char *fmt,
		    ...) RAY_PRINTF(5, 6);
/* What to do about the finding added last. */
void ray_report_fix(struct ray_report *r, const char *fmt, ...) RAY_PRINTF(2, 3);
size_t ray_report_count(const struct ray_report *r, enum ray_mark mark);

/* False when memory ran out and something is missing. */
bool ray_report_print(const struct ray_report *r, size_t width, FILE *out);
bool ray_report_print_json(const struct ray_report *r);

#endif
