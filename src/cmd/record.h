/* record.h - what the parts of `noderay record` share. SPDX-License-Identifier: MIT */
#ifndef RAY_CMD_RECORD_H
#define RAY_CMD_RECORD_H

#include "base/progress.h"
#include "cmd/script.h"
#include "profile/format.h"
#include "view/recorder.h"

enum ray_record_mode {
	RAY_MODE_CPU,
	RAY_MODE_OFF_CPU,
	RAY_MODE_WALL,
	RAY_MODE_EVENT,
	RAY_MODE_ALLOC,
	RAY_MODE_GC,
};

struct ray_record_run {
	struct ray_script script; /* its values are set */
	enum ray_record_mode mode;
	uint64_t period_ns;
	unsigned frequency;
	const char *event;   /* RAY_MODE_EVENT: as it was asked for */
	const char *pattern; /* of the file's name; NULL: noderay-%p-%t, with the format's end */
	const struct ray_profile_format *format;
	bool is_json;
	/* Its own: */
	struct ray_recorder *recorder;
	struct ray_source_maps *maps; /* NULL: not asked for */
	uint32_t pid;		      /* the first target */
	char node_version[32];	      /* its */
	uint64_t shown_ns;
	uint64_t lost;
	bool is_shown; /* a line of progress stands on the terminal */
};

/* Records until it ends, then writes the file. */
RAY_MUST_USE struct ray_error *ray_record_run(struct ray_record_run *r);

#endif
