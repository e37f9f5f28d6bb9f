/* target.c - what every kind of target answers in the same way; see target.h.
 * SPDX-License-Identifier: MIT */
#include "target/target.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include "base/search.h"
#include "base/text.h"
#include "target/internal.h"

enum { MAX_KEPT = 4096 };

/* Reads the digits at *p as a positive int; false if there are none or they do not fit. */
static bool parse_id(const char **p, int *ret)
{
	char *end;
	long v;

	if (!isdigit((unsigned char)**p))
		return false;
	errno = 0;
	v = strtol(*p, &end, 10);
	if (errno || v <= 0 || v > INT_MAX)
		return false;
	*p = end;
	*ret = (int)v;
	return true;
}

/* PID, /proc/PID or PID/TID. False: it must be the path of a core. */
static bool parse_process_name(const char *name, int *pid, int *tid)
{
	const char *p = name;
	size_t n;

	*tid = 0;
	if (!strncmp(p, "/proc/", 6))
		p += 6;
	if (!parse_id(&p, pid))
		return false;
	if (*p == '/' && p[1]) {
		p++;
		if (!strncmp(p, "task/", 5))
			p += 5;
		if (!parse_id(&p, tid))
			return false;
	}
	n = strspn(p, "/");
	return p[n] == '\0';
}

struct ray_error *ray_target_open(const struct ray_target_options *options, struct ray_target **ret)
{
	ray_auto(ray_target, t) = calloc(1, sizeof(*t));
	struct ray_error *err;
	int pid = 0;

	if (!t)
		return &ray_enomem;
	t->arena = ray_arena_create();
	t->name = strdup(options->name);
	if (!t->arena || !t->name)
		return &ray_enomem;
	t->exe = "";
	t->force = options->force;
	t->exe_override = options->exe;
	t->sysroot = options->sysroot;
	if (parse_process_name(options->name, &pid, &t->only_tid))
		err = ray_process_init(t, pid);
	else
		err = ray_core_init(t, options->name);
	if (!err)
		err = ray_target_refresh(t);
	if (err)
		return ray_error_wrap(err, "%s", options->name);
	*ret = ray_take(t);
	return NULL;
}

void ray_target_close(struct ray_target *t)
{
	if (!t)
		return;
	if (t->ops && t->ops->close)
		t->ops->close(t);
	for (size_t i = 0; i < t->modules.n; i++) {
		ray_elf_close(t->modules.at[i]->module.elf);
		free(t->modules.at[i]);
	}
	ray_vec_free(&t->modules);
	ray_vec_free(&t->maps);
	ray_vec_free(&t->threads);
	ray_vec_free(&t->warnings);
	ray_pins_free(t->pins);
	ray_arena_free(t->arena);
	free(t->name);
	free(t);
}

enum ray_target_kind ray_target_kind(const struct ray_target *t)
{
	return t->kind;
}

const char *ray_target_name(const struct ray_target *t)
{
	return t->name;
}

int ray_target_pid(const struct ray_target *t)
{
	return t->pid;
}

int ray_target_only_tid(const struct ray_target *t)
{
	return t->only_tid;
}

const char *ray_target_exe(struct ray_target *t)
{
	return t->exe;
}

int ray_target_signal(struct ray_target *t)
{
	return t->signal;
}

static int compare_maps(const void *a, const void *b)
{
	const struct ray_map *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int compare_threads(const void *a, const void *b, void *arg)
{
	const struct ray_thread *x = a, *y = b;
	const struct ray_target *t = arg;

	if ((x->tid == t->pid) != (y->tid == t->pid))
		return x->tid == t->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

struct ray_error *ray_target_refresh(struct ray_target *t)
{
	struct ray_error *err;

	t->maps.n = 0;
	t->threads.n = 0;
	err = t->ops->load_maps(t);
	if (!err)
		err = t->ops->load_threads(t);
	if (err)
		return err;
	if (t->maps.n)
		qsort(t->maps.at, t->maps.n, sizeof(*t->maps.at), compare_maps);
	if (t->threads.n)
		qsort_r(t->threads.at, t->threads.n, sizeof(*t->threads.at), compare_threads, t);
	return NULL;
}

struct ray_error *ray_target_refresh_maps(struct ray_target *t)
{
	__typeof__(t->maps) before = t->maps;
	struct ray_error *err;

	memset(&t->maps, 0, sizeof(t->maps));
	err = t->ops->load_maps(t);
	if (err) {
		ray_vec_free(&t->maps);
		t->maps = before;
		return err;
	}
	ray_vec_free(&before);
	if (t->maps.n)
		qsort(t->maps.at, t->maps.n, sizeof(*t->maps.at), compare_maps);
	return NULL;
}

const struct ray_map *ray_target_maps(struct ray_target *t, size_t *count_ret)
{
	*count_ret = t->maps.n;
	return t->maps.at;
}

const struct ray_map *ray_target_find_map(struct ray_target *t, uint64_t address)
{
	size_t i = ray_search(t->maps.at, t->maps.n, one, one->end <= address);

	return i < t->maps.n && address >= t->maps.at[i].start ? &t->maps.at[i] : NULL;
}

const struct ray_thread *ray_target_threads(struct ray_target *t, size_t *count_ret)
{
	*count_ret = t->threads.n;
	return t->threads.at;
}

static size_t read_below(struct ray_target *t, uint64_t address, void *buffer, size_t size)
{
	unsigned char *out = buffer;
	size_t done = 0, n, gap;

	if (t->keeping && size <= MAX_KEPT)
		ray_target_pin(t, &(struct ray_range){ address, size }, 1);
	if (!t->pins)
		return t->ops->read(t, address, buffer, size);
	while (done < size) {
		n = ray_pins_read(t->pins, address + done, out + done, size - done, &gap);
		if (n) {
			done += n;
			continue;
		}
		n = t->ops->read(t, address + done, out + done, gap);
		done += n;
		if (n < gap)
			break;
	}
	return done;
}

size_t ray_target_read(struct ray_target *t, uint64_t address, void *buffer, size_t size)
{
	size_t done;

	if (size > UINT64_MAX - address)
		size = (size_t)(UINT64_MAX - address);
	if (!t->overlay_count)
		return read_below(t, address, buffer, size);
	if (ray_overlay_read(t->overlay, t->overlay_count, address, buffer, size))
		return size;
	done = read_below(t, address, buffer, size);
	ray_overlay_patch(t->overlay, t->overlay_count, address, buffer, done);
	return done;
}

size_t ray_target_read_now(struct ray_target *t, uint64_t address, void *buffer, size_t size)
{
	return size > UINT64_MAX - address ? 0 : t->ops->read(t, address, buffer, size);
}

void ray_target_lay_over(struct ray_target *t, const struct ray_overlay_piece *pieces, size_t count)
{
	t->overlay = pieces;
	t->overlay_count = count;
}

static size_t read_for_reader(void *arg, uint64_t address, void *buffer, size_t size)
{
	return ray_target_read(arg, address, buffer, size);
}

struct ray_reader ray_target_reader(struct ray_target *t)
{
	return (struct ray_reader){ read_for_reader, t };
}

struct ray_error *ray_target_args(struct ray_target *t, char **ret, size_t *size_ret)
{
	return ray_error_wrap(t->ops->args(t, ret, size_ret), "%s: arguments", t->name);
}

struct ray_error *ray_target_env(struct ray_target *t, char **ret, size_t *size_ret)
{
	return ray_error_wrap(t->ops->env(t, ret, size_ret), "%s: environment", t->name);
}

const char *ray_target_note(struct ray_target *t, const char *name)
{
	return t->ops->note ? t->ops->note(t, name) : NULL;
}

bool ray_target_dumped_runs(struct ray_target *t, uint64_t start, uint64_t end, ray_run_fn *each, void *arg)
{
	if (t->ops->dumped_runs)
		return t->ops->dumped_runs(t, start, end, each, arg);
	return start >= end || each(start, end, arg);
}

static bool add_run(uint64_t start, uint64_t end, void *arg)
{
	uint64_t *sum = arg;

	*sum += end - start;
	return true;
}

uint64_t ray_target_dumped(struct ray_target *t, uint64_t start, uint64_t end)
{
	uint64_t sum = 0;

	ray_target_dumped_runs(t, start, end, add_run, &sum);
	return sum;
}

void ray_thread_mark_kernel(struct ray_thread *thread)
{
	thread->is_kernel = true;
	thread->has_registers = false;
	thread->note = "a thread of the kernel for io_uring: it runs no code of the program";
}

void ray_target_warn(struct ray_target *t, const char *fmt, ...)
{
	ray_auto_memory char *text = NULL;
	ray_auto_text safe = { 0 };
	const char *kept;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	if (text)
		ray_text_add_safe_lines(&safe, text);
	for (size_t i = 0; i < t->warnings.n; i++) {
		if (!strcmp(t->warnings.at[i], ray_text_get(&safe)))
			return;
	}
	kept = text ? ray_arena_strdup(t->arena, ray_text_get(&safe)) : NULL;
	if (kept && !ray_vec_push(&t->warnings, kept))
		return;
}

const char *const *ray_target_warnings(struct ray_target *t)
{
	static const char *const none[] = { NULL };

	if (!ray_vec_push(&t->warnings, NULL))
		return none;
	t->warnings.n--;
	return t->warnings.at;
}
