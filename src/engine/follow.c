/* follow.c - see follow.h. SPDX-License-Identifier: MIT */
#include "engine/follow.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "engine/attach.h"
#include "engine/cpus.h"
#include "engine/kin.h"
#include "engine/progeny.h"
#include "engine/watch.h"
#include "probe/process.h"

enum { PAGES = 16 /* of a ring, per CPU */ };

struct ring {
	int fd;
	struct perf_event_mmap_page *head;
};

/* A process that has ended, or is another program from then on. */
struct ended {
	pid_t pid;
	uint64_t time; /* ns */
};

struct ray_follow {
	struct ray_trace *t;
	RAY_VEC(struct ring) rings;
	RAY_VEC(pid_t) changed; /* processes to look at */
	RAY_VEC(struct ended) ended;
	bool any_process; /* some description can match a process that nobody knows yet */
};

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

void ray_follow_free(struct ray_follow *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->rings.n; i++) {
		munmap(f->rings.at[i].head, (PAGES + 1) * page_size());
		close(f->rings.at[i].fd);
	}
	ray_vec_free(&f->rings);
	ray_vec_free(&f->changed);
	ray_vec_free(&f->ended);
	free(f);
}

static bool clause_may_grow(const struct ray_trace *t, const struct ray_clause *clause)
{
	if (ray_clause_is_off(clause))
		return false;
	for (size_t i = 0; i < clause->spec_count; i++)
		if (ray_catalogue_may_grow(t->catalogue, &clause->specs[i]))
			return true;
	return false;
}

bool ray_trace_may_grow(const struct ray_trace *t, const struct ray_clause *only)
{
	if (only)
		return clause_may_grow(t, only);
	for (size_t i = 0; i < t->program->clauses.n; i++)
		if (clause_may_grow(t, t->program->clauses.at[i]))
			return true;
	return false;
}

/* One ring on one CPU: executable mappings, forks. */
static struct ray_error *open_ring(struct ray_follow *f, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.exclude_kernel = 1,
		.watermark = 1,
		/* A new process fires its probes at once; the libraries of one that we have are worth no wakeup. */
		.wakeup_watermark = f->any_process ? 1 : PAGES * page_size() / 2,
		/* The last word of each record: by the clock of programs. */
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	struct ring ring;

	ring.fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring.fd < 0)
		return ray_attach_error(errno, "the start of processes");
	ring.head = mmap(NULL, (PAGES + 1) * page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, 0);
	if (ring.head == MAP_FAILED) {
		close(ring.fd);
		return ray_error_errno(RAY_FAILED, errno, "cannot watch the start of processes");
	}
	if (ray_vec_push(&f->rings, ring))
		return ray_trace_watch(f->t, ring.fd);
	munmap(ring.head, (PAGES + 1) * page_size());
	close(ring.fd);
	return &ray_enomem;
}

/* A provider with a wildcard may be any process's; one with a number is that process's. */
static bool wants_any_process(const struct ray_trace *t)
{
	for (size_t i = 0; i < t->program->clauses.n; i++) {
		const struct ray_clause *clause = t->program->clauses.at[i];

		for (size_t k = 0; !ray_clause_is_off(clause) && k < clause->spec_count; k++)
			if (ray_catalogue_may_grow(t->catalogue, &clause->specs[k]) &&
			    strncmp(clause->specs[k].provider, "pid", 3) &&
			    !ray_glob_is_plain(clause->specs[k].provider))
				return true;
	}
	return false;
}

/* ---- what the kernel told ---- */

/* Whether a description names this very process. */
static bool is_named(const struct ray_follow *f, pid_t pid)
{
	char number[16];
	size_t digits = (size_t)snprintf(number, sizeof(number), "%d", pid);

	for (size_t i = 0; i < f->t->program->clauses.n; i++) {
		const struct ray_clause *clause = f->t->program->clauses.at[i];

		for (size_t k = 0; k < clause->spec_count; k++) {
			const char *provider = clause->specs[k].provider;
			size_t length = strlen(provider);

			if (!strcmp(provider, "pid*") ||
			    (length > digits && !strcmp(provider + length - digits, number)))
				return true;
		}
	}
	return false;
}

static void note_pid(struct ray_follow *f, uint32_t pid)
{
	for (size_t i = 0; i < f->changed.n; i++)
		if (f->changed.at[i] == (pid_t)pid)
			return;
	if (!f->any_process && !is_named(f, (pid_t)pid))
		return;
	/* With -x follow the rest of the machine is not our business. */
	if (!ray_progeny_knows(f->t, (pid_t)pid))
		return;
	if ((pid_t)pid > 0 && (pid_t)pid != getpid())
		(void)ray_vec_push(&f->changed, (pid_t)pid); /* without memory it is seen at its next mapping */
}

/* It has become another program: what was found in the one before is not in it, even if it has the same names. */
static void note_exec(struct ray_follow *f, uint32_t pid, uint64_t time)
{
	if (!f->any_process && !is_named(f, (pid_t)pid))
		return;
	(void)ray_vec_push(&f->ended, (struct ended){ (pid_t)pid, time });
	note_pid(f, pid);
}

static struct ray_error *note_one(pid_t pid, void *arg)
{
	note_pid(arg, (uint32_t)pid);
	return NULL;
}

/* Everything on the machine may have been missed: every process that a probe is wanted in is looked at again, and where any may be
 * wanted, every process there is. */
static void note_lost(struct ray_follow *f)
{
	ray_code_processes *known = ray_catalogue_processes(f->t->catalogue);

	for (size_t i = 0; i < known->n; i++)
		note_pid(f, (uint32_t)known->at[i]->pid);
	if (f->any_process)
		ray_error_free(ray_code_process_each_now(f->t->catalogue, false, note_one, f));
}

/* What started after the descriptions were matched, and before we were told of such things. */
static struct ray_error *note_missed(struct ray_follow *f)
{
	return f->any_process ? ray_code_process_each_now(f->t->catalogue, true, note_one, f) : NULL;
}

/* The first words of a mapping's and a name's record are pid and tid, of a fork's and an exit's pid, parent's pid and tid. */
static void take_record(struct ray_follow *f, const struct perf_event_header *header, const uint32_t *words,
			uint64_t time)
{
	uint32_t type = header->type;

	if (type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2)
		note_pid(f, words[0]);
	else if (type == PERF_RECORD_FORK && words[0] != words[1])
		note_pid(f, words[0]);
	else if (type == PERF_RECORD_COMM && (header->misc & PERF_RECORD_MISC_COMM_EXEC))
		note_exec(f, words[0], time);
	else if (type == PERF_RECORD_EXIT && words[0] == words[2])
		(void)ray_vec_push(&f->ended,
				   (struct ended){ (pid_t)words[0], time }); /* else its probes hang on, in nothing */
	else if (type == PERF_RECORD_LOST)
		note_lost(f);
}

/* Copies, as a record may wrap around the end. */
static void copy_out(const struct ring *r, uint64_t at, void *to, size_t size)
{
	const char *data = (const char *)r->head + page_size();
	size_t mask = PAGES * page_size() - 1;

	for (size_t i = 0; i < size; i++)
		((char *)to)[i] = data[(at + i) & mask];
}

static void read_ring(struct ray_follow *f, const struct ring *r)
{
	uint64_t end = __atomic_load_n(&r->head->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = r->head->data_tail;
	struct perf_event_header header;
	uint32_t words[3];
	uint64_t time;

	while (end - at >= sizeof(header) + sizeof(words) + sizeof(time)) {
		copy_out(r, at, &header, sizeof(header));
		if (header.size < sizeof(header) + sizeof(words) + sizeof(time) || header.size > end - at)
			break;
		copy_out(r, at + sizeof(header), words, sizeof(words));
		copy_out(r, at + header.size - sizeof(time), &time, sizeof(time));
		take_record(f, &header, words, time);
		at += header.size;
	}
	__atomic_store_n(&r->head->data_tail, end, __ATOMIC_RELEASE);
}

/* ---- looking again ---- */

static bool has_probe(const struct ray_clause *clause, const struct ray_probe *probe)
{
	for (size_t i = 0; i < clause->probes.n; i++)
		if (clause->probes.at[i] == probe)
			return true;
	return false;
}

/* The clause's probes that it had not before; they are its own from now on, and in `added`. */
static struct ray_error *match_clause(struct ray_follow *f, struct ray_clause *clause, pid_t pid, ray_probe_list *added)
{
	ray_probe_list found = { 0 };
	struct ray_error *err = NULL;

	for (size_t i = 0; i < clause->spec_count && !err; i++)
		err = ray_catalogue_match_process(f->t->catalogue, &clause->specs[i], pid, &found);
	for (size_t i = 0; i < found.n && !err; i++) {
		if (has_probe(clause, found.at[i]))
			continue;
		if (!ray_vec_push(&clause->probes, found.at[i]) || !ray_vec_push(added, found.at[i]))
			err = &ray_enomem;
	}
	ray_vec_free(&found);
	return err;
}

/* A process has ended, or is another program now: what comes next under its number gets its probes anew. */
static void forget(struct ray_trace *t, pid_t pid)
{
	struct ray_program *program = t->program;

	for (size_t i = 0; i < program->clauses.n; i++) {
		struct ray_clause *clause = program->clauses.at[i];
		size_t n = 0;

		for (size_t k = 0; k < clause->probes.n; k++)
			if (clause->probes.at[k]->pid != pid)
				clause->probes.at[n++] = clause->probes.at[k];
		clause->probes.n = n;
	}
	ray_links_forget(t, &pid, 1);
	ray_watch_forget(t, pid, ray_kin_has(t, pid));
	ray_catalogue_forget(t->catalogue, pid);
}

void ray_follow_replace(struct ray_trace *t, pid_t pid)
{
	for (size_t i = 0; i < t->watches.n; i++)
		if (t->watches.at[i]->pid == pid) {
			forget(t, pid);
			break;
		}
	if (t->follow)
		note_pid(t->follow, (uint32_t)pid);
}

static struct ray_error *look_at(struct ray_follow *f, pid_t pid)
{
	struct ray_program *program = f->t->program;
	ray_probe_list added = { 0 };
	struct ray_error *err = NULL;

	ray_code_process_forget(f->t->catalogue, pid);
	if (ray_code_process_is_other(f->t->catalogue, pid)) {
		forget(f->t, pid);
	}
	for (size_t i = 0; i < program->clauses.n && !err; i++)
		if (clause_may_grow(f->t, program->clauses.at[i]))
			err = match_clause(f, program->clauses.at[i], pid, &added);
	for (size_t i = 0; i < added.n && !err; i++) {
		bool is_twice = false;

		for (size_t k = 0; k < i; k++)
			is_twice |= added.at[k] == added.at[i];
		if (!is_twice)
			err = ray_entries_add_late(f->t, added.at[i]);
	}
	if (!err)
		err = ray_watch_grow(f->t, pid);
	if (!err)
		err = ray_uprobes_attach_late(f->t);
	if (!err)
		err = ray_progeny_meet(f->t, pid);
	ray_code_process_let_go(f->t->catalogue, pid);
	ray_vec_free(&added);
	return err;
}

/* Whether it is watched as what it has become since. */
static bool is_born_since(const struct ray_trace *t, const struct ended *e)
{
	for (size_t i = 0; i < t->watches.n; i++)
		if (t->watches.at[i]->pid == e->pid && t->watches.at[i]->born > e->time)
			return true;
	return false;
}

static void forget_ended(struct ray_follow *f)
{
	RAY_VEC(pid_t) pids = { 0 };

	for (size_t i = 0; i < f->ended.n; i++)
		if (!is_born_since(f->t, &f->ended.at[i]))
			(void)ray_vec_push(&pids, f->ended.at[i].pid); /* without memory its links stay until the end */
	/* All links at once, as the kernel waits for each time; and first: points that are free may be used again. */
	ray_links_forget(f->t, pids.at, pids.n);
	for (size_t i = 0; i < pids.n; i++)
		forget(f->t, pids.at[i]);
	ray_vec_free(&pids);
	f->ended.n = 0;
}

struct ray_error *ray_follow_work(struct ray_follow *f)
{
	struct ray_error *err = NULL;

	for (size_t i = 0; i < f->rings.n; i++)
		read_ring(f, &f->rings.at[i]);
	err = ray_kin_adopt(f->t);
	forget_ended(f);
	for (size_t i = 0; i < f->changed.n && !err; i++)
		err = look_at(f, f->changed.at[i]);
	f->changed.n = 0;
	return err;
}

/* ---- all ---- */

struct ray_error *ray_follow_create(struct ray_trace *t, struct ray_follow **ret)
{
	ray_auto_cpus cpus = { 0 };
	struct ray_error *err;
	struct ray_follow *f;

	*ret = NULL;
	if (!ray_trace_may_grow(t, NULL) && !ray_progeny_grows(t))
		return NULL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return &ray_enomem;
	f->t = t;
	f->any_process = wants_any_process(t) || ray_progeny_grows(t);
	err = ray_cpus_online(&cpus);
	for (size_t i = 0; i < cpus.n && !err; i++)
		err = open_ring(f, cpus.at[i]);
	if (!err)
		err = note_missed(f);
	if (err)
		ray_follow_free(f);
	else
		*ret = f;
	return err;
}
