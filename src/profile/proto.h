/* proto.h - messages of protocol buffers, taken apart field by field. SPDX-License-Identifier: MIT
 *
 * Foreign bytes: nothing is read past the end, and what does not hold together says so. */
#ifndef RAY_PROFILE_PROTO_H
#define RAY_PROFILE_PROTO_H

#include <stdbool.h>
#include <stdint.h>

struct ray_proto_span {
	const uint8_t *at, *end;
};

struct ray_proto_field {
	uint32_t number;
	uint64_t value;		    /* of a number */
	struct ray_proto_span span; /* of bytes; both NULL for a number */
};

bool ray_proto_varint(struct ray_proto_span *s, uint64_t *ret);
/* 1: a field; 0: the end; -1: broken. Numbers of fixed size are passed over: their value is 0. */
int ray_proto_next(struct ray_proto_span *s, struct ray_proto_field *f);

#endif
