/* functions.h - the table of D's actions, subroutines and aggregating functions.
 * SPDX-License-Identifier: MIT
 *
 * One row per function drives the checker (prototype), the engine (which code to make), the consumer (what to do
 * with a record) and the list in the manual. Prototypes are text in D's own notation, as the reference words it in its
 * messages: "void(@, ...)", "string(string, string)". */
#ifndef RAY_LANG_FUNCTIONS_H
#define RAY_LANG_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "kern/wire.h" /* enum ray_fd_number: what FD_NUMBER tells of a file */

enum ray_function_kind {
	RAY_FUNCTION_ACTION,	 /* a statement of its own */
	RAY_FUNCTION_SUBROUTINE, /* has a value, or acts at once (copyout, bcopy) */
	RAY_FUNCTION_AGGREGATING,
};

/* X(ID, name, kind, prototype, is_recording, is_destructive) */
#define RAY_FUNCTIONS(X)                                                                                \
	X(TRACE, "trace", ACTION, "void(@)", true, false)                                               \
	X(PRINTF, "printf", ACTION, "void(string, ...)", true, false)                                   \
	X(PRINTA, "printa", ACTION, "void(@, ...)", true, false)                                        \
	X(PRINT, "print", ACTION, "void(void *)", true, false)                                          \
	X(TRACEMEM, "tracemem", ACTION, "void(@, size_t, [size_t])", true, false)                       \
	/* Our own: memory of the process as far as it can be read, without a fault where it cannot. */ \
	X(TRACEBUF, "tracebuf", ACTION, "void(uintptr_t, size_t, [size_t])", true, false)               \
	X(TRACESTR, "tracestr", ACTION, "void(uintptr_t, size_t)", true, false)                         \
	X(TRACESOCK, "tracesock", ACTION, "void(int)", true, false)                                     \
	X(PEEK, "peek", SUBROUTINE, "uint64_t(uintptr_t)", false, false)                                \
	X(STACK, "stack", ACTION, "stack([uint32_t])", true, false)                                     \
	X(USTACK, "ustack", ACTION, "stack([uint32_t], [uint32_t])", true, false)                       \
	X(JSTACK, "jstack", ACTION, "stack([uint32_t], [uint32_t])", true, false)                       \
	X(SYM, "sym", ACTION, "_symaddr(uintptr_t)", true, false)                                       \
	X(MOD, "mod", ACTION, "_symaddr(uintptr_t)", true, false)                                       \
	X(FUNC, "func", ACTION, "_symaddr(uintptr_t)", true, false)                                     \
	X(USYM, "usym", ACTION, "_usymaddr(uintptr_t)", true, false)                                    \
	X(UMOD, "umod", ACTION, "_usymaddr(uintptr_t)", true, false)                                    \
	X(UFUNC, "ufunc", ACTION, "_usymaddr(uintptr_t)", true, false)                                  \
	X(UADDR, "uaddr", ACTION, "_usymaddr(uintptr_t)", true, false)                                  \
	X(EXIT, "exit", ACTION, "void(int)", true, false)                                               \
	X(SPECULATE, "speculate", ACTION, "void(int)", false, false)                                    \
	X(COMMIT, "commit", ACTION, "void(int)", false, false)                                          \
	X(DISCARD, "discard", ACTION, "void(int)", false, false)                                        \
	X(CLEAR, "clear", ACTION, "void(@)", true, false)                                               \
	X(TRUNC, "trunc", ACTION, "void(@, [int64_t])", true, false)                                    \
	X(NORMALIZE, "normalize", ACTION, "void(@, uint64_t)", true, false)                             \
	X(DENORMALIZE, "denormalize", ACTION, "void(@)", true, false)                                   \
	X(SETOPT, "setopt", ACTION, "void(const char *, [const char *])", true, false)                  \
	X(FREOPEN, "freopen", ACTION, "void(@, ...)", true, true)                                       \
	X(FTRUNCATE, "ftruncate", ACTION, "void()", true, false)                                        \
	X(SYSTEM, "system", ACTION, "void(@, ...)", true, true)                                         \
	X(STOP, "stop", ACTION, "void()", false, true)                                                  \
	X(RAISE, "raise", ACTION, "void(int)", false, true)                                             \
	X(BREAKPOINT, "breakpoint", ACTION, "void()", false, true)                                      \
	X(CHILL, "chill", ACTION, "void(int)", false, true)                                             \
	X(PANIC, "panic", ACTION, "void()", false, true)                                                \
	X(PCAP, "pcap", ACTION, "void(void *, int)", true, false)                                       \
	X(COPYOUT, "copyout", SUBROUTINE, "void(void *, uintptr_t, size_t)", false, true)               \
	X(COPYOUTSTR, "copyoutstr", SUBROUTINE, "void(char *, uintptr_t, size_t)", false, true)         \
	X(ALLOCA, "alloca", SUBROUTINE, "void *(size_t)", false, false)                                 \
	X(BASENAME, "basename", SUBROUTINE, "string(const char *)", false, false)                       \
	X(BCOPY, "bcopy", SUBROUTINE, "void(void *, void *, size_t)", false, false)                     \
	X(CLEANPATH, "cleanpath", SUBROUTINE, "string(const char *)", false, false)                     \
	X(COPYIN, "copyin", SUBROUTINE, "void *(uintptr_t, size_t)", false, false)                      \
	X(COPYINSTR, "copyinstr", SUBROUTINE, "string(uintptr_t, [size_t])", false, false)              \
	X(COPYINTO, "copyinto", SUBROUTINE, "void(uintptr_t, size_t, void *)", false, false)            \
	X(D_PATH, "d_path", SUBROUTINE, "string(struct path *)", false, false)                          \
	X(DIRNAME, "dirname", SUBROUTINE, "string(const char *)", false, false)                         \
	X(GETMAJOR, "getmajor", SUBROUTINE, "dev_t(dev_t)", false, false)                               \
	X(GETMINOR, "getminor", SUBROUTINE, "dev_t(dev_t)", false, false)                               \
	X(HTONL, "htonl", SUBROUTINE, "uint32_t(uint32_t)", false, false)                               \
	X(HTONLL, "htonll", SUBROUTINE, "uint64_t(uint64_t)", false, false)                             \
	X(HTONS, "htons", SUBROUTINE, "uint16_t(uint16_t)", false, false)                               \
	X(INDEX, "index", SUBROUTINE, "int(const char *, const char *, [int])", false, false)           \
	X(INET_NTOA, "inet_ntoa", SUBROUTINE, "string(ipaddr_t *)", false, false)                       \
	X(INET_NTOA6, "inet_ntoa6", SUBROUTINE, "string(struct in6_addr *, [int])", false, false)       \
	X(INET_NTOP, "inet_ntop", SUBROUTINE, "string(int, void *)", false, false)                      \
	X(JSON, "json", SUBROUTINE, "string(const char *, const char *)", false, false)                 \
	X(LINK_NTOP, "link_ntop", SUBROUTINE, "string(int, void *)", false, false)                      \
	X(LLTOSTR, "lltostr", SUBROUTINE, "string(int64_t, [int])", false, false)                       \
	X(MUTEX_OWNED, "mutex_owned", SUBROUTINE, "int(struct mutex *)", false, false)                  \
	X(MUTEX_OWNER, "mutex_owner", SUBROUTINE, "struct task_struct *(struct mutex *)", false, false) \
	X(MUTEX_TYPE_ADAPTIVE, "mutex_type_adaptive", SUBROUTINE, "int(struct mutex *)", false, false)  \
	X(MUTEX_TYPE_SPIN, "mutex_type_spin", SUBROUTINE, "int(struct mutex *)", false, false)          \
	X(NTOHL, "ntohl", SUBROUTINE, "uint32_t(uint32_t)", false, false)                               \
	X(NTOHLL, "ntohll", SUBROUTINE, "uint64_t(uint64_t)", false, false)                             \
	X(NTOHS, "ntohs", SUBROUTINE, "uint16_t(uint16_t)", false, false)                               \
	X(PROGENYOF, "progenyof", SUBROUTINE, "int(pid_t)", false, false)                               \
	X(RAND, "rand", SUBROUTINE, "int()", false, false)                                              \
	X(RINDEX, "rindex", SUBROUTINE, "int(const char *, const char *, [int])", false, false)         \
	X(RW_ISWRITER, "rw_iswriter", SUBROUTINE, "int(rwlock_t *)", false, false)                      \
	X(RW_READ_HELD, "rw_read_held", SUBROUTINE, "int(rwlock_t *)", false, false)                    \
	X(RW_WRITE_HELD, "rw_write_held", SUBROUTINE, "int(rwlock_t *)", false, false)                  \
	X(SPECULATION, "speculation", SUBROUTINE, "int()", false, false)                                \
	X(STRCHR, "strchr", SUBROUTINE, "string(const char *, char)", false, false)                     \
	X(STRIP, "strip", SUBROUTINE, "string(const char *)", false, false)                             \
	X(STRJOIN, "strjoin", SUBROUTINE, "string(const char *, const char *)", false, false)           \
	X(STRLEN, "strlen", SUBROUTINE, "size_t(const char *)", false, false)                           \
	X(STRRCHR, "strrchr", SUBROUTINE, "string(const char *, char)", false, false)                   \
	X(STRSTR, "strstr", SUBROUTINE, "string(const char *, const char *)", false, false)             \
	X(STRTOK, "strtok", SUBROUTINE, "string(const char *, const char *)", false, false)             \
	X(SUBSTR, "substr", SUBROUTINE, "string(const char *, int, [int])", false, false)               \
	X(TOLOWER, "tolower", SUBROUTINE, "string(const char *)", false, false)                         \
	X(TOUPPER, "toupper", SUBROUTINE, "string(const char *)", false, false)                         \
	/* What translated variables become: no script can write these names. */                        \
	X(FD_PATH, "__fd_path", SUBROUTINE, "string(int)", false, false)                                \
	X(FD_NAME, "__fd_name", SUBROUTINE, "string(int)", false, false)                                \
	X(FD_FS, "__fd_fs", SUBROUTINE, "string(int)", false, false)                                    \
	X(FD_MOUNT, "__fd_mount", SUBROUTINE, "string(int)", false, false)                              \
	X(FD_NUMBER, "__fd_number", SUBROUTINE, "int64_t(int, int)", false, false)                      \
	X(CWD, "__cwd", SUBROUTINE, "string()", false, false)                                           \
	X(ROOT, "__root", SUBROUTINE, "string()", false, false)                                         \
	X(PSARGS, "__psargs", SUBROUTINE, "string()", false, false)                                     \
	X(COUNT, "count", AGGREGATING, "void()", false, false)                                          \
	X(SUM, "sum", AGGREGATING, "void(@)", false, false)                                             \
	X(AVG, "avg", AGGREGATING, "void(@)", false, false)                                             \
	X(MIN, "min", AGGREGATING, "void(@)", false, false)                                             \
	X(MAX, "max", AGGREGATING, "void(@)", false, false)                                             \
	X(STDDEV, "stddev", AGGREGATING, "void(@)", false, false)                                       \
	X(QUANTIZE, "quantize", AGGREGATING, "void(@, ...)", false, false)                              \
	X(LQUANTIZE, "lquantize", AGGREGATING, "void(@, int32_t, int32_t, ...)", false, false)          \
	X(LLQUANTIZE, "llquantize", AGGREGATING, "void(@, int32_t, int32_t, int32_t, int32_t, ...)", false, false)

enum ray_function_id {
#define RAY_FUNCTION_ENUM(id, ...) RAY_FN_##id,
	RAY_FUNCTIONS(RAY_FUNCTION_ENUM)
#undef RAY_FUNCTION_ENUM
		RAY_FN_COUNT_
};

struct ray_function {
	enum ray_function_id id;
	const char *name;
	enum ray_function_kind kind;
	const char *prototype;
	bool is_recording, is_destructive;
};

extern const struct ray_function ray_functions[RAY_FN_COUNT_];
const struct ray_function *ray_function_find(const char *name);	    /* NULL if there is none; never a hidden one */
const struct ray_function *ray_function_find_any(const char *name); /* also those that only the prelude may call */

#endif
