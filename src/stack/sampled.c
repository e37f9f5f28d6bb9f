/* sampled.c - see sampled.h. SPDX-License-Identifier: MIT */
#include "stack/sampled.h"

#include <string.h>

#include "base/hash.h"
#include "stack/leaf.h"
#include "v8/frame.h"
#include "v8/function.h"

enum {
	OBJECT = 64,	   /* bytes of an object that are kept */
	MOST_FRAMES = 512, /* that may be JavaScript's, in the bytes that were copied */
	SEAM = 8,	   /* links that are compared where the copy ends */
};

/* The copy of a stack, and the same memory a moment later. */
struct picture {
	struct ray_js *js;
	uint64_t sp;
	size_t count; /* words */
	uint64_t *words;
	const uint64_t *now; /* NULL: the thread is stopped */
};

/* What may be a frame of JavaScript. */
struct candidate {
	uint64_t pc;
	bool exact; /* pc is no return address */
	size_t at;  /* index of the word that the frame pointer points to */
};

typedef RAY_VEC(struct ray_range) range_list;
typedef RAY_VEC(struct candidate) candidate_list;

struct ray_error *ray_sampled_begin(struct ray_js *js)
{
	ray_target_thaw(js->target);
	if (js->cache)
		ray_cache_start(js->cache);
	return ray_js_forget(js);
}

/* ---- pinning ---- */

/* The word of a frame by its field; 0 if it was not copied. */
static uint64_t *slot(const struct picture *p, size_t at, enum ray_v8_field field)
{
	int64_t i = (int64_t)at + ray_v8_get(p->js->layout, field) / 8;

	return i >= 0 && (size_t)i < p->count ? &p->words[i] : NULL;
}

static uint64_t slot_now(const struct picture *p, const uint64_t *word)
{
	return p->now[word - p->words];
}

static void add_candidate(const struct picture *p, uint64_t fp, uint64_t pc, bool exact, candidate_list *list)
{
	size_t at = (size_t)(fp - p->sp) / 8;
	const uint64_t *function, *context;

	if (fp < p->sp || fp & 7 || at + 1 >= p->count || list->n >= MOST_FRAMES)
		return;
	function = slot(p, at, RAY_V8_FP_FUNCTION);
	context = slot(p, at, RAY_V8_FP_CONTEXT);
	if (!function || !context || !ray_v8_is_object(*function) || !ray_v8_is_object(*context))
		return;
	(void)ray_vec_push(list, (struct candidate){ pc, exact, at });
}

/* A link to a frame is a word that points further up the stack, with a return address behind it. V8's frames of functions have two heap
 * objects below: the context and the function. */
static void find_candidates(const struct picture *p, const struct ray_tick *tick, candidate_list *list)
{
	uint64_t end = p->sp + p->count * 8;

	add_candidate(p, tick->registers.rbp, tick->registers.rip, true, list);
	for (size_t i = 0; i + 1 < p->count; i++)
		if (p->words[i] > p->sp + i * 8 && p->words[i] < end)
			add_candidate(p, p->words[i], p->words[i + 1], false, list);
}

static void add_range(range_list *ranges, uint64_t object, size_t size)
{
	if (ray_v8_is_object(object))
		(void)ray_vec_push(ranges, (struct ray_range){ object - 1, size });
}

static void pin_objects(const struct picture *p, const struct ray_tick *tick, const candidate_list *list)
{
	static const struct {
		enum ray_v8_field field;
		size_t size;
	} fields[] = { { RAY_V8_FP_FUNCTION, OBJECT }, { RAY_V8_FP_CONTEXT, 8 }, { RAY_V8_FP_ARGS, 8 } };
	range_list ranges = { 0 };

	add_range(&ranges, tick->registers.rdi, OBJECT); /* the function that is being called */
	for (size_t i = 0; i < list->n; i++) {
		for (size_t k = 0; k < RAY_COUNT(fields); k++) {
			const uint64_t *word = slot(p, list->at[i].at, fields[k].field);

			if (!word)
				continue;
			add_range(&ranges, *word, fields[k].size);
			if (p->now && slot_now(p, word) != *word)
				add_range(&ranges, slot_now(p, word), fields[k].size);
		}
	}
	ray_target_pin(p->js->target, ranges.at, ranges.n);
	ray_vec_free(&ranges);
}

/* ---- believing ---- */

/* Where an object is: while a collection runs, some pointers lead to where it was, and its new address stands there. */
static uint64_t settled(struct ray_js *js, uint64_t object)
{
	uint64_t word;

	return ray_v8_word(&js->v8, object, 0, &word) && !(word & 3) && ray_v8_is_object(word | 1) ? word | 1 : object;
}

static bool has_bytecode(struct ray_js *js, uint64_t shared, uint64_t bytecode)
{
	uint64_t own;

	return ray_v8_shared_bytecode(&js->v8, shared, &own) &&
	       (own == bytecode || settled(js, own) == settled(js, bytecode));
}

/* Does what runs at pc belong to this function? bytecode: what the frame holds where an interpreted function has it. */
static bool is_running(struct ray_js *js, uint64_t shared, uint64_t pc, enum ray_walk_region region, uint64_t bytecode)
{
	struct ray_v8_code code;

	if (region == RAY_WALK_JIT) {
		if (!ray_v8_code_find(&js->v8, pc, &code) || code.tier == RAY_TIER_NONE)
			return true; /* nothing speaks against it */
		/* A function may have lost its baseline code while that still runs; its frame has the bytecode, too. */
		return ray_v8_code_is_of(&js->v8, &code, shared) ||
		       ray_v8_code_is_of(&js->v8, &code, settled(js, shared)) ||
		       (code.tier == RAY_TIER_BASELINE && has_bytecode(js, shared, bytecode));
	}
	return !ray_v8_is(&js->v8, bytecode, RAY_V8_TYPE_BYTECODE_ARRAY) || has_bytecode(js, shared, bytecode);
}

static bool is_sound(const struct picture *p, const struct candidate *c, uint64_t function, uint64_t context)
{
	uint64_t shared, at = ray_walk_lookup_address(p->js, c->pc, c->exact), vaddr;
	const uint64_t *bytecode = slot(p, c->at, RAY_V8_FP_BYTECODE_ARRAY);
	const struct ray_module *m;
	enum ray_walk_region region = ray_walk_region(p->js, at, &m, &vaddr);

	if (region != RAY_WALK_JIT && region != RAY_WALK_BUILTIN)
		return true; /* no frame of V8 */
	return ray_v8_is_context(&p->js->v8, context) && ray_v8_function_shared(&p->js->v8, function, &shared) &&
	       is_running(p->js, shared, at, region, bytecode ? *bytecode : 0);
}

/* A frame that still stands points to where its objects are now: the collector writes to it. But another call from the same place looks alike. */
static void heal(const struct picture *p, const struct candidate *c)
{
	uint64_t *function = slot(p, c->at, RAY_V8_FP_FUNCTION), *context = slot(p, c->at, RAY_V8_FP_CONTEXT),
		 *receiver = slot(p, c->at, RAY_V8_FP_ARGS);

	if (p->now[c->at] != p->words[c->at] || p->now[c->at + 1] != p->words[c->at + 1] ||
	    (slot_now(p, function) == *function && slot_now(p, context) == *context))
		return;
	if (is_sound(p, c, *function, *context) || !is_sound(p, c, slot_now(p, function), slot_now(p, context)))
		return;
	*function = slot_now(p, function);
	*context = slot_now(p, context);
	if (receiver)
		*receiver = slot_now(p, receiver);
}

/* Between the end of a function's frame and its return, rows still say that rbp is where it was before it was taken from the stack: just below. */
static void pin_stack(const struct picture *p, const struct ray_tick *tick)
{
	(void)ray_target_pin_bytes(p->js->target, p->sp, p->words, p->count * 8);
	(void)ray_target_pin_bytes(p->js->target, p->sp - 8, &tick->registers.rbp, 8);
}

void ray_sampled_pin(struct ray_js *js, const struct ray_tick *tick, bool is_stopped)
{
	struct picture p = { .js = js, .sp = tick->registers.rsp, .count = tick->size / 8 };
	ray_auto_memory uint64_t *words = malloc(tick->size + 8), *now = malloc(tick->size + 8);
	candidate_list list = { 0 };

	if (!words || !now || p.sp & 7)
		return;
	p.words = words;
	memcpy(words, tick->stack, p.count * 8);
	if (js->layout) {
		if (!is_stopped && ray_target_read_now(js->target, p.sp, now, p.count * 8) == p.count * 8)
			p.now = now;
		find_candidates(&p, tick, &list);
		pin_objects(&p, tick, &list);
		for (size_t i = 0; i < list.n && p.now; i++)
			heal(&p, &list.at[i]);
		ray_vec_free(&list);
	}
	pin_stack(&p, tick);
}

/* ---- walking ---- */

/* Past the copy the walk reads the stack as it is now. That is the same stack if the frames where the copy ends still stand. */
static bool is_seam_whole(struct ray_js *js, const struct ray_tick *tick, const struct ray_walk *walk, size_t beyond)
{
	uint64_t end = tick->registers.rsp + tick->size, link[2], now[2];
	size_t compared = 0;

	for (size_t i = beyond; i-- > 0 && compared < SEAM;) {
		const struct ray_raw_frame *f = &walk->frames.at[i];

		if (!f->fp || f->fp < tick->registers.rsp || f->fp + sizeof(link) > end)
			continue;
		memcpy(link, tick->stack + (f->fp - tick->registers.rsp), sizeof(link));
		if (ray_target_read_now(js->target, f->fp, now, sizeof(now)) != sizeof(now) ||
		    memcmp(link, now, sizeof(now)))
			return false;
		compared++;
	}
	return compared > 0;
}

/* Native code may use the frame pointer for anything. */
static bool is_beyond(const struct ray_raw_frame *f, uint64_t end)
{
	return f->sp > end || ((f->region == RAY_WALK_JIT || f->region == RAY_WALK_BUILTIN) && f->fp + 16 > end);
}

static void check_seam(struct ray_js *js, const struct ray_tick *tick, struct ray_walk *walk)
{
	uint64_t end = tick->registers.rsp + tick->size;

	for (size_t i = 1; i < walk->frames.n; i++) {
		if (!is_beyond(&walk->frames.at[i], end))
			continue;
		if (!is_seam_whole(js, tick, walk, i)) {
			walk->frames.n = i;
			walk->end = RAY_WALK_TRUNCATED;
		}
		return;
	}
}

static size_t known_slot(uint64_t object)
{
	return (size_t)((object >> 3) * 0x9e3779b97f4a7c15ull >> 40) % RAY_SAMPLED_KNOWN;
}

static void learn(struct ray_sampled_known *known, uint64_t object, uint64_t shared)
{
	known->at[known_slot(object)] = (__typeof__(known->at[0])){ object, shared };
}

static uint64_t recall(const struct ray_sampled_known *known, uint64_t object)
{
	size_t i = known_slot(object);

	return object && known->at[i].object == object ? known->at[i].shared : 0;
}

/* The function of baseline code: the code may know its bytecode, or its function knows the code. */
static uint64_t baseline_function(struct ray_js *js, const struct ray_sampled_known *known,
				  const struct ray_v8_code *code)
{
	uint64_t shared = recall(known, code->object);

	return shared && ray_v8_code_is_of(&js->v8, code, shared) ? shared : 0;
}

static uint64_t interpreted_function(struct ray_js *js, const struct ray_sampled_known *known, uint64_t bytecode)
{
	uint64_t shared = recall(known, bytecode);

	return shared && has_bytecode(js, shared, bytecode) ? shared : 0;
}

/* The function of a frame that does not tell it any more; 0 if nobody else does. */
static uint64_t find_shared(struct ray_js *js, const struct ray_sampled_known *known, const struct ray_raw_frame *f,
			    uint64_t bytecode)
{
	struct ray_v8_code code;
	uint64_t shared;

	if (f->region != RAY_WALK_JIT || !ray_v8_code_find(&js->v8, f->at, &code))
		return interpreted_function(js, known, bytecode);
	if (code.tier == RAY_TIER_BASELINE) {
		shared = baseline_function(js, known, &code);
		return shared ? shared : interpreted_function(js, known, bytecode);
	}
	return ray_v8_code_shared(&js->v8, &code, &shared) ? shared : 0;
}

/* Is it a frame of a function at all, though its JSFunction is none any more? */
static bool has_function(struct ray_js *js, const struct ray_raw_frame *f, const struct ray_v8_frame *as)
{
	struct ray_v8_code code;

	if (f->region == RAY_WALK_JIT)
		return ray_v8_code_find(&js->v8, f->at, &code) && code.tier != RAY_TIER_NONE;
	return as->bytecode_offset >= 0;
}

static void learn_frame(struct ray_js *js, struct ray_sampled_known *known, const struct ray_raw_frame *f,
			const struct ray_v8_frame *v)
{
	struct ray_v8_code code;

	if (v->bytecode_array)
		learn(known, v->bytecode_array, v->shared);
	if (f->region == RAY_WALK_JIT && ray_v8_code_find(&js->v8, f->at, &code) && code.tier == RAY_TIER_BASELINE)
		learn(known, code.object, v->shared);
}

static void doubt(struct ray_raw_frame *f, struct ray_sampled *s)
{
	if (f->shared)
		return;
	f->is_lost = true;
	s->unnamed++;
}

/* A frame whose slots lie below the stack pointer, but is not being made, is being taken down: what is there may be of another one by now. */
static void check_unfinished(struct ray_js *js, const struct ray_sampled_known *known, struct ray_raw_frame *f,
			     struct ray_sampled *s)
{
	struct ray_v8_code code;

	if (f->region == RAY_WALK_JIT && ray_v8_code_find(&js->v8, f->at, &code) && code.tier != RAY_TIER_NONE) {
		f->shared = find_shared(js, known, f, 0);
		doubt(f, s);
		return;
	}
	f->fp = 0;
}

static void check_frame(struct ray_js *js, struct ray_sampled_known *known, struct ray_raw_frame *f,
			struct ray_sampled *s)
{
	struct ray_v8_frame v, as;

	if (!js->layout || (f->region != RAY_WALK_JIT && f->region != RAY_WALK_BUILTIN) || !f->fp || f->building)
		return;
	if (f->frameless) { /* baseline code does not know its function; the others' name is known without */
		if (f->region == RAY_WALK_JIT && !f->entered)
			f->shared = find_shared(js, known, f, 0);
		return;
	}
	if (f->exact && f->fp + (uint64_t)(int64_t)ray_v8_get(js->layout, RAY_V8_FP_FUNCTION) < f->sp) {
		check_unfinished(js, known, f, s);
		return;
	}
	ray_v8_frame_read(&js->v8, f->fp, &v);
	if (v.kind == RAY_V8_FRAME_TYPED)
		return;
	if (v.kind == RAY_V8_FRAME_FUNCTION && is_running(js, v.shared, f->at, f->region, v.bytecode_array)) {
		learn_frame(js, known, f, &v);
		return;
	}
	ray_v8_frame_read_as(&js->v8, f->fp, 0, &as);
	if (v.kind != RAY_V8_FRAME_FUNCTION && !has_function(js, f, &as))
		return;
	f->shared = find_shared(js, known, f, as.bytecode_array);
	doubt(f, s);
}

/* ---- identity ---- */

static uint64_t frame_id(struct ray_js *js, uint64_t hash, const struct ray_raw_frame *f)
{
	struct ray_v8_frame v;
	struct ray_v8_code code;

	hash = ray_hash_word(hash, f->pc);
	hash = ray_hash_word(hash, (uint64_t)f->region | (uint64_t)f->frameless << 4 | (uint64_t)f->entering << 5);
	hash = ray_hash_word(hash, (uint64_t)(uint32_t)f->leaf_offset);
	if (!js->layout || (f->region != RAY_WALK_JIT && f->region != RAY_WALK_BUILTIN))
		return hash;
	/* Other code may be where code was: its start tells most of that. */
	if (f->region == RAY_WALK_JIT && ray_v8_code_find(&js->v8, f->at, &code))
		hash = ray_hash_word(ray_hash_word(hash, code.object), code.size);
	hash = ray_hash_word(hash, f->shared);
	if (!f->fp || f->frameless || f->building || f->is_lost)
		return ray_hash_word(hash, f->is_lost ? 1 : f->entered);
	if (f->shared)
		ray_v8_frame_read_as(&js->v8, f->fp, f->shared, &v);
	else
		ray_v8_frame_read(&js->v8, f->fp, &v);
	return ray_hash_word(ray_hash_word(ray_hash_word(hash, v.shared), (uint64_t)(uint32_t)v.bytecode_offset),
			     (uint64_t)v.type);
}

struct ray_error *ray_sampled_walk(struct ray_js *js, const struct ray_tick *tick, struct ray_sampled_known *known,
				   struct ray_sampled *ret)
{
	struct ray_thread thread = {
		.tid = tick->tid, .state = 'R', .has_registers = true, .registers = tick->registers
	};
	struct ray_error *err;

	memset(ret, 0, sizeof(*ret));
	err = ray_walk_thread(js, &thread, &ret->walk);
	if (err)
		return err;
	check_seam(js, tick, &ret->walk);
	ret->id = ray_hash_word((uint64_t)tick->pid, (uint64_t)ret->walk.end);
	for (size_t i = 0; i < ret->walk.frames.n; i++) {
		check_frame(js, known, &ret->walk.frames.at[i], ret);
		ret->id = frame_id(js, ret->id, &ret->walk.frames.at[i]);
	}
	if (!ret->id)
		ret->id = 1;
	return NULL;
}

void ray_sampled_check_receivers(struct ray_js *js, const struct ray_tick *tick, struct ray_sampled *s)
{
	uint64_t before[3], now[3]; /* link, return address, receiver */

	for (size_t i = 0; js->layout && i < s->walk.frames.n; i++) {
		struct ray_raw_frame *f = &s->walk.frames.at[i];
		uint64_t at = f->fp - tick->registers.rsp;

		if (f->region != RAY_WALK_JIT && f->region != RAY_WALK_BUILTIN)
			continue;
		f->no_receiver = true;
		/* Past the copy it is read where it stands. */
		if (f->fp < tick->registers.rsp || at > tick->size || tick->size - at < sizeof(before))
			continue;
		memcpy(before, tick->stack + at, sizeof(before));
		f->no_receiver = ray_target_read_now(js->target, f->fp, now, sizeof(now)) != sizeof(now) ||
				 memcmp(before, now, sizeof(now));
	}
}

void ray_sampled_deinit(struct ray_sampled *s)
{
	ray_walk_deinit(&s->walk);
}
