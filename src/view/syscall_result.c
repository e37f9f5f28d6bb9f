/* syscall_result.c - what a system call returned, as text. See syscall.h. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "view/syscall.h"

enum { MAX_ERRNO = 4095, RESTART_FIRST = 512 };

/* What the table says it returns; "" for a plain number. */
static const char *result_word(const struct ray_call_seen *s)
{
	const char *equals = s->call ? strstr(s->call->shown, "= ") : NULL;

	return equals ? equals + 2 : "";
}

/* The kernel's own codes, that a program never sees: the call begins again. */
static const char *restart_name(int code)
{
	static const char *const names[] = { "ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", NULL,
					     "ERESTART_RESTARTBLOCK" };

	return code >= RESTART_FIRST && code < RESTART_FIRST + 5 ? names[code - RESTART_FIRST] : NULL;
}

const char *ray_call_error(const struct ray_call_seen *s)
{
	const char *name;

	if (s->result >= 0 || s->result < -MAX_ERRNO)
		return NULL;
	name = restart_name((int)-s->result);
	if (!name)
		name = strerrorname_np((int)-s->result);
	return name ? name : "unknown error";
}

void ray_call_print_result(const struct ray_call_seen *s, struct ray_text *out)
{
	const char *error = ray_call_error(s);
	const char *word = result_word(s);

	if (strcmp(word, "none") == 0)
		ray_text_add(out, "?");
	else if (error && restart_name((int)-s->result))
		ray_text_printf(out, "? %s (to be restarted)", error);
	else if (error)
		ray_text_printf(out, "-1 %s (%s)", error, strerrordesc_np((int)-s->result) ?: "unknown");
	else if (strcmp(word, "ptr") == 0)
		ray_text_printf(out, "%#" PRIx64, (uint64_t)s->result);
	else if (strcmp(word, "mode") == 0)
		ray_text_printf(out, "0%03" PRIo64, (uint64_t)s->result);
	else if (strcmp(word, "fd") == 0)
		ray_call_print_file(s, s->result, RAY_CALL_RESULT, out);
	else
		ray_text_add_signed(out, s->result);
}
