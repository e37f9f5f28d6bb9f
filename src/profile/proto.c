/* proto.c - see proto.h. SPDX-License-Identifier: MIT */
#include "profile/proto.h"

bool ray_proto_varint(struct ray_proto_span *s, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && s->at < s->end; shift += 7) {
		uint8_t byte = *s->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

static bool skip_bytes(struct ray_proto_span *s, uint64_t size)
{
	if (size > (uint64_t)(s->end - s->at))
		return false;
	s->at += size;
	return true;
}

/* 1: a field; 0: the end; -1: broken. */
int ray_proto_next(struct ray_proto_span *s, struct ray_proto_field *f)
{
	uint64_t tag, size;

	*f = (struct ray_proto_field){ 0 };
	if (s->at == s->end)
		return 0;
	if (!ray_proto_varint(s, &tag) || tag >> 3 == 0 || tag >> 3 > 536870911)
		return -1;
	f->number = (uint32_t)(tag >> 3);
	switch (tag & 7) {
	case 0:
		return ray_proto_varint(s, &f->value) ? 1 : -1;
	case 1:
		return skip_bytes(s, 8) ? 1 : -1;
	case 5:
		return skip_bytes(s, 4) ? 1 : -1;
	case 2:
		if (!ray_proto_varint(s, &size) || size > (uint64_t)(s->end - s->at))
			return -1;
		f->span = (struct ray_proto_span){ s->at, s->at + size };
		s->at += size;
		return 1;
	default:
		return -1;
	}
}
