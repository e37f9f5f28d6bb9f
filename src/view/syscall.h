/* syscall.h - system calls as text: names, flags, paths, addresses, buffers, results.
 * SPDX-License-Identifier: MIT
 *
 * Takes the facts of scripts/syscalls.d: what memory an argument points to comes first, then the call. Knows from the table of system calls
 * (probe/syscall.h) what each argument is. What could not be read is shown as its address. Pure: data in, text out. */
#ifndef RAY_VIEW_SYSCALL_H
#define RAY_VIEW_SYSCALL_H

#include "base/error.h"
#include "probe/syscall.h"
#include "view/fact.h"

enum { RAY_CALL_ARGS = 6, RAY_CALL_RESULT = 6 /* where a descriptor that is new has its name */, RAY_CALL_EXTRAS = 4 };

/* Memory that was copied. */
struct ray_call_memory {
	bool is_known; /* else it could not be read, or nobody looked */
	struct ray_text text;
};

struct ray_call_seen {
	const struct ray_syscall *call; /* NULL: a number that the table lacks */
	uint64_t time_ns, ns;
	uint32_t pid, tid;
	int64_t result;
	uint64_t args[RAY_CALL_ARGS];
	struct ray_call_memory memory[RAY_CALL_ARGS];
	struct ray_call_memory
		extras[RAY_CALL_EXTRAS]; /* of vectors: first, second, head, peer; of words: one to four */
	struct ray_call_memory files[RAY_CALL_ARGS + 1], sockets[RAY_CALL_ARGS + 1];
	struct ray_call_memory stack;
};

struct ray_calls; /* parts of calls, by thread */

struct ray_calls *ray_calls_create(void); /* NULL: no memory */
void ray_calls_free(struct ray_calls *c);
RAY_DEFINE_AUTO(ray_calls, ray_calls_free)
/* Takes a fact. Not NULL: with it a call is complete; valid until the next one. */
const struct ray_call_seen *ray_calls_take(struct ray_calls *c, const struct ray_fact *f);

const char *
ray_call_name(const struct ray_syscall *call); /* as programs call it: "fstat", where the kernel says "newfstat" */
size_t
ray_call_arg_count(const struct ray_call_seen *s); /* those that mean something: open() has a mode only if it creates */
void ray_call_print_arg(const struct ray_call_seen *s, size_t i, struct ray_text *out);
/* A descriptor, and what it is open on: files[name]. */
void ray_call_print_file(const struct ray_call_seen *s, int64_t fd, size_t name, struct ray_text *out);
/* syscall_result.c: "3", "0x7f12...", "-1 ENOENT (No such file or directory)", "?" */
void ray_call_print_result(const struct ray_call_seen *s, struct ray_text *out);
const char *ray_call_error(const struct ray_call_seen *s); /* "ENOENT"; NULL if it did not fail */

/* syscall_text.c: strings, names, addresses. */
void ray_call_quote(const void *bytes, size_t size, bool is_cut, struct ray_text *out); /* "...\n"... */
void ray_call_print_sockaddr(const struct ray_text *bytes, struct ray_text *out);
/* A value of flags:NAME or enum:NAME. */
void ray_call_print_names(const char *name, size_t length, uint64_t value, struct ray_text *out);
void ray_call_print_signals(uint64_t set, struct ray_text *out); /* [INT TERM] */

/* syscall_struct.c: what an argument points to. A structure of the kind `word` of the table; false: it is none of these, or the bytes are too few. */
bool ray_call_print_struct(const struct ray_call_seen *s, const char *word, const struct ray_text *bytes,
			   struct ray_text *out);
#endif
