/* wasm_native.c - see wasm_native.h. SPDX-License-Identifier: MIT
 *
 * What is relied upon, true from V8 9.4 to 14.6 (offsets in docs/internals/threads-and-wasm.md):
 * - NativeModule has a shared pointer to the module's bytes, and right behind it the pointers to the WasmCode of its
 *   jump table and of its far jump table.
 * - Every WasmCode begins with a pointer to its NativeModule and the address of its instructions. A block of 32-bit
 *   sizes follows, the first of which is the instructions', and then the function's index, -1 for tables.
 * - Somewhere behind come, in a row: std::map from address to WasmCode, std::vector of WasmCode not in the map yet,
 *   and the table of the functions' current WasmCode. */
#include "v8/wasm_native.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/search.h"

enum {
	WORDS = 0x60,	   /* how much of a NativeModule is looked at; 0x200 bytes matter up to V8 14 */
	CODE_WORDS = 0x10, /* the same of a WasmCode */
	ALIGNMENT = 64,	   /* of code */
	MAX_DEPTH = 64,	   /* of a map's tree */
	MAX_RECENT = 1 << 20,
	MAX_READINGS = 8, /* of the vector */
	CHECKED = 32,	  /* functions whose number is compared before it is believed */
	/* A std::map's head: colour, root, first, last, count; then the vector and the table. */
	HEAD_ROOT = 8,
	HEAD_FIRST = 16,
	HEAD_LAST = 24,
	HEAD_COUNT = 32,
	VECTOR = 40,
	TABLE = 64,
	/* A node of the tree: colour, parent, left, right, key, value. */
	NODE_PARENT = 8,
	NODE_LEFT = 16,
	NODE_RIGHT = 24,
	NODE_KEY = 32,
	NODE_VALUE = 40,
};

static bool is_pointer(uint64_t p)
{
	return p >= 0x1000 && p < UINT64_C(1) << 47 && p % 8 == 0;
}

static bool read_word(const struct ray_reader *r, uint64_t address, uint64_t *ret)
{
	return is_pointer(address) && ray_read_u64(r, address, ret);
}

/* A WasmCode of this module; start_ret is where its instructions begin. */
static bool is_code(const struct ray_reader *r, uint64_t native, uint64_t object, uint64_t *start_ret)
{
	uint64_t w[2];

	if (!is_pointer(object) || !ray_read(r, object, w, sizeof(w)) || w[0] != native || !w[1])
		return false;
	*start_ret = w[1];
	return true;
}

static uint64_t round_up(uint64_t size)
{
	return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The jump table and the far jump table lie side by side, which tells where the size is; neither belongs to a
 * function, which tells where the index is. */
static bool find_members(struct ray_wasm_native *n, uint64_t jump, uint64_t far)
{
	uint32_t a[CODE_WORDS * 2], b[CODE_WORDS * 2];
	uint64_t jump_start, far_start;
	unsigned i;

	if (!is_code(n->reader, n->address, jump, &jump_start) || !is_code(n->reader, n->address, far, &far_start) ||
	    far_start <= jump_start || !ray_read(n->reader, jump, a, sizeof(a)) ||
	    !ray_read(n->reader, far, b, sizeof(b)))
		return false;
	for (i = 6; i <= 10 && (!a[i] || round_up(a[i]) != far_start - jump_start || !b[i]); i += 2)
		;
	if (i > 10)
		return false;
	n->size_offset = i * 4;
	for (i += 2; i < RAY_COUNT(a) && (a[i] != UINT32_MAX || b[i] != UINT32_MAX); i++)
		;
	n->index_offset = i * 4;
	return i < RAY_COUNT(a);
}

/* In one read: a module may have tens of thousands. */
static bool read_code(const struct ray_wasm_native *n, uint64_t object, struct ray_wasm_code *ret)
{
	uint64_t w[CODE_WORDS];
	uint32_t size;

	if (!is_pointer(object) || !ray_read(n->reader, object, w, n->index_offset + 4) || w[0] != n->address || !w[1])
		return false;
	memcpy(&size, (uint8_t *)w + n->size_offset, sizeof(size));
	memcpy(&ret->index, (uint8_t *)w + n->index_offset, sizeof(ret->index));
	ret->object = object;
	ret->start = w[1];
	ret->size = size;
	return true;
}

/* The bytes: a shared pointer to {data, size}. */
static bool read_bytes(struct ray_wasm_native *n, uint64_t vector)
{
	uint64_t w[2];

	return is_pointer(vector) && ray_read(n->reader, vector, w, sizeof(w)) &&
	       ray_wasm_bytes_read(n->reader, w[0], w[1], &n->bytes);
}

/* A map that holds code of this module, or an empty one with code in the vector behind it. */
static bool is_map(const struct ray_wasm_native *n, uint64_t head)
{
	uint64_t w[(TABLE + 8) / 8], parent, key, object, start;

	if (!ray_read(n->reader, head, w, sizeof(w)))
		return false;
	if (!w[HEAD_ROOT / 8])
		return w[HEAD_FIRST / 8] == head && w[HEAD_LAST / 8] == head && !w[HEAD_COUNT / 8] &&
		       w[VECTOR / 8] < w[VECTOR / 8 + 1] && read_word(n->reader, w[VECTOR / 8], &object) &&
		       is_code(n->reader, n->address, object, &start);
	return read_word(n->reader, w[HEAD_ROOT / 8] + NODE_PARENT, &parent) && parent == head &&
	       read_word(n->reader, w[HEAD_ROOT / 8] + NODE_KEY, &key) &&
	       read_word(n->reader, w[HEAD_ROOT / 8] + NODE_VALUE, &object) &&
	       is_code(n->reader, n->address, object, &start) && start == key;
}

/* Some function must have code by now; the numbers of the first few have to be those of their places. */
static bool check_table(const struct ray_wasm_native *n)
{
	struct ray_wasm_code code;
	uint64_t object;
	size_t checked = 0;

	for (uint32_t i = 0; i < n->bytes.declared && checked < CHECKED; i++) {
		if (!read_word(n->reader, n->table + i * 8ull, &object))
			return false;
		if (!object)
			continue;
		if (!read_code(n, object, &code) || code.index < 0 || (uint32_t)code.index != i + n->bytes.imported)
			return false;
		checked++;
	}
	return checked > 0;
}

static bool find_map(struct ray_wasm_native *n, unsigned from)
{
	for (unsigned i = from; i + (TABLE + 8) / 8 <= WORDS; i++) {
		n->map = n->address + i * 8;
		if (is_map(n, n->map) && read_word(n->reader, n->map + TABLE, &n->table) && is_pointer(n->table) &&
		    check_table(n))
			return true;
	}
	return false;
}

bool ray_wasm_native_read(const struct ray_reader *reader, uint64_t address, struct ray_wasm_native *ret)
{
	struct ray_wasm_native n = { .reader = reader, .address = address };
	uint64_t w[WORDS], start;

	if (!is_pointer(address) || !ray_read(reader, address, w, sizeof(w)))
		return false;
	for (unsigned i = 2; i + 1 < WORDS; i++) {
		if (!is_code(reader, address, w[i], &start))
			continue;
		if (find_members(&n, w[i], w[i + 1]) && read_bytes(&n, w[i - 2]) && find_map(&n, i + 2)) {
			*ret = n;
			return true;
		}
	}
	return false;
}

void ray_wasm_native_deinit(struct ray_wasm_native *n)
{
	free(n->recent);
	n->recent = NULL;
	ray_wasm_bytes_deinit(&n->bytes);
}

static int by_start(const void *a, const void *b)
{
	const struct ray_wasm_code *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* V8 moves code from the vector to the map only when somebody looks it up. */
static void read_recent(struct ray_wasm_native *n)
{
	ray_auto_memory uint64_t *objects = NULL;
	uint64_t vector[2];
	size_t count;

	free(n->recent);
	n->recent = NULL;
	n->recent_count = 0;
	n->readings++;
	if (!ray_read(n->reader, n->map + VECTOR, vector, sizeof(vector)) || vector[1] <= vector[0] ||
	    vector[1] - vector[0] > MAX_RECENT * 8ull)
		return;
	count = (vector[1] - vector[0]) / 8;
	objects = malloc(count * 8 + 1);
	n->recent = calloc(count + 1, sizeof(*n->recent));
	if (!objects || !n->recent || !ray_read(n->reader, vector[0], objects, count * 8))
		return;
	for (size_t i = 0; i < count; i++)
		n->recent_count += read_code(n, objects[i], &n->recent[n->recent_count]);
	if (n->recent_count)
		qsort(n->recent, n->recent_count, sizeof(*n->recent), by_start);
}

static bool find_in_map(const struct ray_wasm_native *n, uint64_t pc, struct ray_wasm_code *ret)
{
	uint64_t node, key, best = 0, object;

	if (!read_word(n->reader, n->map + HEAD_ROOT, &node))
		return false;
	for (int depth = 0; node && depth < MAX_DEPTH; depth++) {
		if (!read_word(n->reader, node + NODE_KEY, &key))
			return false;
		if (key <= pc)
			best = node;
		if (!read_word(n->reader, node + (key <= pc ? NODE_RIGHT : NODE_LEFT), &node))
			return false;
	}
	return best && read_word(n->reader, best + NODE_VALUE, &object) && read_code(n, object, ret);
}

static bool find_in_recent(const struct ray_wasm_native *n, uint64_t pc, struct ray_wasm_code *ret)
{
	size_t up_to = ray_search(n->recent, n->recent_count, one, one->start <= pc);

	if (!up_to)
		return false;
	*ret = n->recent[up_to - 1];
	return true;
}

static bool is_function_at(const struct ray_wasm_native *n, const struct ray_wasm_code *c, uint64_t pc)
{
	return pc >= c->start && pc - c->start < c->size && c->index >= 0 && (uint32_t)c->index >= n->bytes.imported &&
	       (uint32_t)c->index - n->bytes.imported < n->bytes.declared;
}

/* A target that runs on goes on compiling: what is missing may just be on its way from the vector to the map. */
bool ray_wasm_native_find(struct ray_wasm_native *n, uint64_t pc, struct ray_wasm_code *ret)
{
	struct ray_wasm_code code;

	for (;;) {
		if ((find_in_map(n, pc, &code) && is_function_at(n, &code, pc)) ||
		    (find_in_recent(n, pc, &code) && is_function_at(n, &code, pc))) {
			*ret = code;
			return true;
		}
		if (n->readings == MAX_READINGS)
			return false;
		read_recent(n);
	}
}

/* All tables lie in one block: protected instructions, relocations, positions, inlining. Its address is before the
 * sizes, which are those of instructions, relocations, positions, [inlining, [deoptimization]], protected. */
bool ray_wasm_native_tables(const struct ray_wasm_native *n, const struct ray_wasm_code *code,
			    struct ray_wasm_tables *ret)
{
	enum { RELOCATIONS = 1, POSITIONS = 2, INLINING = 3 };
	unsigned count = (n->index_offset - n->size_offset) / 4;
	uint32_t sizes[6];
	uint64_t block;

	memset(ret, 0, sizeof(*ret));
	if (count < 4 || count > RAY_COUNT(sizes) || !read_word(n->reader, code->object + n->size_offset - 8, &block) ||
	    !is_pointer(block) || !ray_read(n->reader, code->object + n->size_offset, sizes, count * 4))
		return false;
	ret->positions = block + sizes[count - 1] + sizes[RELOCATIONS];
	ret->positions_size = sizes[POSITIONS];
	if (count > 4) {
		ret->inlining = ret->positions + sizes[POSITIONS];
		ret->inlining_size = sizes[INLINING];
	}
	return true;
}
