/* progeny.c - see progeny.h. SPDX-License-Identifier: MIT */
#include "engine/progeny.h"

#include <bpf/bpf.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "engine/bits.h"
#include "engine/enter.h"
#include "probe/node_symbols.h"
#include "target/proc.h"

enum { KERNEL_MINOR_BITS = 20 /* of a device's number */ };

bool ray_progeny_is_wanted(const struct ray_trace *t)
{
	size_t count;

	if (t->options.follow == RAY_FOLLOW_ALL || !t->catalogue)
		return false;
	ray_catalogue_pids(t->catalogue, &count);
	return count > 0 || t->options.follow == RAY_FOLLOW_NODES;
}

bool ray_progeny_grows(const struct ray_trace *t)
{
	return t->catalogue && t->options.follow == RAY_FOLLOW_NODES;
}

struct ray_error *ray_program_key_of(pid_t pid, struct ray_program_key *ret)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (stat(path, &st))
		return ray_error_errno(RAY_FAILED, errno, "cannot tell what process %d runs", pid);
	*ret = (struct ray_program_key){ .inode = st.st_ino,
					 .dev = major(st.st_dev) << KERNEL_MINOR_BITS | minor(st.st_dev) };
	return NULL;
}

static bool follows_children(const struct ray_trace *t)
{
	return ray_progeny_is_wanted(t) && t->options.follow != RAY_FOLLOW_TARGETS;
}

struct ray_error *ray_keeper_add(struct ray_trace *t, const char *name, int argument, const char *function)
{
	struct ray_entry *e = ray_arena_alloc(t->arena, sizeof(*e));

	if (!e)
		return &ray_enomem;
	e->fd = -1;
	e->kind = RAY_SITE_RAW_TRACEPOINT;
	e->prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	e->group = "sched";
	e->name = name;
	e->code.name = name;
	ray_piece_emit(&e->code, RAY_LOAD(BPF_DW, BPF_REG_1, BPF_REG_1, 8 * argument));
	ray_piece_call_runtime(&e->code, function);
	ray_piece_emit(&e->code, RAY_MOV_IMM(BPF_REG_0, 0));
	ray_piece_emit(&e->code, RAY_EXIT_INSN);
	return ray_piece_finish(&e->code) && ray_vec_push(&t->entries, e) ? NULL : &ray_enomem;
}

struct ray_error *ray_progeny_prepare(struct ray_trace *t)
{
	struct ray_error *err;

	if (!ray_progeny_is_wanted(t))
		return NULL;
	err = follows_children(t) ? ray_keeper_add(t, "sched_process_fork", 1, "ray_progeny_fork") : NULL;
	if (!err && ray_progeny_grows(t))
		err = ray_keeper_add(t, "sched_process_exec", 0, "ray_progeny_exec");
	if (!err)
		err = ray_keeper_add(t, "sched_process_free", 0, "ray_progeny_free");
	return err;
}

static bool has(const struct ray_trace *t, uint32_t tgid)
{
	return t->targets && ray_bits_have(t->targets, tgid);
}

/* It is a node: it is followed, and so is whatever runs the same file. */
static void follow_node(struct ray_trace *t, pid_t pid)
{
	ray_auto(ray_error, err) = NULL;
	struct ray_program_key key;
	uint32_t one = 1;

	ray_bits_add(t->targets, (uint32_t)pid);
	err = ray_program_key_of(pid, &key);
	if (!err) /* if there is no room, others are followed when they are looked at */
		bpf_map_update_elem(t->maps[RAY_LINK_PROGRAMS], &key, &one, BPF_ANY);
}

struct ray_error *ray_progeny_meet(struct ray_trace *t, pid_t pid)
{
	const struct ray_node_about *about = NULL;

	if (!ray_progeny_grows(t) || !t->targets)
		return NULL;
	/* What cannot be looked at any more has ended. */
	ray_error_free(ray_node_about(t->catalogue, pid, &about));
	if (about)
		follow_node(t, pid);
	return NULL;
}

static struct ray_error *follow_nodes(struct ray_trace *t)
{
	size_t count, hidden;
	struct ray_error *err;
	int *pids;

	err = ray_node_list(&pids, &count, &hidden);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++)
		follow_node(t, pids[i]);
	free(pids);
	return NULL;
}

struct ray_error *ray_progeny_begin(struct ray_trace *t)
{
	const pid_t *pids;
	size_t count;

	if (!ray_progeny_is_wanted(t) || !t->targets)
		return NULL;
	pids = ray_catalogue_pids(t->catalogue, &count);
	for (size_t i = 0; i < count; i++)
		ray_bits_add(t->targets, (uint32_t)pids[i]);
	return ray_progeny_grows(t) ? follow_nodes(t) : NULL;
}

/* ---- children that are there already ---- */

struct kinship {
	uint32_t pid, parent;
};

/* Adds what has a followed parent; whether there was any. */
static bool add_children(struct ray_trace *t, struct kinship *all, size_t count)
{
	bool is_any = false;

	for (size_t i = 0; i < count; i++) {
		if (!all[i].parent || !has(t, all[i].parent))
			continue;
		all[i].parent = 0;
		is_any = true;
		ray_bits_add(t->targets, all[i].pid);
	}
	return is_any;
}

/* Before there is a map: up through the parents. */
static bool is_descendant(const struct ray_trace *t, pid_t pid)
{
	size_t count;
	const pid_t *pids = ray_catalogue_pids(t->catalogue, &count);

	if (follows_children(t))
		return ray_proc_is_progeny(pid, pids, count);
	for (size_t i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

bool ray_progeny_knows(const struct ray_trace *t, pid_t pid)
{
	return !ray_progeny_is_wanted(t) || ray_progeny_grows(t) || has(t, (uint32_t)pid);
}

bool ray_progeny_includes(const struct ray_trace *t, pid_t pid)
{
	return ray_progeny_knows(t, pid) || is_descendant(t, pid);
}

struct ray_error *ray_progeny_complete(struct ray_trace *t)
{
	RAY_VEC(struct kinship) all = { 0 };
	struct ray_error *err = NULL;
	struct dirent *entry;
	DIR *proc;

	if (!follows_children(t) || !t->targets)
		return NULL;
	proc = opendir("/proc");
	if (!proc)
		return ray_error_errno(RAY_FAILED, errno, "cannot read /proc");
	while (!err && (entry = readdir(proc))) {
		pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? (pid_t)atoi(entry->d_name) : 0;

		if (pid && !ray_vec_push(&all, (struct kinship){ (uint32_t)pid, (uint32_t)ray_proc_parent(pid) }))
			err = &ray_enomem;
	}
	closedir(proc);
	while (!err && add_children(t, all.at, all.n))
		; /* until there are no grandchildren left */
	ray_vec_free(&all);
	return err;
}
