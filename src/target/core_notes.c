/* core_notes.c - a core's notes: threads, mapped files, auxiliary vector, noderay's own.
 * SPDX-License-Identifier: MIT
 *
 * Layouts are those of 64-bit x86 Linux (elf_prstatus, elf_prpsinfo in <sys/procfs.h>). Of kinds that
 * come once per process the first counts. Unknown notes are passed over.
 *
 * noderay's own notes have the owner "noderay" and type 1; the content is a NUL-terminated name
 * ("files", "threads") and then JSON text. */
#include <jansson.h>
#include <signal.h>
#include <string.h>
#include <sys/procfs.h>

#include "target/core.h"

enum { MAX_CONTENT = 64 << 20 }; /* of one note that is kept; NT_FILE of 65530 mappings takes 4 MiB */

struct note {
	uint32_t type;
	char owner[16];
	uint64_t offset, size; /* of its content, in the core */
};

/* gdb stops a process to dump it, and notes that signal too: not one that has ended it. */
static void set_signal(struct ray_target *t, int number)
{
	static const int harmless[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD, SIGURG, SIGWINCH };

	if (t->signal || number <= 0 || number >= NSIG)
		return;
	for (size_t i = 0; i < RAY_COUNT(harmless); i++) {
		if (number == harmless[i])
			return;
	}
	t->signal = number;
}

static struct ray_error *read_prstatus(struct ray_target *t, const struct note *n)
{
	struct core *c = core_of(t);
	struct ray_thread thread = { .state = '?' };
	struct elf_prstatus s;

	_Static_assert(sizeof(s.pr_reg) == sizeof(thread.registers), "registers are the kernel's");
	if (n->size < sizeof(s) || ray_bytes_read(c->bytes, n->offset, &s, sizeof(s)) != sizeof(s))
		return NULL;
	thread.tid = s.pr_pid;
	memcpy(&thread.registers, &s.pr_reg, sizeof(thread.registers));
	thread.has_registers = true;
	if (ray_thread_looks_kernel(&thread))
		ray_thread_mark_kernel(&thread);
	/* The thread that was ended comes first. */
	if (!c->threads.n)
		set_signal(t, s.pr_cursig);
	return ray_vec_push(&c->threads, thread) ? NULL : &ray_enomem;
}

static struct ray_error *read_prpsinfo(struct ray_target *t, const struct note *n)
{
	struct core *c = core_of(t);
	struct elf_prpsinfo p;

	if (c->has_process || n->size < sizeof(p) || ray_bytes_read(c->bytes, n->offset, &p, sizeof(p)) != sizeof(p))
		return NULL;
	c->has_process = true;
	t->pid = p.pr_pid;
	memcpy(c->command, p.pr_fname, sizeof(c->command) - 1);
	memcpy(c->arguments, p.pr_psargs, sizeof(c->arguments) - 1);
	return NULL;
}

static struct ray_error *read_siginfo(struct ray_target *t, const struct note *n)
{
	int32_t number;

	if (n->size >= sizeof(number) &&
	    ray_bytes_read(core_of(t)->bytes, n->offset, &number, sizeof(number)) == sizeof(number))
		set_signal(t, number);
	return NULL;
}

static struct ray_error *read_auxv(struct ray_target *t, const struct note *n)
{
	struct core *c = core_of(t);
	size_t count = (size_t)core_min(n->size / sizeof(*c->auxv), 512), i;

	if (c->auxv)
		return NULL;
	c->auxv = ray_arena_alloc(t->arena, count * sizeof(*c->auxv) + 1);
	if (!c->auxv)
		return &ray_enomem;
	count = ray_bytes_read(c->bytes, n->offset, c->auxv, count * sizeof(*c->auxv)) / sizeof(*c->auxv);
	for (i = 0; i < count && c->auxv[i].a_type != AT_NULL; i++)
		;
	c->auxv_count = i;
	return NULL;
}

uint64_t core_auxv(const struct core *c, uint64_t type)
{
	for (size_t i = 0; i < c->auxv_count; i++) {
		if (c->auxv[i].a_type == type)
			return c->auxv[i].a_un.a_val;
	}
	return 0;
}

static int compare_paths(const void *a, const void *b, void *arg)
{
	const char *const *paths = arg;

	return strcmp(paths[*(const size_t *)a], paths[*(const size_t *)b]);
}

/* One core_file per path: sets the mappings' file, which is the path's number until here. */
static bool unite_paths(struct core *c, const char **paths, size_t *order)
{
	size_t i, k;

	for (i = 0; i < c->mappings.n; i++)
		order[i] = i;
	if (c->mappings.n)
		qsort_r(order, c->mappings.n, sizeof(*order), compare_paths, paths);
	for (i = 0; i < c->mappings.n; i++) {
		k = order[i];
		if ((!i || strcmp(paths[k], paths[order[i - 1]])) &&
		    !ray_vec_push(&c->files, (struct core_file){ .path = paths[k] }))
			return false;
		c->mappings.at[k].file = c->files.n - 1;
	}
	return true;
}

static int compare_mappings(const void *a, const void *b)
{
	const struct core_mapping *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* By address, without overlaps or nonsense, so that each address has one file at most. */
static void sort_mappings(struct core *c)
{
	size_t kept = 0;
	uint64_t end = 0;

	if (c->mappings.n)
		qsort(c->mappings.at, c->mappings.n, sizeof(*c->mappings.at), compare_mappings);
	for (size_t i = 0; i < c->mappings.n; i++) {
		struct core_mapping m = c->mappings.at[i];

		if (m.start < end || m.end <= m.start || m.offset > UINT64_MAX - (m.end - m.start))
			continue;
		end = m.end;
		c->mappings.at[kept++] = m;
	}
	c->mappings.n = kept;
}

/* Count, page size, then start, end and offset (in pages) of each; then their paths, NUL-terminated. */
static struct ray_error *parse_files(struct ray_target *t, const uint64_t *words, uint64_t size)
{
	struct core *c = core_of(t);
	ray_auto_memory const char **paths = NULL;
	ray_auto_memory size_t *order = NULL;
	const char *text, *text_end = (const char *)words + size;
	uint64_t count = words[0], page = words[1], i;

	if (count > (size - 16) / 24)
		count = (size - 16) / 24;
	text = (const char *)(words + 2 + 3 * count);
	paths = calloc((size_t)count + 1, sizeof(*paths));
	order = calloc((size_t)count + 1, sizeof(*order));
	if (!paths || !order)
		return &ray_enomem;
	for (i = 0; i < count && text < text_end; i++) {
		const uint64_t *w = words + 2 + 3 * i;
		size_t length = strnlen(text, (size_t)(text_end - text));
		struct core_mapping m = { .start = w[0], .end = w[1] };

		if (__builtin_mul_overflow(w[2], page, &m.offset))
			m.end = m.start; /* dropped by sort_mappings() */
		paths[i] = ray_arena_copy(t->arena, text, length);
		if (!paths[i] || !ray_vec_push(&c->mappings, m))
			return &ray_enomem;
		text += length + 1;
	}
	if (!unite_paths(c, paths, order))
		return &ray_enomem;
	sort_mappings(c);
	return NULL;
}

static struct ray_error *read_files(struct ray_target *t, const struct note *n)
{
	ray_auto_memory uint64_t *words = NULL;
	size_t got;

	if (core_of(t)->mappings.n || n->size < 16 || n->size > MAX_CONTENT)
		return NULL;
	words = malloc((size_t)n->size);
	if (!words)
		return &ray_enomem;
	got = ray_bytes_read(core_of(t)->bytes, n->offset, words, (size_t)n->size);
	return got < 16 ? NULL : parse_files(t, words, got);
}

static struct ray_error *read_own(struct ray_target *t, const struct note *n)
{
	struct core *c = core_of(t);
	struct core_note own;
	size_t name_length;
	char *bytes;

	if (n->size < 2 || n->size > MAX_CONTENT)
		return NULL;
	bytes = ray_arena_alloc(t->arena, (size_t)n->size + 1);
	if (!bytes)
		return &ray_enomem;
	if (ray_bytes_read(c->bytes, n->offset, bytes, (size_t)n->size) != n->size)
		return NULL;
	name_length = strlen(bytes);
	if (name_length + 1 >= n->size)
		return NULL;
	own = (struct core_note){ bytes, bytes + name_length + 1 };
	return ray_vec_push(&c->notes, own) ? NULL : &ray_enomem;
}

static const struct {
	const char *owner;
	uint32_t type;
	struct ray_error *(*read)(struct ray_target *t, const struct note *n);
} kinds[] = {
	{ "CORE", NT_PRSTATUS, read_prstatus }, { "CORE", NT_PRPSINFO, read_prpsinfo },
	{ "CORE", NT_SIGINFO, read_siginfo },	{ "CORE", NT_AUXV, read_auxv },
	{ "CORE", NT_FILE, read_files },	{ "noderay", 1, read_own },
};

static struct ray_error *take_note(struct ray_target *t, const struct note *n)
{
	for (size_t i = 0; i < RAY_COUNT(kinds); i++) {
		if (kinds[i].type == n->type && !strcmp(kinds[i].owner, n->owner))
			return kinds[i].read(t, n);
	}
	if (!strcmp(n->owner, "VMCOREINFO"))
		return ray_error_new(RAY_UNREADABLE, "is a dump of the kernel, not of a process");
	return NULL;
}

struct ray_error *core_load_notes(struct ray_target *t, uint64_t offset, uint64_t size, uint64_t *budget)
{
	struct core *c = core_of(t);
	struct ray_error *err = NULL;
	uint64_t total = ray_bytes_size(c->bytes), at = 0, step;
	struct note n;
	Elf64_Nhdr h;

	if (offset >= total || size > total - offset) {
		ray_target_warn(t, "the core is cut inside its notes: threads or file names are missing");
		size = offset >= total ? 0 : total - offset;
	}
	while (!err && size - at >= sizeof(h) && ray_bytes_read(c->bytes, offset + at, &h, sizeof(h)) == sizeof(h)) {
		n = (struct note){ .type = h.n_type, .size = h.n_descsz };
		ray_bytes_read(c->bytes, offset + at + sizeof(h), n.owner,
			       (size_t)core_min(h.n_namesz, sizeof(n.owner) - 1));
		n.offset = offset + at + sizeof(h) + (((uint64_t)h.n_namesz + 3) & ~3ull);
		step = n.offset - offset - at + ((n.size + 3) & ~3ull);
		if (n.offset - offset > size || n.size > size - (n.offset - offset) || step > *budget)
			break;
		*budget -= step;
		at += step;
		err = take_note(t, &n);
		if (at > size)
			break;
	}
	return err;
}

static int compare_by_tid(const void *a, const void *b, void *arg)
{
	const struct ray_thread *threads = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	if (threads[x].tid != threads[y].tid)
		return threads[x].tid < threads[y].tid ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Damaged headers can make the same notes appear again and again. */
struct ray_error *core_unite_threads(struct ray_target *t)
{
	struct core *c = core_of(t);
	size_t n = c->threads.n, kept = 0;
	ray_auto_memory size_t *order = calloc(n + 1, sizeof(*order));
	ray_auto_memory bool *again = calloc(n + 1, sizeof(*again));

	if (!order || !again)
		return &ray_enomem;
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	if (n)
		qsort_r(order, n, sizeof(*order), compare_by_tid, c->threads.at);
	for (size_t i = 1; i < n; i++)
		again[order[i]] = c->threads.at[order[i]].tid == c->threads.at[order[i - 1]].tid;
	for (size_t i = 0; i < n; i++) {
		if (!again[i])
			c->threads.at[kept++] = c->threads.at[i];
	}
	c->threads.n = kept;
	if (kept < n)
		ray_target_warn(t, "the core is damaged: %zu threads have the id of another and are left out",
				n - kept);
	return NULL;
}

static int compare_tids(const void *a, const void *b)
{
	const struct ray_thread *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static const char *text_of(const json_t *entry, const char *key)
{
	return json_string_value(json_object_get(entry, key));
}

/* A thread that was there, but whose registers could not be had when the core was written. */
static struct ray_error *add_bare_thread(struct ray_target *t, const json_t *entry, int tid)
{
	const char *note = text_of(entry, "note");
	struct ray_thread thread = { .tid = tid, .state = '?' };

	thread.note = ray_arena_strdup(t->arena, note ? note : "the core has no registers of it");
	return thread.note && ray_vec_push(&t->threads, thread) ? NULL : &ray_enomem;
}

/* noderay's own note: [{"tid": 1, "name": "node", "state": "S", "note": "..."}, ...]. */
static struct ray_error *name_threads(struct ray_target *t, const json_t *list)
{
	size_t known = t->threads.n, index;
	struct ray_error *err = NULL;
	json_t *entry;

	if (known)
		qsort(t->threads.at, known, sizeof(*t->threads.at), compare_tids);
	json_array_foreach(list, index, entry)
	{
		const char *name = text_of(entry, "name"), *state = text_of(entry, "state");
		struct ray_thread key = { .tid = (int)json_integer_value(json_object_get(entry, "tid")) }, *thread;

		thread = known ? bsearch(&key, t->threads.at, known, sizeof(key), compare_tids) : NULL;
		if (!thread && key.tid > 0) {
			err = add_bare_thread(t, entry, key.tid);
			thread = err ? NULL : &t->threads.at[t->threads.n - 1];
		}
		if (err)
			return err;
		if (thread && name)
			snprintf(thread->name, sizeof(thread->name), "%s", name);
		if (thread && state && state[0])
			thread->state = state[0];
	}
	return NULL;
}

struct ray_error *core_load_threads(struct ray_target *t)
{
	const struct core *c = core_of(t);
	const char *note = t->ops->note(t, "threads");
	struct ray_error *err;
	json_t *list;

	for (size_t i = 0; i < c->threads.n; i++) {
		/* Without NT_PRPSINFO the lowest id is the best guess at the main thread. */
		if (!c->has_process && (!t->pid || c->threads.at[i].tid < t->pid))
			t->pid = c->threads.at[i].tid;
		if (!ray_vec_push(&t->threads, c->threads.at[i]))
			return &ray_enomem;
	}
	list = note ? json_loads(note, 0, NULL) : NULL;
	err = list ? name_threads(t, list) : NULL;
	json_decref(list);
	return err;
}
