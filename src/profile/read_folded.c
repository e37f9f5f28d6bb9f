/* read_folded.c - lines of "thread;outer;inner 12", as write_folded.c and the stackcollapse programs write them. SPDX-License-Identifier: MIT
 *
 * Besides our own form it knows the names that V8 gives its code for perf ("JS:*name /srv/a.js:3:1", "LazyCompile:~name a.js:3",
 * "Builtin:ArrayMap"), and threads as stackcollapse-perf.pl --pid and --tid write them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats.h"
#include "profile/reading.h"

struct span {
	const char *at;
	size_t length;
};

static bool ends_with(struct span s, const char *end)
{
	size_t n = strlen(end);

	return n <= s.length && !memcmp(s.at + s.length - n, end, n);
}

static bool starts_with(struct span s, const char *start)
{
	return strlen(start) <= s.length && !memcmp(s.at, start, strlen(start));
}

/* Cuts ":12" or "-12" off the end, and gives the number; false if there is none. */
static bool cut_number(struct span *s, char before, uint32_t *ret)
{
	size_t at = s->length;
	uint64_t value = 0;

	while (at && isdigit((unsigned char)s->at[at - 1]))
		at--;
	if (at == s->length || s->length - at > 9 || at < 2 || s->at[at - 1] != before)
		return false;
	for (size_t i = at; i < s->length; i++)
		value = value * 10 + (uint64_t)(s->at[i] - '0');
	s->length = at - 1;
	*ret = (uint32_t)value;
	return true;
}

/* ---- frames ---- */

/* "/srv/a.js:3:1", "/srv/a.js:3" */
static void cut_position(struct span *file, struct ray_reading_function *f)
{
	uint32_t last, first;

	if (!cut_number(file, ':', &last))
		return;
	f->line = (int)last;
	if (cut_number(file, ':', &first)) {
		f->line = (int)first;
		f->column = (int)last;
	}
}

/* A semicolon came as \x3b; the rest is as it was. */
static const char *keep(struct ray_profile *p, struct span s)
{
	ray_auto_text text = { 0 };

	if (!memmem(s.at, s.length, "\\x3b", 4))
		return ray_reading_text(p, s.at, s.length);
	for (size_t i = 0; i < s.length; i++) {
		bool escaped = s.length - i >= 4 && !memcmp(s.at + i, "\\x3b", 4);

		ray_text_add_bytes(&text, escaped ? ";" : s.at + i, 1);
		i += escaped ? 3 : 0;
	}
	return ray_reading_text(p, ray_text_get(&text), text.length);
}

static uint32_t script(struct ray_profile *p, struct span name, struct span file)
{
	struct ray_reading_function f = { 0 };

	cut_position(&file, &f);
	f.name = keep(p, name);
	f.file = keep(p, file);
	/* A file that is named so is JavaScript whatever its name ends with. */
	if (!ray_reading_is_script(f.file))
		f.kind = strstr(f.file, "node_modules/") ? "package" : "js";
	if (!strcmp(f.file, "<anonymous>"))
		f.file = "";
	return ray_reading_function(p, &f);
}

/* "name (/srv/a.js:3:1)": where does the file begin? The innermost " (" that the last ")" closes. */
static bool split_script(struct span s, struct span *name, struct span *file)
{
	size_t depth = 0;

	if (!ends_with(s, ")"))
		return false;
	for (size_t i = s.length; i-- > 1;) {
		if (s.at[i] == ')')
			depth++;
		else if (s.at[i] == '(' && !--depth) {
			if (s.at[i - 1] != ' ')
				return false;
			*name = (struct span){ s.at, i - 1 };
			*file = (struct span){ s.at + i + 1, s.length - i - 2 };
			return file->length && name->length;
		}
	}
	return false;
}

static bool is_script_file(struct span file)
{
	struct ray_reading_function f = { 0 };
	ray_auto_memory char *text = NULL;

	cut_position(&file, &f);
	text = strndup(file.at, file.length);
	return text && ray_reading_is_script(text);
}

/* "JS:*name file:3:1" of V8's perf map: ~ interpreted, ^ baseline, + and * optimized. A function without a name has none here either. */
static bool v8_script(struct ray_profile *p, struct span s, uint32_t *ret)
{
	static const char *const starts[] = { "JS:", "LazyCompile:", "Function:", "Eval:", "Script:", "Callback:" };
	struct span name, file;

	for (size_t i = 0; i < RAY_COUNT(starts); i++) {
		const char *blank;

		if (!starts_with(s, starts[i]))
			continue;
		s.at += strlen(starts[i]);
		s.length -= strlen(starts[i]);
		while (s.length && memchr("~^+*'", s.at[0], 5))
			s.at++, s.length--;
		blank = memrchr(s.at, ' ', s.length);
		name = (struct span){ s.at, blank ? (size_t)(blank - s.at) : 0 };
		file = blank ? (struct span){ blank + 1, s.length - name.length - 1 } : s;
		*ret = script(p, name, file);
		return true;
	}
	return false;
}

static bool v8_builtin(struct ray_profile *p, struct span s, uint32_t *ret)
{
	static const char *const starts[] = { "Builtin:", "BytecodeHandler:", "Stub:", "RegExp:" };

	for (size_t i = 0; i < RAY_COUNT(starts); i++) {
		struct ray_reading_function f = { .file = "", .kind = "builtin" };

		if (!starts_with(s, starts[i]))
			continue;
		s.at += strlen(starts[i]);
		s.length -= strlen(starts[i]);
		f.name = keep(p, s);
		*ret = ray_reading_function(p, &f);
		return true;
	}
	return false;
}

static uint32_t read_frame(struct ray_profile *p, struct span s)
{
	struct ray_reading_function f = { .file = "" };
	struct span name, file;
	uint32_t found;

	if (ends_with(s, "_[k]")) {
		s.length -= 4;
		f.kind = "kernel";
	} else if (ends_with(s, "_[j]")) {
		s.length -= 4;
		f.kind = "builtin";
	} else if (ends_with(s, "_[i]")) {
		s.length -= 4;
	}
	if ((!f.kind || f.kind[0] == 'b') && (v8_script(p, s, &found) || v8_builtin(p, s, &found)))
		return found;
	if (split_script(s, &name, &file) && ((f.kind && f.kind[0] == 'b') || is_script_file(file)))
		return script(p, name, file);
	f.name = keep(p, s);
	return ray_reading_function(p, &f);
}

/* ---- lines ---- */

/* "main-4242/4250" or "node-4242". */
static bool read_thread(struct ray_profile *p, struct span s, uint32_t *ret)
{
	struct ray_profile_thread t = { 0 };
	uint32_t last;

	if (cut_number(&s, '/', &last)) {
		t.tid = last;
		if (!cut_number(&s, '-', &t.pid))
			return false;
	} else if (cut_number(&s, '-', &last)) {
		t.pid = t.tid = last;
	} else {
		return false;
	}
	t.name = keep(p, s);
	*ret = ray_profile_thread(p, &t);
	return true;
}

/* "a;b 12": the weight may have a fraction. False: it ends with no number, or there is nothing before it. */
static bool split_line(struct span line, struct span *stack, double *weight_ret)
{
	char number[32];
	size_t at = line.length, length;
	char *end;

	while (at && !isspace((unsigned char)line.at[at - 1]))
		at--;
	length = line.length - at;
	if (!at || !length || length >= sizeof(number) || !memchr("-.0123456789", line.at[at], 12))
		return false;
	memcpy(number, line.at + at, length);
	number[length] = '\0';
	*weight_ret = strtod(number, &end);
	if (*end || number[strspn(number, "-+.0123456789eE")])
		return false;
	while (at && isspace((unsigned char)line.at[at - 1]))
		at--;
	*stack = (struct span){ line.at, at };
	return at > 0;
}

struct folded {
	struct ray_profile *p;
	size_t line;	   /* counted from 1 */
	size_t doubled;	   /* lines that end with two numbers */
	uint32_t nameless; /* thread plus 1; 0: not made yet */
};

static uint32_t nameless_thread(struct folded *r)
{
	if (!r->nameless)
		r->nameless = ray_profile_thread(r->p, &(struct ray_profile_thread){ 0 }) + 1;
	return r->nameless - 1;
}

static struct ray_error *read_stack(struct folded *r, struct span stack, double weight)
{
	struct ray_profile_sample s = { .weight = ray_reading_weight(weight), .count = 1 };
	bool has_thread = false;
	size_t depth = 0;

	while (stack.length) {
		const char *semicolon = memchr(stack.at, ';', stack.length);
		struct span frame = { stack.at, semicolon ? (size_t)(semicolon - stack.at) : stack.length };

		stack.at += frame.length + (semicolon ? 1 : 0);
		stack.length -= frame.length + (semicolon ? 1 : 0);
		if (!frame.length)
			continue;
		if (!depth++ && stack.length && read_thread(r->p, frame, &s.thread)) {
			has_thread = true;
			continue;
		}
		if (depth > RAY_READING_DEPTH)
			return ray_error_new(RAY_UNREADABLE, "line %zu: a stack of more than %d functions", r->line,
					     RAY_READING_DEPTH);
		if (frame.length == 10 && !memcmp(frame.at, "(no stack)", 10) && !stack.length && !s.node)
			continue;
		s.node = ray_reading_node(r->p, s.node, read_frame(r->p, frame), 0, 0);
	}
	if (!has_thread)
		s.thread = nameless_thread(r);
	ray_profile_add(r->p, &s);
	return NULL;
}

static struct ray_error *read_line(struct folded *r, struct span line)
{
	struct span stack, rest;
	double weight, other;

	while (line.length && isspace((unsigned char)line.at[line.length - 1]))
		line.length--;
	if (!line.length || line.at[0] == '#')
		return NULL;
	if (!split_line(line, &stack, &weight))
		return ray_error_new(RAY_UNREADABLE, "line %zu: no number at its end", r->line);
	if (split_line(stack, &rest, &other))
		r->doubled++;
	return read_stack(r, stack, weight);
}

static bool is_text(struct span s)
{
	for (size_t i = 0; i < s.length; i++)
		if ((unsigned char)s.at[i] < ' ' && s.at[i] != '\t')
			return false;
	return true;
}

/* The first line that has something on it ends with a number, and is text. */
bool ray_is_folded(const char *bytes, size_t size)
{
	const char *at = bytes, *end = bytes + size;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct span line = { at, (size_t)((newline ? newline : end) - at) }, stack;
		double weight;

		while (line.length && isspace((unsigned char)line.at[line.length - 1]))
			line.length--;
		if (line.length && line.at[0] != '#')
			return is_text(line) && split_line(line, &stack, &weight);
		at = newline ? newline + 1 : end;
	}
	return false;
}

struct ray_error *ray_read_folded(const char *bytes, size_t size, struct ray_profile **ret)
{
	ray_auto(ray_profile, p) = ray_profile_create();
	struct folded r = { .p = p };
	const char *at = bytes, *end = bytes + size;

	if (!p)
		return &ray_enomem;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct span line = { at, (size_t)((newline ? newline : end) - at) };
		struct ray_error *err;

		r.line++;
		err = read_line(&r, line);
		if (err)
			return err;
		at = newline ? newline + 1 : end;
	}
	if (r.doubled && r.doubled == p->samples.n)
		return ray_error_new(RAY_UNREADABLE, "every line has two numbers: a difference, not a profile");
	*ret = ray_take(p);
	return NULL;
}
