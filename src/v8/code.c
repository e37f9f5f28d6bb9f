/* code.c - see code.h. SPDX-License-Identifier: MIT */
#include "v8/code.h"

#include <string.h>

#include "v8/function.h"

enum {
	STEP = 4096,
	MAX_CODE = 16 << 20, /* how far back a header is looked for */
};

const char *ray_v8_tier_name(enum ray_v8_tier tier)
{
	static const char *const names[] = { "", "interpreted", "baseline", "maglev", "turbofan", "builtin" };

	return names[tier];
}

static enum ray_v8_tier tier_of(const struct ray_v8_layout *l, uint32_t flags)
{
	int32_t kind = (int32_t)flags & ray_v8_get(l, RAY_V8_CODE_KIND_MASK);

	if (kind < ray_v8_get(l, RAY_V8_CODE_KIND_BASELINE))
		return RAY_TIER_NONE;
	if (kind == ray_v8_get(l, RAY_V8_CODE_KIND_BASELINE))
		return RAY_TIER_BASELINE;
	return kind < ray_v8_get(l, RAY_V8_CODE_KIND_TURBOFAN) ? RAY_TIER_MAGLEV : RAY_TIER_TURBOFAN;
}

/* The object that starts at header: is it code, and does pc lie in it? */
static bool check_header(struct ray_v8 *v8, uint64_t header, uint64_t pc, struct ray_v8_code *ret)
{
	const struct ray_v8_layout *l = v8->layout;
	struct ray_v8_code c = { .object = header + 1 };
	uint32_t size, flags;

	if (ray_v8_has(l, RAY_V8_TYPE_STREAM)) {
		if (!ray_v8_word(v8, header + 1, ray_v8_get(l, RAY_V8_STREAM_CODE), &c.object) ||
		    !ray_v8_is(v8, c.object, RAY_V8_TYPE_CODE) ||
		    !ray_v8_field(v8, c.object, RAY_V8_CODE_START, &c.start))
			return false;
	} else {
		c.start = header + (uint64_t)ray_v8_get(l, RAY_V8_CODE_BODY);
	}
	if (!ray_read_u32(&v8->memory, c.object - 1 + (uint64_t)ray_v8_get(l, RAY_V8_CODE_SIZE), &size) ||
	    !ray_read_u32(&v8->memory, c.object - 1 + (uint64_t)ray_v8_get(l, RAY_V8_CODE_FLAGS), &flags))
		return false;
	if (pc < c.start || pc > c.start + size || size > MAX_CODE)
		return false;
	c.size = size;
	c.tier = tier_of(l, flags);
	*ret = c;
	return true;
}

static bool is_code_map(struct ray_v8 *v8, uint64_t word)
{
	enum ray_v8_field type = ray_v8_has(v8->layout, RAY_V8_TYPE_STREAM) ? RAY_V8_TYPE_STREAM : RAY_V8_TYPE_CODE;
	uint64_t meta;
	uint16_t of_map;

	for (size_t i = 0; i < RAY_V8_STREAM_MAPS && v8->stream_maps[i]; i++) {
		if (v8->stream_maps[i] == word)
			return true;
	}
	/* Once a map is known, words that are not it cost nothing: V8 has one such map per read-only heap. */
	if (v8->stream_maps[0] || !ray_v8_is_object(word) ||
	    !ray_read_u16(&v8->memory, word - 1 + (uint64_t)ray_v8_get(v8->layout, RAY_V8_MAP_INSTANCE_TYPE),
			  &of_map) ||
	    of_map != ray_v8_get(v8->layout, type) || !ray_v8_word(v8, word, 0, &meta) ||
	    !ray_v8_is(v8, word, RAY_V8_TYPE_MAP))
		return false;
	return true;
}

static void remember_map(struct ray_v8 *v8, uint64_t map)
{
	for (size_t i = 0; i < RAY_V8_STREAM_MAPS; i++) {
		if (v8->stream_maps[i] == map)
			return;
		if (!v8->stream_maps[i]) {
			v8->stream_maps[i] = map;
			return;
		}
	}
}

static bool search_back(struct ray_v8 *v8, uint64_t pc, struct ray_v8_code *ret)
{
	uint64_t words[STEP / 8], page = pc & ~(uint64_t)(STEP - 1);
	size_t n = (size_t)(pc - page) / 8;

	for (uint64_t back = 0; back <= MAX_CODE; back += STEP, page -= STEP, n = STEP / 8) {
		if (!ray_read(&v8->memory, page, words, n * 8))
			return false;
		for (size_t i = n; i-- > 0;) {
			if (!is_code_map(v8, words[i]))
				continue;
			if (check_header(v8, page + i * 8, pc, ret)) {
				remember_map(v8, words[i]);
				return true;
			}
		}
	}
	return false;
}

static bool find_uncached(struct ray_v8 *v8, uint64_t pc, struct ray_v8_code *ret)
{
	uint64_t known[RAY_V8_STREAM_MAPS];

	if (search_back(v8, pc, ret))
		return true;
	if (!v8->stream_maps[0])
		return false;
	/* A worker's heap may have its own map: look once more with an open mind. */
	memcpy(known, v8->stream_maps, sizeof(known));
	memset(v8->stream_maps, 0, sizeof(v8->stream_maps));
	if (search_back(v8, pc, ret)) {
		for (size_t i = 0; i < RAY_V8_STREAM_MAPS && known[i]; i++)
			remember_map(v8, known[i]);
		return true;
	}
	memcpy(v8->stream_maps, known, sizeof(known));
	return false;
}

bool ray_v8_code_find(struct ray_v8 *v8, uint64_t pc, struct ray_v8_code *ret)
{
	bool found;

	for (size_t i = 0; i < v8->codes.n; i++) {
		const struct ray_v8_code *c = &v8->codes.at[i];

		if (pc >= c->start && pc <= c->start + c->size) {
			*ret = *c;
			return c->object != 0;
		}
	}
	/* What was not found is remembered too: the search is long, and a recursion would repeat it. */
	found = find_uncached(v8, pc, ret);
	if (!found)
		*ret = (struct ray_v8_code){ .start = pc };
	(void)ray_vec_push(&v8->codes, *ret);
	return found;
}

bool ray_v8_code_shared(struct ray_v8 *v8, const struct ray_v8_code *code, uint64_t *ret)
{
	uint64_t deopt, value;

	if (!ray_v8_field(v8, code->object, RAY_V8_CODE_DEOPT, &deopt) ||
	    !ray_v8_element(v8, deopt, ray_v8_get(v8->layout, RAY_V8_DEOPT_SFI), &value))
		return false;
	if (ray_v8_is(v8, value, RAY_V8_TYPE_SFI_WRAPPER) && !ray_v8_field(v8, value, RAY_V8_SFI_WRAPPER_SFI, &value))
		return false;
	*ret = value;
	return ray_v8_is(v8, value, RAY_V8_TYPE_SFI);
}

bool ray_v8_code_bytecode(struct ray_v8 *v8, const struct ray_v8_code *code, uint64_t *ret)
{
	uint64_t value;

	if (code->tier != RAY_TIER_BASELINE || !ray_v8_field(v8, code->object, RAY_V8_CODE_DEOPT, &value))
		return false;
	return ray_v8_data_bytecode(v8, value, ret);
}

bool ray_v8_code_is_of(struct ray_v8 *v8, const struct ray_v8_code *code, uint64_t shared)
{
	uint64_t value, own, data;

	if (code->tier != RAY_TIER_BASELINE)
		return ray_v8_code_shared(v8, code, &value) && value == shared;
	if (ray_v8_code_bytecode(v8, code, &value))
		return ray_v8_shared_bytecode(v8, shared, &own) && own == value;
	return ray_v8_field(v8, shared, RAY_V8_SFI_DATA, &data) && ray_v8_is(v8, data, RAY_V8_TYPE_BASELINE_DATA) &&
	       ray_v8_word(v8, data, RAY_V8_BASELINE_DATA_CODE, &value) && value == code->object;
}
