/* stack_json.c - stacks as JSON, one object a thread; see stack.h. SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "v8/script.h"
#include "v8/value.h"
#include "view/stack.h"

enum { MAX_ARGUMENTS = 64, SOURCE_LIMIT = 160 };

static json_t *value_json(struct ray_v8 *v8, uint64_t value)
{
	ray_auto_text text = { 0 };

	ray_v8_value_brief(v8, value, &text);
	return ray_json_text(ray_text_get(&text));
}

static json_t *arguments_json(struct ray_v8 *v8, const struct ray_frame *f)
{
	json_t *list = json_array();
	uint64_t value;

	for (int i = 0; i < f->argc && i < MAX_ARGUMENTS; i++) {
		if (!ray_read_u64(&v8->memory, f->args + (uint64_t)i * 8, &value))
			break;
		json_array_append_new(list, value_json(v8, value));
	}
	return list;
}

static json_t *source_json(struct ray_v8 *v8, const struct ray_frame *f, int around)
{
	json_t *list = json_array();

	for (int line = f->line - around; line <= f->line + around; line++) {
		const char *text = ray_v8_script_line(v8, f->script, line, SOURCE_LIMIT);

		if (text)
			json_array_append_new(list, json_pack("{s:i,s:o}", "line", line, "text", ray_json_text(text)));
	}
	return list;
}

static void set_js(const struct ray_stacks *s, const struct ray_frame *f, const struct ray_stack_view *view, json_t *o)
{
	struct ray_v8 *v8 = &s->js->v8;
	ray_auto_text name = { 0 };

	ray_frame_js_name(f, &name);
	json_object_set_new(o, "name", ray_json_text(ray_text_get(&name)));
	json_object_set_new(o, "class", ray_json_text(f->receiver_class));
	json_object_set_new(o, "tier", ray_json_text(ray_v8_tier_name(f->tier)));
	json_object_set_new(o, "inlined", json_boolean(f->inlined));
	if (f->is_construct)
		json_object_set_new(o, "construct", json_true());
	if (f->script) {
		json_object_set_new(o, "file", ray_json_text(f->file));
		json_object_set_new(o, "line", json_integer(f->line));
		json_object_set_new(o, "column", json_integer(f->column));
		json_object_set_new(o, "exact", json_boolean(f->line && !f->is_definition));
	}
	if (view->arguments && f->js_function) {
		json_object_set_new(o, "this", value_json(v8, f->receiver));
		json_object_set_new(o, "argc", json_integer(f->argc));
		json_object_set_new(o, "arguments", arguments_json(v8, f));
	}
	if (view->source && f->script && f->line)
		json_object_set_new(o, "source", source_json(v8, f, view->source));
}

static json_t *frame_json(const struct ray_stacks *s, const struct ray_frame *f, const struct ray_stack_view *view)
{
	static const char *const kinds[] = { "native", "js", "builtin", "stub", "wasm" };
	json_t *o = json_pack("{s:s,s:o,s:o}", "kind", kinds[f->kind], "function", ray_json_text(f->function), "pc",
			      ray_json_hex(f->pc));

	if (f->kind == RAY_FRAME_NATIVE) {
		json_object_set_new(o, "offset", json_integer((json_int_t)f->offset));
		json_object_set_new(o, "module", ray_json_text(f->module));
	} else if (f->kind == RAY_FRAME_WASM) {
		json_object_set_new(o, "index", f->wasm_index < 0 ? json_null() : json_integer(f->wasm_index));
		json_object_set_new(o, "file", ray_json_text(f->file));
		json_object_set_new(o, "offset",
				    f->wasm_offset < 0 ? json_null() : json_integer((json_int_t)f->wasm_offset));
		json_object_set_new(o, "inlined", json_boolean(f->inlined));
	} else if (f->kind == RAY_FRAME_JS || f->shared) {
		set_js(s, f, view, o);
	}
	if (!f->function)
		json_object_set_new(o, "why", ray_json_text(f->why));
	return o;
}

void ray_stack_print_json(const struct ray_stacks *s, const struct ray_stack *stack, const struct ray_stack_view *view)
{
	static const char *const ends[] = { "root", "truncated", "broken" };
	const struct ray_thread *t = stack->thread;
	json_t *frames = json_array(), *o;
	char state[2] = { t->state, '\0' };
	size_t shown = 0;

	for (size_t i = 0; i < stack->count; i++) {
		if (!ray_stack_shows(&stack->frames[i], view))
			continue;
		if (!view->max_frames || shown < view->max_frames)
			json_array_append_new(frames, frame_json(s, &stack->frames[i], view));
		shown++;
	}
	o = json_pack("{s:i,s:i,s:o,s:o,s:s,s:o,s:o,s:o,s:s,s:b,s:b,s:I,s:I}", "pid", ray_target_pid(s->js->target),
		      "tid", t->tid, "thread", ray_json_text(t->name), "state",
		      ray_json_text(t->state && t->state != '?' ? state : NULL), "role",
		      ray_role_word(stack->role.role), "role_text", ray_json_text(stack->role.text), "worker",
		      stack->role.worker_id < 0 ? json_null() : json_integer(stack->role.worker_id), "frames", frames,
		      "end", ends[stack->end], "torn", t->torn, "ended", stack->ended, "unnamed",
		      (json_int_t)stack->unnamed, "no_symbol", (json_int_t)stack->no_symbol);
	if (shown > json_array_size(frames))
		json_object_set_new(o, "left_out", json_integer((json_int_t)(shown - json_array_size(frames))));
	if (t->note)
		json_object_set_new(o, "note", ray_json_text(t->note));
	ray_json_print(o);
}
