/* frame.c - see frame.h. SPDX-License-Identifier: MIT */
#include "view/frame.h"

#include <inttypes.h>
#include <string.h>

bool ray_frame_is_plumbing(const struct ray_frame *f)
{
	return f->function && (f->kind == RAY_FRAME_BUILTIN || f->kind == RAY_FRAME_STUB);
}

const char *ray_frame_module(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void add_native(const struct ray_frame *f, struct ray_text *out)
{
	if (f->module) {
		ray_text_add_safe(out, ray_frame_module(f->module), strlen(ray_frame_module(f->module)));
		ray_text_add(out, "`");
	}
	if (!f->function)
		ray_text_printf(out, "0x%" PRIx64, f->pc);
	else if (f->offset)
		ray_text_printf(out, "%s+0x%" PRIx64, f->function, f->offset);
	else
		ray_text_add(out, f->function);
}

static void add_js(const struct ray_frame *f, struct ray_text *out)
{
	const char *file = f->file && f->file[0] ? f->file : "<unknown>";

	ray_frame_js_name(f, out);
	if (!f->script)
		return;
	ray_text_printf(out, " (%s", file);
	/* As node prints it: "eval at f (x.js:1:2), <anonymous>:3:4". */
	if (!strncmp(file, "eval at ", 8))
		ray_text_add(out, ", <anonymous>");
	if (f->line)
		ray_text_printf(out, ":%d:%d", f->line, f->column);
	ray_text_add(out, f->is_definition ? ", defined here)" : ")");
}

static void add_wasm(const struct ray_frame *f, struct ray_text *out)
{
	ray_text_add(out, f->function);
	if (f->wasm_index < 0)
		return;
	ray_text_printf(out, " (%s", f->file && *f->file ? f->file : "<unknown>");
	if (strncmp(f->function, "wasm-function[", 14))
		ray_text_printf(out, ":wasm-function[%d]", f->wasm_index);
	if (f->wasm_offset >= 0)
		ray_text_printf(out, ":%#" PRIx64, (uint64_t)f->wasm_offset);
	ray_text_add(out, ")");
}

void ray_frame_line(const struct ray_frame *f, struct ray_text *out)
{
	if (f->kind == RAY_FRAME_NATIVE)
		add_native(f, out);
	else if (!f->function)
		ray_text_printf(out, "0x%" PRIx64, f->pc);
	else if (f->kind == RAY_FRAME_JS)
		add_js(f, out);
	else if (f->kind == RAY_FRAME_WASM)
		add_wasm(f, out);
	else
		ray_text_printf(out, "v8`%s", f->function);
}
