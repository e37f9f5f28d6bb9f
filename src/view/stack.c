/* stack.c - stacks as text; see stack.h. SPDX-License-Identifier: MIT */
#include "view/stack.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "v8/script.h"
#include "v8/value.h"
#include "view/table.h"

enum { MAX_ARGUMENTS = 16, SOURCE_LIMIT = 160, NAME_WIDTH = 64, LEAST_PATH = 20 };

bool ray_stack_shows(const struct ray_frame *f, const struct ray_stack_view *view)
{
	bool js = f->kind == RAY_FRAME_JS || f->kind == RAY_FRAME_WASM;

	if (view->only_js && !js)
		return false;
	if (view->only_native && f->kind != RAY_FRAME_NATIVE)
		return false;
	/* Plumbing that could not be named is shown: nothing is lost silently. */
	return view->verbose || f->kind == RAY_FRAME_NATIVE || js || !f->function;
}

static const char *kind_word(const struct ray_frame *f)
{
	static const char *const words[] = { "c", "js", "v8", "v8", "wasm" };

	return words[f->kind];
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Where a bracketed list that only makes a C++ name long ends; NULL when there is none at p: "<a, b>" and "(a, b)"
 * go, "(anonymous namespace)", "operator<" and "operator()" stay. */
static const char *skip_list(const char *name, const char *p)
{
	static const char op[] = "operator", anonymous[] = "(anonymous namespace)";
	int depth = 0;

	if ((*p != '<' && *p != '(') || p[1] == ')' || !strncmp(p, anonymous, sizeof(anonymous) - 1) ||
	    ((size_t)(p - name) >= sizeof(op) - 1 && !strncmp(p - (sizeof(op) - 1), op, sizeof(op) - 1)))
		return NULL;
	for (; *p; p++) {
		depth += (*p == '<' || *p == '(') - (*p == '>' || *p == ')');
		if (!depth)
			return p + 1;
	}
	return NULL;
}

/* a<b<c>, d>::e(f)::{lambda()#1} becomes a<...>::e(...)::{lambda()#1} when it is longer than a line can hold. */
static void add_shortened(const char *name, struct ray_text *out)
{
	const char *p = name, *end;

	if (strlen(name) <= NAME_WIDTH) {
		ray_text_add(out, name);
		return;
	}
	while (*p) {
		end = skip_list(name, p);
		if (end) {
			ray_text_add(out, *p == '<' ? "<...>" : "(...)");
			p = end;
		} else {
			ray_text_add_bytes(out, p++, 1);
		}
	}
}

static void add_native(const struct ray_frame *f, const struct ray_stack_view *view, struct ray_text *out)
{
	if (!f->function) {
		ray_text_printf(out, "0x%" PRIx64, f->pc);
	} else {
		if (view->verbose)
			ray_text_add(out, f->function);
		else
			add_shortened(f->function, out);
		ray_text_printf(out, "+0x%" PRIx64, f->offset);
	}
	if (f->module)
		ray_text_printf(out, " [%s]", base_name(f->module));
	if (!f->function)
		ray_text_printf(out, " (%s)", f->why ? f->why : "no symbol");
}

static void add_place(const struct ray_frame *f, size_t file_width, struct ray_text *out)
{
	const char *file = f->file && f->file[0] ? f->file : "<unknown>";

	if (!f->script)
		return;
	ray_text_add(out, " (");
	ray_view_cut(out, file, file_width, RAY_CUT_START);
	/* As node prints it: "eval at f (x.js:1:2), <anonymous>:3:4". */
	if (!strncmp(file, "eval at ", 8))
		ray_text_add(out, ", <anonymous>");
	if (f->line)
		ray_text_printf(out, ":%d:%d", f->line, f->column);
	ray_text_add(out, ")");
}

static void add_tier(const struct ray_frame *f, struct ray_text *out)
{
	const char *tier = ray_v8_tier_name(f->tier);
	const char *gap = "";

	if (!tier[0] && !f->inlined && !f->is_definition)
		return;
	ray_text_add(out, " [");
	if (tier[0]) {
		ray_text_add(out, tier);
		gap = ", ";
	}
	if (f->inlined) {
		ray_text_printf(out, "%sinlined", gap);
		gap = ", ";
	}
	if (f->is_definition)
		ray_text_printf(out, "%sdefined here", gap);
	ray_text_add(out, "]");
}

/* As V8 itself prints it: (URL:wasm-function[INDEX]:OFFSET); a function without a name is called by its index. */
static void add_wasm(const struct ray_frame *f, struct ray_text *out)
{
	const char *name = f->function ? f->function : "wasm-function[?]";

	ray_text_add(out, name);
	if (f->wasm_index >= 0) {
		ray_text_printf(out, " (%s", f->file && *f->file ? f->file : "<unknown>");
		if (strncmp(name, "wasm-function[", 14))
			ray_text_printf(out, ":wasm-function[%d]", f->wasm_index);
		if (f->wasm_offset >= 0)
			ray_text_printf(out, ":%#" PRIx64, (uint64_t)f->wasm_offset);
		ray_text_add(out, ")");
	}
	if (f->inlined)
		ray_text_add(out, " [inlined]");
	if (!f->function)
		ray_text_printf(out, " (%s)", f->why ? f->why : "no name");
}

static void add_frame(const struct ray_frame *f, const struct ray_stack_view *view, size_t file_width,
		      struct ray_text *out)
{
	if (f->kind == RAY_FRAME_NATIVE) {
		add_native(f, view, out);
		return;
	}
	if (f->kind == RAY_FRAME_WASM) {
		add_wasm(f, out);
		return;
	}
	ray_frame_js_name(f, out);
	add_place(f, file_width, out);
	add_tier(f, out);
	if (!f->function)
		ray_text_printf(out, " (%s)", f->why ? f->why : "no name");
}

static void print_line(const struct ray_text *line, const struct ray_stack_view *view, FILE *out)
{
	ray_auto_text cut = { 0 };

	ray_view_cut(&cut, ray_text_get(line), view->width ? view->width : SIZE_MAX, RAY_CUT_END);
	fprintf(out, "%s\n", ray_text_get(&cut));
}

static void print_arguments(const struct ray_stacks *s, const struct ray_frame *f, const struct ray_stack_view *view,
			    FILE *out)
{
	struct ray_v8 *v8 = &s->js->v8;
	ray_auto_text text = { 0 };
	uint64_t value;

	ray_text_add(&text, "          this: ");
	ray_v8_value_brief(v8, f->receiver, &text);
	ray_text_add(&text, "  arguments: ");
	if (f->argc <= 0)
		ray_text_add(&text, f->argc < 0 ? "not known" : "none");
	for (int i = 0; i < f->argc; i++) {
		if (i == MAX_ARGUMENTS) {
			ray_text_printf(&text, ", ... %d more", f->argc - i);
			break;
		}
		if (i)
			ray_text_add(&text, ", ");
		if (ray_read_u64(&v8->memory, f->args + (uint64_t)i * 8, &value))
			ray_v8_value_brief(v8, value, &text);
		else
			ray_text_add(&text, "(unreadable)");
	}
	print_line(&text, view, out);
}

static void print_source(const struct ray_stacks *s, const struct ray_frame *f, const struct ray_stack_view *view,
			 FILE *out)
{
	for (int line = f->line - view->source; line <= f->line + view->source; line++) {
		const char *source = ray_v8_script_line(&s->js->v8, f->script, line, SOURCE_LIMIT);
		ray_auto_text text = { 0 };

		if (!source)
			continue;
		ray_text_printf(&text, "          %s %5d  ", line == f->line ? ">" : " ", line);
		ray_text_add_safe(&text, source, strlen(source));
		print_line(&text, view, out);
	}
}

/* A frame's text, its path cut so far that the line fits. */
static void add_fitting(const struct ray_frame *f, const struct ray_stack_view *view, struct ray_text *out)
{
	size_t start = out->length, width, file = f->file ? ray_text_width(f->file) : 0;

	add_frame(f, view, SIZE_MAX, out);
	width = ray_text_width(ray_text_get(out));
	if (!view->width || width <= view->width || file <= LEAST_PATH)
		return;
	out->length = start;
	out->bytes[start] = '\0';
	file = file > width - view->width + LEAST_PATH ? file - (width - view->width) : LEAST_PATH;
	add_frame(f, view, file, out);
}

static void print_frame(const struct ray_stacks *s, const struct ray_frame *f, size_t number,
			const struct ray_stack_view *view, FILE *out)
{
	ray_auto_text text = { 0 };

	ray_text_printf(&text, "%4zu %-4s ", number, kind_word(f));
	if (view->verbose)
		ray_text_printf(&text, "%016" PRIx64 " ", f->pc);
	add_fitting(f, view, &text);
	print_line(&text, view, out);
	if (view->arguments && f->kind == RAY_FRAME_JS && f->js_function)
		print_arguments(s, f, view, out);
	if (view->source && f->script && f->line)
		print_source(s, f, view, out);
}

static void print_end(const struct ray_stack *stack, FILE *out)
{
	if (!stack->thread->has_registers)
		fprintf(out, "     (%s)\n", stack->thread->note ? stack->thread->note : "no registers");
	else if (stack->end == RAY_WALK_BROKEN)
		fprintf(out, "     (the chain of frames ends here: outer frames are missing)\n");
	else if (stack->end == RAY_WALK_TRUNCATED)
		fprintf(out, "     (the copied stack ends here: outer frames are missing)\n");
}

bool ray_stack_is_wanted(const struct ray_stack *stack, const struct ray_stack_view *view)
{
	/* Where frames are missing, JavaScript may be. */
	if (!view->only_js || !stack->thread->has_registers || stack->end != RAY_WALK_ROOT)
		return true;
	for (size_t i = 0; i < stack->count; i++) {
		if (ray_stack_shows(&stack->frames[i], view))
			return true;
	}
	return false;
}

static void print_thread(const struct ray_stack *stack, FILE *out)
{
	const struct ray_thread *t = stack->thread;
	ray_auto_text name = { 0 };

	ray_text_add_safe(&name, t->name, strlen(t->name));
	fprintf(out, "thread %d  %s", t->tid, stack->role.text);
	if (t->name[0])
		fprintf(out, "  \"%s\"", ray_text_get(&name));
	if (t->state && t->state != '?')
		fprintf(out, "  state %c", t->state);
	fprintf(out, "%s\n", t->torn ? "  TORN: it ran on while its stack was copied" : "");
}

void ray_stack_print(const struct ray_stacks *s, const struct ray_stack *stack, const struct ray_stack_view *view,
		     FILE *out)
{
	size_t shown = 0, total = 0, skip_from = SIZE_MAX, skip_to = 0, i;

	for (i = 0; i < stack->count; i++)
		total += ray_stack_shows(&stack->frames[i], view);
	print_thread(stack, out);
	/* Of a very deep stack the two ends tell the most. */
	if (view->max_frames && total > view->max_frames) {
		skip_from = view->max_frames - view->max_frames / 4;
		skip_to = total - view->max_frames / 4;
	}
	for (i = 0; i < stack->count; i++) {
		if (!ray_stack_shows(&stack->frames[i], view))
			continue;
		if (shown == skip_from)
			fprintf(out, "     ... %zu frames left out (-n 0 shows all)\n", skip_to - skip_from);
		if (shown < skip_from || shown >= skip_to)
			print_frame(s, &stack->frames[i], shown, view, out);
		shown++;
	}
	print_end(stack, out);
}
