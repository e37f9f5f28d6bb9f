/* gcore_notes.c - see gcore_notes.h. Layouts are those of 64-bit x86. SPDX-License-Identifier: MIT */
#include "target/gcore_notes.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/procfs.h>

#include "base/json.h"
#include "target/about.h"
#include "target/pages.h"
#include "target/stop.h"
#include "target/proc.h"

enum { OWN_TYPE = 1, MAX_XSTATE = 64 << 10 };

void ray_gcore_note_add(struct ray_text *out, const char *owner, uint32_t type, const void *content, size_t size)
{
	static const char zeros[4];
	size_t name_size = strlen(owner) + 1;
	Elf64_Nhdr head = { .n_namesz = (Elf64_Word)name_size, .n_descsz = (Elf64_Word)size, .n_type = type };

	ray_text_add_bytes(out, &head, sizeof(head));
	ray_text_add_bytes(out, owner, name_size);
	ray_text_add_bytes(out, zeros, -name_size & 3);
	ray_text_add_bytes(out, content, size);
	ray_text_add_bytes(out, zeros, -size & 3);
}

/* ------------------------------------------------------------------------- threads */

static bool read_xstate(struct ray_stop *stop, struct ray_gcore_thread *t)
{
	static __thread unsigned char buffer[MAX_XSTATE];
	size_t size = sizeof(buffer);

	if (!ray_stop_regset(stop, t->tid, NT_X86_XSTATE, buffer, &size) || !size)
		return true;
	t->xstate = malloc(size);
	if (!t->xstate)
		return false;
	memcpy(t->xstate, buffer, size);
	t->xstate_size = size;
	return true;
}

static void name_thread(struct ray_gcore_thread *t, const struct ray_thread *known, size_t count)
{
	t->state = '?';
	for (size_t i = 0; i < count; i++) {
		if (known[i].tid != t->tid)
			continue;
		memcpy(t->name, known[i].name, sizeof(t->name));
		t->state = known[i].state;
	}
}

static struct ray_error *add_thread(struct ray_stop *stop, const struct ray_stop_thread *from,
				    struct ray_gcore_thread *t, struct ray_gcore_threads *ret)
{
	size_t size = sizeof(t->fp);

	t->tid = from->tid;
	t->note = from->note;
	t->has_registers = ray_stop_registers(stop, t->tid, &t->registers);
	if (t->has_registers) {
		t->has_fp = ray_stop_regset(stop, t->tid, NT_PRFPREG, &t->fp, &size) && size == sizeof(t->fp);
		if (!read_xstate(stop, t))
			return &ray_enomem;
	} else if (!t->note) {
		t->note = "its registers could not be read";
	}
	if (ray_vec_push(&ret->list, *t))
		return NULL;
	free(t->xstate);
	return &ray_enomem;
}

struct ray_error *ray_gcore_threads_read(struct ray_stop *stop, const struct ray_thread *known, size_t known_count,
					 int first_tid, struct ray_gcore_threads *ret)
{
	const struct ray_stop_thread *all;
	struct ray_error *err;
	size_t count;

	all = ray_stop_threads(stop, &count);
	for (size_t i = 0; i < count; i++) {
		struct ray_gcore_thread t = { .tid = all[i].tid };

		name_thread(&t, known, known_count);
		err = add_thread(stop, &all[i], &t, ret);
		if (err)
			return err;
	}
	for (size_t i = 1; i < ret->list.n; i++) {
		struct ray_gcore_thread t = ret->list.at[i];

		if (t.tid != first_tid)
			continue;
		memmove(ret->list.at + 1, ret->list.at, i * sizeof(t));
		ret->list.at[0] = t;
	}
	return NULL;
}

void ray_gcore_threads_deinit(struct ray_gcore_threads *threads)
{
	for (size_t i = 0; i < threads->list.n; i++)
		free(threads->list.at[i].xstate);
	ray_vec_free(&threads->list);
}

/* ------------------------------------------------------------------------- for debuggers */

/* ppid, pgrp and sid follow the name, which may hold anything. */
static void read_ids(int pid, int ids[3])
{
	char text[1024], *p;

	ray_proc_read(text, sizeof(text), "/proc/%d/stat", pid);
	p = strrchr(text, ')');
	if (!p || sscanf(p + 1, " %*c %d %d %d", &ids[0], &ids[1], &ids[2]) != 3)
		ids[0] = ids[1] = ids[2] = 0;
}

static void add_prstatus(struct ray_text *out, int pid, const int ids[3], const struct ray_gcore_thread *t)
{
	char text[16384];
	const char *p;
	struct elf_prstatus s = { .pr_pid = t->tid, .pr_ppid = ids[0], .pr_pgrp = ids[1], .pr_sid = ids[2] };

	ray_proc_read(text, sizeof(text), "/proc/%d/task/%d/status", pid, t->tid);
	p = strstr(text, "\nSigPnd:");
	if (p)
		s.pr_sigpend = strtoul(p + 8, NULL, 16);
	p = strstr(text, "\nSigBlk:");
	if (p)
		s.pr_sighold = strtoul(p + 8, NULL, 16);
	_Static_assert(sizeof(s.pr_reg) == sizeof(t->registers), "the kernel's layout");
	memcpy(&s.pr_reg, &t->registers, sizeof(s.pr_reg));
	s.pr_fpvalid = t->has_fp;
	ray_gcore_note_add(out, "CORE", NT_PRSTATUS, &s, sizeof(s));
}

static void add_prpsinfo(struct ray_text *out, int pid, const int ids[3], const struct ray_gcore_thread *main_thread)
{
	struct elf_prpsinfo p = { .pr_pid = pid, .pr_ppid = ids[0], .pr_pgrp = ids[1], .pr_sid = ids[2] };
	char text[16384], args[sizeof(p.pr_psargs)];
	const char *at;
	size_t n;

	p.pr_sname = main_thread->state;
	ray_proc_read(text, sizeof(text), "/proc/%d/status", pid);
	at = strstr(text, "\nUid:");
	if (at)
		p.pr_uid = (unsigned)strtoul(at + 5, NULL, 10);
	at = strstr(text, "\nGid:");
	if (at)
		p.pr_gid = (unsigned)strtoul(at + 5, NULL, 10);
	snprintf(p.pr_fname, sizeof(p.pr_fname), "%.15s", main_thread->name);
	n = ray_proc_read(args, sizeof(args), "/proc/%d/cmdline", pid);
	while (n && !args[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		p.pr_psargs[i] = args[i] ? args[i] : ' ';
	ray_gcore_note_add(out, "CORE", NT_PRPSINFO, &p, sizeof(p));
}

static void add_auxv(struct ray_text *out, int pid)
{
	char auxv[8192];
	size_t n;

	n = ray_proc_read(auxv, sizeof(auxv), "/proc/%d/auxv", pid);
	if (n)
		ray_gcore_note_add(out, "CORE", NT_AUXV, auxv, n);
}

static bool is_named(const struct ray_map *m)
{
	return m->path[0] == '/';
}

/* Count, page size; start, end and offset in pages of each; then the paths. */
static bool add_files(struct ray_text *out, const struct ray_map *maps, size_t count)
{
	ray_auto_text note = { 0 };
	uint64_t words[3] = { 0, RAY_PAGE };

	for (size_t i = 0; i < count; i++)
		words[0] += is_named(&maps[i]);
	ray_text_add_bytes(&note, words, 16);
	for (size_t i = 0; i < count; i++) {
		if (!is_named(&maps[i]))
			continue;
		words[0] = maps[i].start;
		words[1] = maps[i].end;
		words[2] = maps[i].offset / RAY_PAGE;
		ray_text_add_bytes(&note, words, sizeof(words));
	}
	for (size_t i = 0; i < count; i++)
		if (is_named(&maps[i]))
			ray_text_add_bytes(&note, maps[i].path, strlen(maps[i].path) + 1);
	ray_gcore_note_add(out, "CORE", NT_FILE, note.bytes, note.length);
	return !note.failed;
}

static void add_fp(struct ray_text *out, const struct ray_gcore_thread *t)
{
	if (t->has_fp)
		ray_gcore_note_add(out, "CORE", NT_FPREGSET, &t->fp, sizeof(t->fp));
	if (t->xstate)
		ray_gcore_note_add(out, "LINUX", NT_X86_XSTATE, t->xstate, t->xstate_size);
}

/* ------------------------------------------------------------------------- noderay's own */

static bool add_own(struct ray_text *out, const char *name, json_t *value)
{
	ray_auto_memory char *json = value ? json_dumps(value, JSON_COMPACT) : NULL;
	ray_auto_text note = { 0 };

	if (!value)
		return true;
	if (!json)
		return false;
	ray_text_add_bytes(&note, name, strlen(name) + 1);
	ray_text_add(&note, json);
	ray_gcore_note_add(out, "noderay", OWN_TYPE, note.bytes, note.length);
	return !note.failed;
}

static json_t *threads_json(const struct ray_gcore_threads *threads)
{
	json_t *list = json_array();

	for (size_t i = 0; i < threads->list.n; i++) {
		const struct ray_gcore_thread *t = &threads->list.at[i];
		json_t *entry = json_object();

		json_object_set_new(entry, "tid", json_integer(t->tid));
		json_object_set_new(entry, "name", ray_json_text(t->name));
		json_object_set_new(entry, "state", json_stringn(&t->state, 1));
		if (t->note)
			json_object_set_new(entry, "note", json_string(t->note));
		json_array_append_new(list, entry);
	}
	return list;
}

struct ray_error *ray_gcore_notes_build(const struct ray_gcore_notes *in, struct ray_text *ret)
{
	const struct ray_gcore_thread *first = NULL, *main_thread = &in->threads->list.at[0];
	int ids[3] = { 0 };
	json_t *threads = threads_json(in->threads);
	bool ok = true;

	read_ids(in->pid, ids);
	for (size_t i = 0; i < in->threads->list.n; i++)
		if (in->threads->list.at[i].tid == in->pid)
			main_thread = &in->threads->list.at[i];
	for (size_t i = 0; i < in->threads->list.n; i++) {
		const struct ray_gcore_thread *t = &in->threads->list.at[i];

		if (!t->has_registers)
			continue;
		add_prstatus(ret, in->pid, ids, t);
		/* The notes of the process follow the first thread's: debuggers read in this order. */
		if (!first) {
			static const char no_signal[128];

			first = t;
			add_prpsinfo(ret, in->pid, ids, main_thread);
			ray_gcore_note_add(ret, "CORE", NT_SIGINFO, no_signal, sizeof(no_signal));
			add_auxv(ret, in->pid);
			ok = add_files(ret, in->maps, in->map_count);
		}
		add_fp(ret, t);
	}
	ok = ok && add_own(ret, "process", in->process) && add_own(ret, "threads", threads) &&
	     add_own(ret, "maps", in->smaps) && add_own(ret, "files", in->files);
	json_decref(threads);
	return ok && !ret->failed ? NULL : &ray_enomem;
}

static json_t *args_json(const struct ray_about *a)
{
	json_t *list = json_array();

	for (size_t at = 0; at < a->args_size; at += strlen(a->args + at) + 1)
		json_array_append_new(list, ray_json_text(a->args + at));
	return list;
}

struct ray_error *ray_gcore_process_json(int pid, json_t **ret)
{
	ray_auto(ray_arena, arena) = ray_arena_create();
	struct ray_error *err;
	struct ray_about a;
	json_t *p;

	if (!arena)
		return &ray_enomem;
	err = ray_about_read(pid, arena, &a);
	if (err)
		return err;
	p = json_object();
	json_object_set_new(p, "pid", json_integer(pid));
	json_object_set_new(p, "namespace_pid", json_integer(a.inner_pid));
	json_object_set_new(p, "ppid", json_integer(a.ppid));
	json_object_set_new(p, "uid", json_integer(a.uid));
	json_object_set_new(p, "user", ray_json_text(a.user));
	json_object_set_new(p, "exe", ray_json_text(a.exe));
	json_object_set_new(p, "cwd", ray_json_text(a.cwd));
	json_object_set_new(p, "args", args_json(&a));
	json_object_set_new(p, "uptime_s", json_integer((json_int_t)a.uptime));
	json_object_set_new(p, "rss", json_integer((json_int_t)a.rss));
	json_object_set_new(p, "cgroup", ray_json_text(a.cgroup));
	json_object_set_new(p, "container", a.in_container ? ray_json_text(a.container.id) : json_null());
	*ret = p;
	return p ? NULL : &ray_enomem;
}
