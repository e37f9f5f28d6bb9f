/* stacks_take.c - from a stack that the walker in the kernel recorded to lines and frames.
 * SPDX-License-Identifier: MIT
 *
 * A stack arrives once, when the walker in the kernel has not seen its like before, and is named at once, while the objects that name it are still
 * where they were; from then on its id stands for its lines. The way from a record to names is src/stack's; this keeps them. */
#include <inttypes.h>
#include <string.h>

#include "engine/stacks.h"
#include "stack/name.h"
#include "stack/recorded.h"
#include "view/frame.h"

struct recorded {
	const struct ray_walk_frame *f;
	uint64_t key;			     /* what it is known by; 0: by nothing */
	const struct ray_stack_known *known; /* what it was named as before; NULL: it is new */
};

/* A stack in the making: what it says, and the same as frames. */
struct taken {
	bool is_deoptimizing;
	struct recorded *recorded; /* each frame of the record */
	uint8_t *states;	   /* and the same for src/stack: enum ray_recorded_known */
	RAY_VEC(const struct ray_stack_line *) lines;
	RAY_VEC(const struct ray_fact_frame *) frames;
	struct ray_fact_stack stack;
};

/* A frame that is only an address, as text says it. */
static bool add_line(struct ray_stacker *s, struct taken *t, const char *text, const char *module, uint64_t pc)
{
	struct ray_fact_frame frame = { .kind = RAY_FRAME_NATIVE, .module = module, .address = pc };
	const struct ray_fact_frame *own = ray_stack_table_frame(&s->table, &frame);
	const struct ray_stack_line *line = ray_stack_table_line(&s->table, text, false);

	t->stack.no_symbol++;
	return own && line && ray_vec_push(&t->lines, line) && ray_vec_push(&t->frames, own);
}

static bool add_address(struct ray_stacker *s, struct taken *t, uint64_t pc)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, pc);
	return add_line(s, t, text, NULL, pc);
}

/* -x noresolve: the file and the distance from where it is mapped. */
static bool add_unresolved(struct ray_stacker *s, struct ray_stack_process *p, struct taken *t, uint64_t pc)
{
	const struct ray_map *map = p->target ? ray_target_find_map(p->target, pc) : NULL;
	ray_auto_text text = { 0 };

	if (!map || !map->path[0])
		return add_address(s, t, pc);
	ray_text_printf(&text, "%s:0x%" PRIx64, ray_frame_module(map->path), pc - map->start);
	return add_line(s, t, ray_text_get(&text), map->path, pc);
}

/* Places that are not mapped as far as is known may be by now. */
static void cover(struct ray_stack_process *p, const struct ray_record_stack *r, const struct taken *t)
{
	struct ray_recorded_frames at = { .record = r };

	while (ray_recorded_next(&at))
		if (!t->recorded || !t->recorded[at.index].known)
			ray_stack_process_cover(p, at.f->pc - !(at.f->flags & RAY_FRAME_IS_EXACT));
}

static bool add_unnamed(struct ray_stacker *s, struct ray_stack_process *p, const struct ray_record_stack *r,
			struct taken *t)
{
	struct ray_recorded_frames at = { .record = r };

	cover(p, r, t);
	while (ray_recorded_next(&at)) {
		if (s->trace->options.noresolve ? !add_unresolved(s, p, t, at.f->pc) : !add_address(s, t, at.f->pc))
			return false;
	}
	return true;
}

static struct ray_stack_line *frame_line(struct ray_stacker *s, const struct ray_frame *f)
{
	ray_auto_text text = { 0 };

	ray_frame_line(f, &text);
	return text.failed ? NULL : ray_stack_table_line(&s->table, ray_text_get(&text), ray_frame_is_plumbing(f));
}

static bool add_frame(struct ray_stacker *s, const struct ray_frame *f, struct taken *t)
{
	const struct ray_fact_frame *own = ray_stack_table_user_frame(&s->table, f);
	struct ray_stack_line *line = frame_line(s, f);
	struct ray_frame plain = *f;

	if (!own || !line || !ray_vec_push(&t->frames, own) || !ray_vec_push(&t->lines, line))
		return false;
	if (f->kind != RAY_FRAME_JS || !f->receiver_class) {
		line->is_plain = true;
		return true;
	}
	plain.receiver_class = NULL;
	line->plain = frame_line(s, &plain);
	if (line->plain == line)
		line->plain = NULL;
	return true;
}

/* Whoever interprets does so for some function: a frame that has only the interpreter's name lost its own, as when its heap was taken down meanwhile. The
 * innermost frame is another matter: there the function follows. */
static bool is_nameless_function(const struct ray_frame *f)
{
	static const char interpreter[] = "InterpreterEntryTrampoline";

	return f->kind == RAY_FRAME_BUILTIN && f->function &&
	       !strncmp(f->function, interpreter, sizeof(interpreter) - 1);
}

/* What was made of one recorded frame is kept, unless it may be better the next time, or is another matter then. */
static bool is_kept(const struct ray_frame *frames, size_t count, const struct ray_walk_frame *f)
{
	bool has_function = !(f->flags & RAY_FRAME_HAS_FUNCTION);

	for (size_t i = 0; i < count; i++) {
		if (!frames[i].function || is_nameless_function(&frames[i]) || frames[i].is_definition ||
		    frames[i].named_by & RAY_NAMED_BY_CALLER ||
		    (frames[i].kind == RAY_FRAME_STUB && frames[i].function[0] == '(') ||
		    (frames[i].kind == RAY_FRAME_JS && !frames[i].script))
			return false;
		has_function |= frames[i].shared != 0;
	}
	return has_function;
}

static void keep(struct ray_stacker *s, const struct ray_frame *frames, size_t count, const struct taken *t)
{
	const struct recorded *r = &t->recorded[frames[0].number];
	struct ray_stack_known *known;
	uint8_t by = 0;

	if (!r->key || !is_kept(frames, count, r->f))
		return;
	for (size_t i = 0; i < count; i++)
		by |= frames[i].named_by;
	known = ray_stack_known_add(&s->known, r->key, by, r->f, count);
	if (!known)
		return;
	known->is_construct = ray_frame_is_construct_stub(&frames[0]);
	known->count = (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		known->frames[i].frame = t->frames.at[t->frames.n - count + i];
		known->frames[i].line = t->lines.at[t->lines.n - count + i];
	}
}

static bool add_known(const struct ray_stack_known *known, struct taken *t)
{
	for (uint32_t i = 0; i < known->count; i++)
		if (!ray_vec_push(&t->frames, known->frames[i].frame) ||
		    !ray_vec_push(&t->lines, known->frames[i].line))
			return false;
	return true;
}

/* All that came of one recorded frame. */
static bool add_group(struct ray_stacker *s, const struct ray_frame *frames, size_t count, struct taken *t)
{
	for (size_t i = 0; i < count; i++) {
		if (!add_frame(s, &frames[i], t))
			return false;
		if (t->frames.n > 1 && is_nameless_function(&frames[i])) {
			t->stack.unnamed++;
			t->frames.at[t->frames.n - 1] = ray_stack_table_frame(
				&s->table, &(struct ray_fact_frame){ .kind = RAY_FRAME_JS, .address = frames[i].pc });
			if (!t->frames.at[t->frames.n - 1])
				return false;
		}
	}
	return true;
}

static bool add_named(struct ray_stacker *s, const struct ray_stack *stack, struct taken *t)
{
	size_t count;

	t->stack.unnamed = stack->unnamed;
	t->is_deoptimizing = stack->is_deoptimizing;
	t->stack.no_symbol = stack->no_symbol;
	for (size_t i = 0; i < stack->count; i += count) {
		const struct ray_frame *frames = &stack->frames[i];
		uint32_t number = frames->number;

		for (count = 1; i + count < stack->count && frames[count].number == number; count++)
			;
		if (frames->is_known ? !add_known(t->recorded[number].known, t) : !add_group(s, frames, count, t))
			return false;
		/* The last one before V8 replaces a frame ends the stack, which is not for others to know. */
		if (!frames->is_known && !(stack->is_deoptimizing && i + count == stack->count))
			keep(s, frames, count, t);
	}
	return true;
}

static bool make_room(struct taken *t, size_t count)
{
	t->recorded = calloc(count + 1, sizeof(*t->recorded));
	t->states = calloc(count + 1, sizeof(*t->states));
	return t->recorded && t->states;
}

/* How many frames must be named. */
static uint32_t look_up(struct ray_stacker *s, struct ray_stack_process *p, const struct ray_record_stack *record,
			struct taken *t)
{
	struct ray_recorded_frames at = { .record = record };
	uint32_t new = 0;

	while (ray_recorded_next(&at))
		t->recorded[at.index].f = at.f;
	for (uint32_t i = 0; i < record->count; i++) {
		struct recorded *r = &t->recorded[i];

		r->key = ray_stack_known_key(p, r->f, i == 0, i + 1 < record->count ? r[1].f : NULL);
		r->known = ray_stack_known_find(&s->known, r->key, r->f);
		if (!r->known)
			new ++;
		else
			t->states[i] = r->known->is_construct ? RAY_RECORDED_CONSTRUCT : RAY_RECORDED_NAMED;
	}
	return new;
}

static bool add_all_known(const struct ray_record_stack *r, struct taken *t)
{
	for (uint32_t i = 0; i < r->count; i++)
		if (!add_known(t->recorded[i].known, t))
			return false;
	return true;
}

static bool name_stack(struct ray_stacker *s, struct ray_stack_process *p, const struct ray_record_stack *r,
		       struct taken *t)
{
	ray_auto(ray_arena, arena) = NULL;
	struct ray_recorded recorded;
	struct ray_stack stack = { 0 };
	struct ray_error *err;
	bool ok;

	if (!look_up(s, p, r, t))
		return add_all_known(r, t);
	cover(p, r, t);
	arena = ray_arena_create();
	if (!arena)
		return false;
	err = ray_js_forget(p->js);
	if (!err)
		err = ray_recorded_init(&recorded, p->js, r, t->states);
	if (err) {
		ray_error_free(err);
		return false;
	}
	err = ray_name_frames(p->js, &recorded.walk, arena, &stack);
	ok = !err && add_named(s, &stack, t);
	ray_error_free(err);
	ray_recorded_deinit(&recorded);
	return ok;
}

/* Where the kernel starts a thread: of some binaries, the dynamic linker's among them, no row says that the stack ends there. */
static bool is_root(const struct taken *t)
{
	static const char *const roots[] = { "_start", "clone", "__clone", "clone3", "__clone3" };
	const char *name = t->frames.n ? t->frames.at[t->frames.n - 1]->function : NULL;

	for (size_t i = 0; name && i < RAY_COUNT(roots); i++)
		if (!strcmp(name, roots[i]))
			return true;
	return false;
}

void ray_stacker_take(struct ray_stacker *s, const struct ray_record *record)
{
	const struct ray_record_stack *r = (const struct ray_record_stack *)record;
	struct ray_stack_process *p;
	struct taken t = { .stack = { .id = r->id } };
	bool ok;

	s->taken_ns = record->time;
	if (!ray_recorded_is_sound(r, record->size) || ray_stack_table_find(&s->table, r->id))
		return;
	p = ray_stack_process_get(s, r->head.tgid, r->space);
	if (!p)
		return;
	if (p->js && !s->trace->options.noresolve)
		ok = make_room(&t, r->count) && name_stack(s, p, r, &t);
	else
		ok = add_unnamed(s, p, r, &t);
	t.stack.is_cut = t.is_deoptimizing || (r->stop != RAY_STOP_ROOT && !is_root(&t));
	t.stack.frames = t.frames.at;
	t.stack.count = t.frames.n;
	if (ok)
		ok = ray_stack_table_add(&s->table, &t.stack, t.lines.at);
	ray_vec_free(&t.lines);
	ray_vec_free(&t.frames);
	free(t.recorded);
	free(t.states);
	ray_stack_process_tell(s, p);
}
