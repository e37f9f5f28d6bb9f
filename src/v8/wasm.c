/* wasm.c - see wasm.h. SPDX-License-Identifier: MIT */
#include "v8/wasm.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "v8/layout.h"
#include "v8/wasm_native.h"

enum {
	INSTANCE_WORDS = 48,
	OBJECT_WORDS = 8, /* enough of a module object, or of an instance object */
	MAX_HOPS = 3,	  /* objects from the instance to the one that holds the NativeModule */
	MANAGED_WORDS = 6,
	SCRIPT_WORDS = 16,
	MAX_TABLE = 16 << 20,
	MAX_TRIES = 20000, /* addresses that are looked at as NativeModules: a damaged heap must not take for ever */
};

/* An instance and its module; a failed search is remembered as well. */
struct known {
	uint64_t instance;
	struct ray_wasm_native *native; /* NULL: not found; shared between instances, owned by the list */
	uint64_t script;
};

struct ray_wasm {
	const struct ray_reader *reader;
	const struct ray_wasm_layout *layout;
	RAY_VEC(struct known) known;
	RAY_VEC(struct ray_wasm_native *) natives;
	unsigned tries;
};

struct ray_wasm_layout ray_wasm_layout_of(const struct ray_v8_layout *l)
{
	return (struct ray_wasm_layout){
		.map_instance_type = (uint16_t)ray_v8_get(l, RAY_V8_MAP_INSTANCE_TYPE),
		.script_type = (uint16_t)ray_v8_get(l, RAY_V8_TYPE_SCRIPT),
		.position_flags = ray_v8_get(l, RAY_V8_NEW_POSITION_CODE) > 0,
	};
}

struct ray_wasm *ray_wasm_create(const struct ray_reader *reader, const struct ray_wasm_layout *layout)
{
	struct ray_wasm *w = calloc(1, sizeof(*w));

	if (w) {
		w->reader = reader;
		w->layout = layout;
	}
	return w;
}

void ray_wasm_free(struct ray_wasm *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->natives.n; i++) {
		ray_wasm_native_deinit(w->natives.at[i]);
		free(w->natives.at[i]);
	}
	ray_vec_free(&w->natives);
	ray_vec_free(&w->known);
	free(w);
}

static bool is_tagged(uint64_t word)
{
	return (word & 3) == 1 && word >= 0x1000 && word < UINT64_C(1) << 47;
}

static size_t read_fields(const struct ray_wasm *w, uint64_t object, uint64_t *words, size_t count)
{
	return w->reader->read(w->reader->arg, object - 1, words, count * 8) / 8;
}

static struct ray_wasm_native *add_native(struct ray_wasm *w, uint64_t address)
{
	struct ray_wasm_native *n;

	for (size_t i = 0; i < w->natives.n; i++)
		if (w->natives.at[i]->address == address)
			return w->natives.at[i];
	if (w->tries++ >= MAX_TRIES)
		return NULL;
	n = calloc(1, sizeof(*n));
	if (!n || !ray_wasm_native_read(w->reader, address, n) || !ray_vec_push(&w->natives, n)) {
		free(n);
		return NULL;
	}
	return n;
}

/* A Foreign whose address is V8's record of a shared pointer; the record points at the pointer. */
static struct ray_wasm_native *native_of_managed(struct ray_wasm *w, uint64_t object)
{
	uint64_t address, record[MANAGED_WORDS], pointer;
	struct ray_wasm_native *n;

	if (!ray_read_u64(w->reader, object - 1 + 8, &address) || address % 8 || address < 0x1000 ||
	    !ray_read(w->reader, address, record, sizeof(record)))
		return NULL;
	for (size_t i = 0; i < MANAGED_WORDS; i++) {
		if (record[i] % 8 || record[i] < 0x1000 || !ray_read_u64(w->reader, record[i], &pointer))
			continue;
		n = add_native(w, pointer);
		if (n)
			return n;
	}
	return NULL;
}

/* Breadth first, since the nearest one is the instance's own. */
static struct ray_wasm_native *search(struct ray_wasm *w, uint64_t object, int hops, size_t limit)
{
	struct ray_wasm_native *n;
	uint64_t words[INSTANCE_WORDS];
	size_t count = read_fields(w, object, words, limit);

	for (size_t i = 1; i < count; i++) {
		if (!is_tagged(words[i]))
			continue;
		n = hops ? search(w, words[i], hops - 1, OBJECT_WORDS) : native_of_managed(w, words[i]);
		if (n)
			return n;
	}
	return NULL;
}

static bool has_type(const struct ray_wasm *w, uint64_t object, uint16_t type)
{
	uint64_t map;
	uint16_t found;

	return ray_read_u64(w->reader, object - 1, &map) && is_tagged(map) &&
	       ray_read_u16(w->reader, map - 1 + w->layout->map_instance_type, &found) && found == type;
}

/* The module's script refers to the same NativeModule as the instance does. */
static bool is_script_of(struct ray_wasm *w, uint64_t object, const struct ray_wasm_native *native)
{
	uint64_t words[SCRIPT_WORDS];
	size_t count;

	if (!has_type(w, object, w->layout->script_type))
		return false;
	count = read_fields(w, object, words, SCRIPT_WORDS);
	for (size_t i = 1; i < count; i++)
		if (is_tagged(words[i]) && native_of_managed(w, words[i]) == native)
			return true;
	return false;
}

static uint64_t find_script(struct ray_wasm *w, uint64_t object, int hops, size_t limit,
			    const struct ray_wasm_native *native)
{
	uint64_t words[INSTANCE_WORDS], found;
	size_t count = read_fields(w, object, words, limit);

	for (size_t i = 1; i < count; i++) {
		if (!is_tagged(words[i]))
			continue;
		if (!hops && is_script_of(w, words[i], native))
			return words[i];
		found = hops ? find_script(w, words[i], hops - 1, OBJECT_WORDS, native) : 0;
		if (found)
			return found;
	}
	return 0;
}

static struct known *know(struct ray_wasm *w, uint64_t instance)
{
	struct known k = { .instance = instance };

	for (size_t i = 0; i < w->known.n; i++)
		if (w->known.at[i].instance == instance)
			return &w->known.at[i];
	for (int hops = 0; hops < MAX_HOPS && !k.native; hops++)
		k.native = search(w, instance, hops, INSTANCE_WORDS);
	for (int hops = 0; hops < MAX_HOPS && k.native && w->layout->script_type && !k.script; hops++)
		k.script = find_script(w, instance, hops, INSTANCE_WORDS, k.native);
	if (!ray_vec_push(&w->known, k))
		return NULL;
	return &w->known.at[w->known.n - 1];
}

static uint64_t next_vlq(const uint8_t **p, const uint8_t *end)
{
	uint64_t value = 0;

	for (unsigned shift = 0; *p < end; shift += 7) {
		uint8_t byte = *(*p)++;

		if (shift < 64)
			value |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			break;
	}
	return value;
}

static int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* The position of the last entry before offset; false when there is none. */
static bool position_before(const uint8_t *p, const uint8_t *end, bool flags, int64_t offset, uint64_t *ret)
{
	int64_t code = -1, position = 0;
	bool found = false;

	while (p < end) {
		uint64_t first = next_vlq(&p, end);
		int64_t delta = flags ? (int64_t)(first >> 2) : unzigzag(first);

		code += delta >= 0 ? delta : -(delta + 1);
		position += unzigzag(next_vlq(&p, end));
		if (code >= offset)
			break;
		*ret = (uint64_t)position;
		found = true;
	}
	return found;
}

/* SourcePosition: bit 0 external, 30 bits of offset + 1, 16 bits of inlining id + 1. */
static int64_t script_offset(uint64_t position)
{
	return (int64_t)(position >> 1 & 0x3fffffff) - 1;
}

static uint32_t inlining_id(uint64_t position)
{
	return position >> 31 & 0xffff;
}

struct inlining {
	int32_t index;
	uint64_t caller;
};

/* Entries are an index and a position, since V8 12 with a byte for tail calls between them: the size that divides
 * the table and whose entries all make sense is the one. */
static bool read_inlining(const struct ray_wasm_native *n, const uint8_t *bytes, size_t size, size_t entry, uint32_t id,
			  struct inlining *ret)
{
	uint32_t functions = n->bytes.imported + n->bytes.declared;
	size_t count = size / entry;

	if (size % entry || id >= count)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct inlining in;

		memcpy(&in.index, bytes + i * entry, 4);
		memcpy(&in.caller, bytes + (i + 1) * entry - 8, 8);
		if (in.index < 0 || (uint32_t)in.index >= functions || in.caller >> 47 || in.caller & 1 ||
		    inlining_id(in.caller) > count)
			return false;
		if (i == id)
			*ret = in;
	}
	return true;
}

static uint8_t *read_table(const struct ray_wasm *w, uint64_t address, uint32_t size)
{
	uint8_t *bytes = size && size <= MAX_TABLE ? malloc(size) : NULL;

	if (bytes && !ray_read(w->reader, address, bytes, size)) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

static void add_function(struct ray_wasm_native *n, uint32_t index, int64_t offset, struct ray_wasm_frame *ret)
{
	struct ray_wasm_function *f = &ret->functions[ret->count];
	struct ray_wasm_section body;

	if (ret->count > RAY_WASM_MAX_INLINED)
		return;
	memset(f, 0, sizeof(*f));
	f->index = index;
	f->offset = -1;
	if (offset >= 0 && ray_wasm_bytes_body(&n->bytes, index, &body) && (uint64_t)offset < body.size)
		f->offset = (int64_t)body.offset + offset;
	if (!ray_wasm_bytes_function_name(&n->bytes, index, f->name, sizeof(f->name)) &&
	    ray_wasm_bytes_export_name(&n->bytes, index, f->name, sizeof(f->name)))
		f->is_exported_name = true;
	ret->count++;
}

/* Fills in the functions that were inlined here, and where the outer one is. */
static int64_t unfold(const struct ray_wasm *w, struct ray_wasm_native *n, const struct ray_wasm_code *code,
		      int64_t offset, struct ray_wasm_frame *ret)
{
	ray_auto_memory uint8_t *positions = NULL, *inlined = NULL;
	struct ray_wasm_tables tables;
	struct inlining in = { 0 };
	uint64_t position = 0;

	if (!ray_wasm_native_tables(n, code, &tables))
		return -1;
	positions = read_table(w, tables.positions, tables.positions_size);
	if (!positions || !position_before(positions, positions + tables.positions_size, w->layout->position_flags,
					   offset, &position))
		return -1;
	inlined = read_table(w, tables.inlining, tables.inlining_size);
	for (int i = 0; inlining_id(position) && i < RAY_WASM_MAX_INLINED; i++) {
		uint32_t id = inlining_id(position) - 1;

		if (!inlined || (!read_inlining(n, inlined, tables.inlining_size, 13, id, &in) &&
				 !read_inlining(n, inlined, tables.inlining_size, 12, id, &in)))
			return -1;
		add_function(n, (uint32_t)in.index, script_offset(position), ret);
		position = in.caller;
	}
	return script_offset(position);
}

bool ray_wasm_find(struct ray_wasm *w, uint64_t instance, uint64_t pc, bool is_leaf, struct ray_wasm_frame *ret)
{
	struct known *k = is_tagged(instance) ? know(w, instance) : NULL;
	struct ray_wasm_code code;
	int64_t offset;

	/* A return address may lie one past the end of its code: what counts is the call before it. */
	if (!k || !k->native || !ray_wasm_native_find(k->native, is_leaf ? pc : pc - 1, &code))
		return false;
	memset(ret, 0, sizeof(*ret));
	offset = unfold(w, k->native, &code, (int64_t)(pc - code.start) + is_leaf, ret);
	add_function(k->native, (uint32_t)code.index, offset, ret);
	if (!ray_wasm_bytes_module_name(&k->native->bytes, ret->module_name, sizeof(ret->module_name)))
		ret->module_name[0] = '\0';
	ret->script = k->script;
	return true;
}
