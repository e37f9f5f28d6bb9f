/* load.c - gives a linked program to the kernel, and says in words why it was not taken.
 * SPDX-License-Identifier: MIT
 *
 * Loads without a log first: a log costs time, and a good program can overflow it. Only a refused one is loaded again for
 * its log. What the verifier refuses is a defect of noderay, never of the script. */
#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "engine/attach_multi.h"
#include "engine/internal.h"
#include "engine/kernel_btf.h"
#include "engine/link.h"
#include "engine/object.h"
#include "kern/runtime.h"

enum { LOG_SIZE = 16 << 20, WORTH_A_THREAD = 1000 /* instructions */ };

struct ray_error *ray_trace_object(struct ray_trace *t, const struct ray_object **ret)
{
	struct ray_error *err = NULL;

	if (!t->object)
		err = ray_object_create(ray_runtime_object,
					(uintptr_t)ray_runtime_object_end - (uintptr_t)ray_runtime_object, &t->object);
	*ret = t->object;
	return err;
}

void ray_load_close(struct ray_trace *t)
{
	ray_object_free(ray_take(t->object));
	ray_kernel_btf_free(ray_take(t->kernel_btf));
	if (t->btf > 0)
		close(t->btf);
	t->btf = 0;
}

struct ray_error *ray_load_denied(const char *what)
{
	return ray_error_remedy(ray_error_new(RAY_DENIED, "%s: Operation not permitted", what),
				"run as root, or with the capabilities CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE:\n"
				"  sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace=ep $(command -v noderay)");
}

static struct ray_error *load_types(struct ray_trace *t)
{
	int fd;

	if (t->btf > 0)
		return NULL;
	fd = bpf_btf_load(t->object->btf, t->object->btf_size, NULL);
	if (fd < 0 && (errno == EPERM || errno == EACCES))
		return ray_load_denied("cannot load BPF programs");
	if (fd < 0)
		return ray_error_errno(RAY_FAILED, errno, "the kernel does not take the types of the BPF runtime");
	t->btf = fd;
	return NULL;
}

/* ---- values for the linker ---- */

static struct ray_error *give_map(void *arg, uint32_t number, int *fd_ret)
{
	const struct ray_trace *t = arg;

	if (number < RAY_LINK_MAP_COUNT)
		*fd_ret = t->maps[number];
	else if (number >= RAY_MAP_OWN && number - RAY_MAP_OWN < t->plan->map_count)
		*fd_ret = t->own_maps[number - RAY_MAP_OWN];
	if (*fd_ret < 0)
		return ray_error_new(RAY_FAILED, "internal error: map %u is used but was not made", number);
	return NULL;
}

static struct ray_error *give_constant(void *arg, uint32_t number, uint64_t *ret)
{
	return ray_link_constant(arg, number, ret);
}

/* ---- loading ---- */

static int load_once(const struct ray_trace *t, const struct ray_entry *e, const struct ray_linked *l, char *log,
		     size_t log_size)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_btf_fd = (uint32_t)t->btf, .func_info = l->infos.at,
		    .func_info_cnt = (uint32_t)l->infos.n, .func_info_rec_size = sizeof(struct bpf_func_info),
		    .log_buf = log, .log_size = (uint32_t)log_size, .log_level = log ? 1 : 0,
		    .expected_attach_type = (enum bpf_attach_type)e->expected_attach_type,
		    .attach_btf_id = e->attach_type_id);

	return bpf_prog_load((enum bpf_prog_type)e->prog_type, "noderay", "Dual MIT/GPL", l->insns.at, l->insns.n,
			     &opts);
}

/* The name of the file with the log, or NULL. */
static char *save_log(const char *log)
{
	const char *directory = getenv("TMPDIR");
	ray_auto_memory char *path = NULL;
	size_t length = strlen(log);
	ray_auto_fd int fd = -1;

	if (asprintf(&path, "%s/noderay-verifier-XXXXXX", directory && *directory ? directory : "/tmp") < 0)
		return NULL;
	fd = mkstemp(path);
	if (fd < 0 || write(fd, log, length) != (ssize_t)length)
		return NULL;
	return ray_take(path);
}

static const char *last_line(char *log)
{
	char *end = log + strlen(log), *line;

	/* The last lines only count what was looked at. */
	for (;;) {
		while (end > log && end[-1] == '\n')
			*--end = '\0';
		line = memrchr(log, '\n', (size_t)(end - log));
		line = line ? line + 1 : log;
		if (line == log || (strncmp(line, "processed ", 10) && strncmp(line, "verification time", 17) &&
				    strncmp(line, "stack depth", 11)))
			return line;
		end = line;
		*end = '\0';
	}
}

static struct ray_error *refused(struct ray_trace *t, struct ray_entry *e, const struct ray_linked *l, int errnum)
{
	size_t size = t->options.bpflogsize > LOG_SIZE ? t->options.bpflogsize : LOG_SIZE;
	ray_auto_memory char *log = calloc(1, size);
	ray_auto_memory char *path = NULL;

	if (errnum == EPERM)
		return ray_load_denied("cannot load BPF programs");
	if (!log)
		return &ray_enomem;
	e->fd = load_once(t, e, l, log, size);
	if (e->fd >= 0)
		return NULL; /* it was short of memory for a moment */
	if (strstr(log, "cannot use helper bpf_probe_write_user"))
		return ray_error_remedy(
			ray_error_new(RAY_FAILED,
				      "copyout() and copyoutstr(): this kernel lets nobody write into a process"),
			"it is locked down (/sys/kernel/security/lockdown), or CAP_SYS_ADMIN is missing");
	if (!*log)
		return ray_error_errno(RAY_FAILED, errnum, "the kernel does not take the program for %s", e->code.name);
	path = save_log(log);
	return ray_error_remedy(
		ray_error_new(RAY_FAILED, "the kernel's verifier refuses the program for %s: %s", e->code.name,
			      last_line(log)),
		"this is a defect of noderay, not of the script; please report it with the script and the log%s%s",
		path ? " in " : ", which could not be written", path ? path : "");
}

/* ---- all of them ---- */

/* One program on its way into the kernel. */
struct loading {
	struct ray_trace *t;
	struct ray_entry *e;
	struct ray_linked l;
	pthread_t thread;
	bool has_thread;
	int errnum;
};

/* Raw tracepoints whose arguments the verifier knows: a program looks at the registers of a call without a copy of them. */
static struct ray_error *type_syscalls(struct ray_trace *t, struct ray_entry *e)
{
	if (e->prog_type != BPF_PROG_TYPE_TRACING)
		return NULL;
	e->expected_attach_type = BPF_TRACE_RAW_TP;
	return ray_kernel_typedef(t, e->kind == RAY_SITE_SYSCALL_ENTER ? "btf_trace_sys_enter" : "btf_trace_sys_exit",
				  &e->attach_type_id);
}

static struct ray_error *link_entry(struct loading *one)
{
	const struct ray_link_values values = { give_map, give_constant, one->t };
	const struct ray_object *object;
	struct ray_error *err = ray_trace_object(one->t, &object);

	if ((one->e->kind == RAY_SITE_UPROBE || one->e->kind == RAY_SITE_URETPROBE) && ray_uprobe_multi_works())
		one->e->expected_attach_type = RAY_ATTACH_UPROBE_MULTI;
	if (!err)
		err = ray_link_collect(object, &one->e->code, &one->l);
	if (!err)
		err = ray_link_finish(object, &values, &one->l);
	if (!err)
		err = type_syscalls(one->t, one->e);
	return err ? err : load_types(one->t);
}

static void *load_one(void *arg)
{
	struct loading *one = arg;

	one->e->fd = load_once(one->t, one->e, &one->l, NULL, 0);
	one->errnum = one->e->fd < 0 ? errno : 0;
	return NULL;
}

struct ray_error *ray_entry_load(struct ray_trace *t, struct ray_entry *e)
{
	struct loading one = { .t = t, .e = e };
	struct ray_error *err = link_entry(&one);

	if (!err)
		load_one(&one);
	if (!err && one.errnum)
		err = refused(t, e, &one.l, one.errnum);
	ray_linked_deinit(&one.l);
	return err;
}

/* The kernel takes its time to verify a large program, and verifies several at a time. */
static void load_start(struct loading *one)
{
	one->has_thread = one->l.insns.n >= WORTH_A_THREAD && !pthread_create(&one->thread, NULL, load_one, one);
	if (!one->has_thread)
		load_one(one);
}

struct ray_error *ray_entries_load(struct ray_trace *t)
{
	struct loading *all = calloc(t->entries.n + 1, sizeof(*all));
	struct ray_error *err = all ? NULL : &ray_enomem;
	size_t linked = 0;

	for (; linked < t->entries.n && !err; linked++) {
		all[linked] = (struct loading){ .t = t, .e = t->entries.at[linked] };
		err = link_entry(&all[linked]);
	}
	for (size_t i = 0; i < linked && !err; i++)
		load_start(&all[i]);
	for (size_t i = 0; i < linked; i++)
		if (all[i].has_thread)
			pthread_join(all[i].thread, NULL);
	for (size_t i = 0; i < linked && !err; i++)
		if (all[i].errnum)
			err = refused(t, all[i].e, &all[i].l, all[i].errnum);
	for (size_t i = 0; i < linked; i++)
		ray_linked_deinit(&all[i].l);
	free(all);
	return err;
}
