/* ticker.c - registers and stacks of running threads, by the kernel's CPU clock. See tick.h. SPDX-License-Identifier: MIT
 *
 * One event for each thread and CPU, since only then may threads and processes that it starts inherit it; all events of a CPU write to one ring.
 * A ring takes what every user may lock by default (kernel.perf_event_mlock_kb), and less where others of the same user took it. */
#include <asm/perf_regs.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/vec.h"
#include "target/proc.h"
#include "target/tick.h"

enum {
	/* What is deeper is read from the thread itself, if it is still there: 32 KiB are some 200 frames of JavaScript. */
	STACK_BYTES = 32 << 10,
	MOST_PAGES = 128, /* of a ring, a power of two */
	LEAST_PAGES = 16, /* it must hold one look */
	ROUNDS = 8,	  /* a thread may start others while its own events are made */
	REGISTERS = 17,
	RECORD_BYTES = 1 << 16,
	SEEN = 1 << 12, /* a power of two */
};

#define BIT(name) (1ull << PERF_REG_X86_##name)
#define USER_REGISTERS                                                                                                 \
	(BIT(AX) | BIT(BX) | BIT(CX) | BIT(DX) | BIT(SI) | BIT(DI) | BIT(BP) | BIT(SP) | BIT(IP) | BIT(R8) | BIT(R9) | \
	 BIT(R10) | BIT(R11) | BIT(R12) | BIT(R13) | BIT(R14) | BIT(R15))

struct ring {
	int cpu, fd;			   /* fd: whose ring it is; -1: none yet */
	struct perf_event_mmap_page *page; /* NULL: none yet */
	size_t size;			   /* of the data */
	uint64_t tail;
	uint64_t time; /* of its first record; UINT64_MAX: there is none */
};

/* When a thread was last seen on a CPU. */
struct seen {
	int tid, cpu;
	uint64_t time;
};

struct ray_ticker {
	uint64_t period_ns;
	RAY_VEC(struct ring) rings; /* one per CPU */
	RAY_VEC(int) events;
	RAY_VEC(int) tids; /* that are watched by events of their own */
	RAY_VEC(struct pollfd) polls;
	uint64_t lost;
	size_t page_size;
	struct seen seen[SEEN];
	_Alignas(8) unsigned char record[RECORD_BYTES]; /* the one that was given last */
};

static int open_event(const struct ray_ticker *t, pid_t tid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = t->period_ns,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = USER_REGISTERS,
		.sample_stack_user = STACK_BYTES,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.inherit = 1,
		.comm = 1,
		.comm_exec = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.wakeup_events = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* ---- opening ---- */

static struct ray_error *denied(int errnum)
{
	char text[16];

	if (errnum != EACCES && errnum != EPERM && errnum != ENOSYS)
		return ray_error_errno(RAY_FAILED, errnum, "cannot sample by the kernel's clock");
	ray_proc_read(text, sizeof(text), "/proc/sys/kernel/perf_event_paranoid");
	if (atoi(text) > 2)
		return ray_error_new(RAY_DENIED, "kernel.perf_event_paranoid is %d, which forbids perf events",
				     atoi(text));
	return ray_error_new(RAY_DENIED, "perf_event_open: %s%s", strerror(errnum),
			     errnum == ENOSYS || errnum == EPERM ? " (a seccomp filter, as in containers?)" : "");
}

static bool map_ring(struct ray_ticker *t, struct ring *r, int fd)
{
	for (size_t pages = MOST_PAGES; pages >= LEAST_PAGES; pages /= 2) {
		void *page = mmap(NULL, (pages + 1) * t->page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (page == MAP_FAILED)
			continue;
		r->page = page;
		r->size = pages * t->page_size;
		r->fd = fd;
		return ray_vec_push(&t->polls, (struct pollfd){ .fd = fd, .events = POLLIN });
	}
	return false;
}

static struct ray_error *add_event(struct ray_ticker *t, struct ring *r, pid_t tid)
{
	int fd = open_event(t, tid, r->cpu);
	struct ray_error *err;

	if (fd < 0 && (errno == ENODEV || errno == ESRCH)) /* the CPU is off; the thread has ended */
		return NULL;
	if (fd < 0 && errno == EMFILE)
		return ray_error_remedy(ray_error_new(RAY_FAILED, "too many files: one for each thread and CPU"),
					"raise the limit (ulimit -n)");
	if (fd < 0)
		return denied(errno);
	if (!ray_vec_push(&t->events, fd)) {
		close(fd);
		return &ray_enomem;
	}
	if (r->page)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd) ?
			       ray_error_errno(RAY_FAILED, errno, "cannot sample by the kernel's clock") :
			       NULL;
	if (map_ring(t, r, fd))
		return NULL;
	err = ray_error_new(RAY_DENIED, "no memory for samples: %s", strerror(errno));
	return ray_error_remedy(err, "raise the limit (ulimit -l, or sysctl kernel.perf_event_mlock_kb)");
}

static bool has_tid(const struct ray_ticker *t, int tid)
{
	for (size_t i = t->tids.n; i-- > 0;)
		if (t->tids.at[i] == tid)
			return true;
	return false;
}

static struct ray_error *add_thread(struct ray_ticker *t, pid_t tid)
{
	struct ray_error *err = NULL;

	for (size_t i = 0; i < t->rings.n && !err; i++)
		err = add_event(t, &t->rings.at[i], tid);
	if (!err && !ray_vec_push(&t->tids, tid))
		return &ray_enomem;
	return err;
}

/* Threads that have no events yet: none of those that started them had any. */
static struct ray_error *add_threads(struct ray_ticker *t, pid_t pid, size_t *added_ret)
{
	struct ray_error *err = NULL;
	struct dirent *e;
	char path[32];
	DIR *dir;

	*added_ret = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (!err && dir && (e = readdir(dir))) {
		int tid = atoi(e->d_name);

		if (tid <= 0 || has_tid(t, tid))
			continue;
		err = add_thread(t, tid);
		++*added_ret;
	}
	if (dir)
		closedir(dir);
	return err;
}

struct ray_error *ray_ticker_add(struct ray_ticker *t, pid_t pid)
{
	struct ray_error *err = NULL;
	size_t added = 1;

	/* Threads that began meanwhile: of those that inherited as well, is_repeated() takes one only. */
	for (int i = 0; i < ROUNDS && added && !err; i++)
		err = add_threads(t, pid, &added);
	return err;
}

struct ray_error *ray_ticker_create(uint64_t period_ns, struct ray_ticker **ret)
{
	ray_auto(ray_ticker, t) = calloc(1, sizeof(*t));
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct rlimit files;

	if (!t)
		return &ray_enomem;
	t->period_ns = period_ns;
	t->page_size = (size_t)sysconf(_SC_PAGESIZE);
	for (int i = 0; i < cpus; i++)
		if (!ray_vec_push(&t->rings, (struct ring){ .cpu = i, .fd = -1 }))
			return &ray_enomem;
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	*ret = ray_take(t);
	return NULL;
}

void ray_ticker_free(struct ray_ticker *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->rings.n; i++)
		if (t->rings.at[i].page)
			munmap(t->rings.at[i].page, t->rings.at[i].size + t->page_size);
	for (size_t i = 0; i < t->events.n; i++)
		close(t->events.at[i]);
	ray_vec_free(&t->rings);
	ray_vec_free(&t->events);
	ray_vec_free(&t->tids);
	ray_vec_free(&t->polls);
	free(t);
}

/* ---- taking ---- */

/* Copies out of the ring, which may end in between. */
static void copy_out(const struct ray_ticker *t, const struct ring *r, uint64_t from, void *to, size_t size)
{
	const unsigned char *data = (const unsigned char *)r->page + t->page_size;
	size_t at = (size_t)(from & (r->size - 1)), first = r->size - at < size ? r->size - at : size;

	memcpy(to, data + at, first);
	memcpy((unsigned char *)to + first, data, size - first);
}

/* PERF_SAMPLE_TID and TIME: the first words of a look, and the last of every other record. */
struct id {
	uint32_t pid, tid;
	uint64_t time;
};

/* When the first record of a ring was made. */
static void look_at(struct ray_ticker *t, struct ring *r)
{
	struct perf_event_header h;
	uint64_t head;
	struct id id;

	r->time = UINT64_MAX;
	if (!r->page)
		return;
	head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	if (head - r->tail < sizeof(h))
		return;
	copy_out(t, r, r->tail, &h, sizeof(h));
	if (h.size < sizeof(h) || h.size > head - r->tail) { /* never, but it must not hang us */
		r->tail = head;
		return;
	}
	r->time = 0;
	if (h.size < sizeof(h) + sizeof(id))
		return;
	copy_out(t, r, r->tail + (h.type == PERF_RECORD_SAMPLE ? sizeof(h) : h.size - sizeof(id)), &id, sizeof(id));
	r->time = id.time;
}

static struct ring *oldest(struct ray_ticker *t)
{
	struct ring *found = NULL;

	for (size_t i = 0; i < t->rings.n; i++) {
		struct ring *r = &t->rings.at[i];

		look_at(t, r);
		if (r->time != UINT64_MAX && (!found || r->time < found->time))
			found = r;
	}
	return found;
}

/* In the order of the bits, which is not that of the DWARF numbers. */
static void set_registers(const uint64_t v[REGISTERS], struct user_regs_struct *regs)
{
	*regs = (struct user_regs_struct){ .rax = v[0],
					   .rbx = v[1],
					   .rcx = v[2],
					   .rdx = v[3],
					   .rsi = v[4],
					   .rdi = v[5],
					   .rbp = v[6],
					   .rsp = v[7],
					   .rip = v[8],
					   .r8 = v[9],
					   .r9 = v[10],
					   .r10 = v[11],
					   .r11 = v[12],
					   .r12 = v[13],
					   .r13 = v[14],
					   .r14 = v[15],
					   .r15 = v[16] };
}

/* A thread that has events of its own and inherited others: one event is never so early. */
static bool is_repeated(struct ray_ticker *t, int cpu, const struct id *id)
{
	struct seen *s = &t->seen[(id->tid * 31u + (unsigned)cpu) & (SEEN - 1)];

	if (s->tid == (int)id->tid && s->cpu == cpu && id->time - s->time < t->period_ns / 2)
		return true;
	*s = (struct seen){ (int)id->tid, cpu, id->time };
	return false;
}

/* id, abi, registers, size of the stack, the stack, how much of it is real. */
static bool take_look(struct ray_ticker *t, int cpu, const struct perf_event_header *h, struct ray_tick *ret)
{
	const uint64_t *words = (const void *)(t->record + sizeof(*h));
	size_t count = (h->size - sizeof(*h)) / 8, stack = 2 + 1 + REGISTERS + 1;
	uint64_t room, real;
	struct id id;

	if (count < stack || words[2] != PERF_SAMPLE_REGS_ABI_64)
		return false;
	memcpy(&id, words, sizeof(id));
	room = words[stack - 1];
	if (room % 8 || (room && room / 8 + 1 > count - stack))
		return false;
	real = room ? words[stack + room / 8] : 0;
	if (real > room || is_repeated(t, cpu, &id))
		return false;
	ret->pid = (int)id.pid;
	ret->tid = (int)id.tid;
	ret->time_ns = id.time;
	ret->stack = (const unsigned char *)(words + stack);
	ret->size = (size_t)real;
	set_registers(words + 3, &ret->registers);
	return true;
}

static bool take_record(struct ray_ticker *t, int cpu, const struct perf_event_header *h, struct ray_tick *ret)
{
	const uint64_t *words = (const void *)(t->record + sizeof(*h));
	const uint32_t *ids = (const void *)words;

	memset(ret, 0, sizeof(*ret));
	switch (h->type) {
	case PERF_RECORD_SAMPLE:
		return take_look(t, cpu, h, ret);
	case PERF_RECORD_LOST: /* id, how many */
		if (h->size >= sizeof(*h) + 16)
			t->lost += words[1];
		return false;
	case PERF_RECORD_COMM: /* pid, tid, name */
		ret->is_exec = h->misc & PERF_RECORD_MISC_COMM_EXEC && h->size >= sizeof(*h) + 8;
		ret->pid = (int)ids[0];
		ret->tid = (int)ids[1];
		return ret->is_exec;
	default:
		return false;
	}
}

bool ray_ticker_next(struct ray_ticker *t, struct ray_tick *ret)
{
	struct perf_event_header h;
	struct ring *r;

	while ((r = oldest(t))) {
		copy_out(t, r, r->tail, &h, sizeof(h));
		copy_out(t, r, r->tail, t->record, h.size);
		r->tail += h.size;
		__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
		if (take_record(t, r->cpu, &h, ret))
			return true;
	}
	return false;
}

void ray_ticker_wait(struct ray_ticker *t, int timeout_ms)
{
	poll(t->polls.at, t->polls.n, timeout_ms);
}

uint64_t ray_ticker_lost(const struct ray_ticker *t)
{
	return t->lost;
}
