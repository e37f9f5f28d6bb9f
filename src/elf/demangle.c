/* demangle.c - C++ and Rust names for people, by libiberty.
 * SPDX-License-Identifier: MIT
 *
 * Symbols are foreign bytes. libiberty bounds its recursion and the length of what it takes, but a
 * short name full of back references can unfold without end, so its output is taken piece by piece
 * and the demangler is left when there is too much. */
#include "elf/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"

enum {
	MANGLED_MAX = 4096,   /* the longest in node 26 has 975 */
	READABLE_MAX = 16384, /* bytes of output */
};

struct output {
	struct ray_text text;
	jmp_buf too_long;
};

/* libiberty offers no way to stop but not to return. It holds no memory while it prints a C++ name, and
 * between here and demangle_into() there are no guards that a jump could skip. */
static void take_piece(const char *piece, size_t length, void *arg)
{
	struct output *out = arg;

	if (out->text.length + length > READABLE_MAX)
		longjmp(out->too_long, 1);
	ray_text_add_bytes(&out->text, piece, length);
}

static bool run_demangler(const char *name, int options, struct output *out)
{
	if (strncmp(name, "_R", 2) == 0)
		return rust_demangle_callback(name, options, take_piece, out);
	/* Rust's older scheme looks like C++ but for a hash at its end. */
	if (strncmp(name, "_ZN", 3) == 0 && rust_demangle_callback(name, options, take_piece, out))
		return true;
	ray_text_clear(&out->text);
	return cplus_demangle_v3_callback(name, options, take_piece, out);
}

static bool demangle_into(const char *name, int options, struct output *out)
{
	if (setjmp(out->too_long)) {
		ray_text_add(&out->text, "...");
		return true;
	}
	return run_demangler(name, options, out);
}

/* The compiler marks its variants of a function with suffixes such as ".constprop.0.cold"; libiberty
 * writes them out only together with the arguments. */
static void add_suffixes(struct ray_text *text, const char *name)
{
	const char *at = strchr(name, '.');

	while (at && *at == '.') {
		const char *end = at + 1;

		while (isalnum((unsigned char)*end) || *end == '_' || *end == '$')
			end++;
		while (end[0] == '.' && isdigit((unsigned char)end[1]))
			for (end++; isdigit((unsigned char)*end);)
				end++;
		if (end == at + 1)
			return;
		ray_text_add(text, " [clone ");
		ray_text_add_bytes(text, at, (size_t)(end - at));
		ray_text_add(text, "]");
		at = end;
	}
}

static bool is_mangled(const char *name)
{
	return (strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0) &&
	       strnlen(name, MANGLED_MAX + 1) <= MANGLED_MAX;
}

/* Without the symbol version that linkers append: "pthread_create@@GLIBC_2.34". */
static char *without_version(const char *name)
{
	size_t length = strcspn(name, "@");

	return length ? strndup(name, length) : strdup(name);
}

char *ray_demangle(const char *versioned, int with_arguments)
{
	int options = DMGL_ANSI | (with_arguments ? DMGL_PARAMS : DMGL_RET_DROP);
	struct output out = { 0 };
	char *name = without_version(versioned);

	if (!name || !is_mangled(name))
		return name;
	if (!demangle_into(name, options, &out) || !out.text.length) {
		ray_text_deinit(&out.text);
		return name;
	}
	if (!with_arguments)
		add_suffixes(&out.text, name);
	free(name);
	if (out.text.failed)
		ray_text_deinit(&out.text);
	return out.text.bytes;
}
