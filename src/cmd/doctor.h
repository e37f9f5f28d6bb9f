/* doctor.h - what the parts of `noderay doctor` share. SPDX-License-Identifier: MIT
 *
 * Each part adds findings to the report: a mark, what was found, and the command that would change it. The nodes are
 * looked at first, since rights and cores are judged by what the nodes that run need. */
#ifndef RAY_CMD_DOCTOR_H
#define RAY_CMD_DOCTOR_H

#include "base/arena.h"
#include "base/vec.h"
#include "target/about.h"
#include "target/machine.h"
#include "target/node.h"
#include "view/report.h"

struct ray_patient {
	struct ray_about about;
	struct ray_node node;
	bool is_open;	     /* its memory can be read */
	const char *refusal; /* why not */
	const char *remedy;  /* "" if none is known */
	const char *unnamed; /* why JavaScript cannot be named; NULL if it can */
	bool is_new;	     /* its V8 is newer than any that is known */
	bool has_workers;    /* their number can be told, so threads and isolates can */
	uint64_t core_limit; /* bytes; UINT64_MAX: none */
	unsigned long core_filter;
	bool has_core_filter;
};

struct ray_doctor {
	struct ray_report *report;
	struct ray_arena *arena;
	struct ray_machine machine;
	RAY_VEC(struct ray_patient) patients;
	size_t unreadable; /* processes of others that could not be looked at */
};

/* Fills patients; the rest is there already. */
RAY_MUST_USE struct ray_error *ray_doctor_examine(struct ray_doctor *d);
void ray_doctor_machine(struct ray_doctor *d);
void ray_doctor_rights(struct ray_doctor *d);
void ray_doctor_tracing(struct ray_doctor *d);
void ray_doctor_cores(struct ray_doctor *d);
void ray_doctor_nodes(struct ray_doctor *d);
void ray_doctor_verbs(struct ray_doctor *d);

#endif
