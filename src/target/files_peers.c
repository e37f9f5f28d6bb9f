/* files_peers.c - looks for the other ends of pipes and unix sockets. See files_peers.h.
 * SPDX-License-Identifier: MIT
 *
 * The kernel does not say who holds a pipe, only what each process holds: so the links of every
 * process that we may look at are read, nearest pids first (a parent and its children are near), until
 * every end was found or the budget is used up. Nothing is opened but directories. */
#include "target/files_peers.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/search.h"
#include "base/vec.h"

enum { MAX_LINKS = 100000, MAX_PEERS = 8 };

/* One end that is looked for: a pipe's inode with the opposite direction, or a socket's inode. */
struct wanted {
	uint64_t inode;
	bool is_pipe;
	bool writes; /* pipe: the end that is looked for writes */
	size_t file; /* index */
};

struct search {
	struct ray_files *files;
	RAY_VEC(struct wanted) wanted; /* sorted by inode */
	size_t links_left;
	size_t open; /* wanted ends with no holder found yet */
};

static bool writes(const struct ray_file *f)
{
	return (f->info.flags & O_ACCMODE) == O_WRONLY;
}

static int by_inode(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

static bool collect(struct search *s)
{
	struct ray_file *f;
	size_t i;

	for (i = 0; i < s->files->n; i++) {
		f = &s->files->at[i];
		if (f->type == RAY_FILE_PIPE && f->inode && f->info.has_flags) {
			if (!ray_vec_push(&s->wanted, (struct wanted){ f->inode, true, !writes(f), i }))
				return false;
		} else if (f->socket && f->socket->peer) {
			if (!ray_vec_push(&s->wanted, (struct wanted){ f->socket->peer, false, false, i }))
				return false;
		}
	}
	if (s->wanted.n)
		qsort(s->wanted.at, s->wanted.n, sizeof(*s->wanted.at), by_inode);
	s->open = s->wanted.n;
	return true;
}

static void add_peer(struct search *s, struct ray_file *f, const struct ray_file_peer *peer)
{
	struct ray_file_peer *peers = (struct ray_file_peer *)f->peers;

	if (f->peer_count >= MAX_PEERS)
		return;
	if (!peers) {
		peers = ray_arena_alloc(s->files->arena, MAX_PEERS * sizeof(*peers));
		if (!peers)
			return;
		f->peers = peers;
	}
	if (!f->peer_count)
		s->open--;
	peers[f->peer_count++] = *peer;
}

/* Some process holds this: is it the end that somebody looks for? */
static void offer(struct search *s, uint64_t inode, bool is_pipe, bool end_writes, const struct ray_file_peer *peer)
{
	size_t i = ray_search(s->wanted.at, s->wanted.n, one, one->inode < inode);

	for (; i < s->wanted.n && s->wanted.at[i].inode == inode; i++) {
		const struct wanted *w = &s->wanted.at[i];

		if (w->is_pipe == is_pipe && (!is_pipe || w->writes == end_writes))
			add_peer(s, &s->files->at[w->file], peer);
	}
}

static void search_self(struct search *s, int pid)
{
	struct ray_file_peer peer = { .pid = pid, .inner_pid = pid, .comm = "" };
	const struct ray_file *f;
	size_t i;

	for (i = 0; i < s->files->n; i++) {
		f = &s->files->at[i];
		peer.fd = f->fd;
		if (f->type == RAY_FILE_PIPE)
			offer(s, f->inode, true, writes(f), &peer);
		else if (ray_file_is_socket(f->type))
			offer(s, f->inode, false, false, &peer);
	}
}

/* Name and pid inside its namespace, which is the last of those that the kernel lists. */
static void read_status(struct ray_file_peer *peer, struct ray_arena *arena)
{
	ray_auto_file FILE *f = NULL;
	const char *last;
	char line[256];

	peer->comm = "";
	peer->inner_pid = peer->pid;
	snprintf(line, sizeof(line), "/proc/%d/status", peer->pid);
	f = fopen(line, "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "Name:\t", 6))
			peer->comm = ray_arena_strdup(arena, line + 6);
		last = strncmp(line, "NSpid:", 6) ? NULL : strrchr(line, '\t');
		if (last)
			peer->inner_pid = atoi(last + 1);
	}
	if (!peer->comm)
		peer->comm = "";
}

static void search_link(struct search *s, int dir, const char *name, struct ray_file_peer *peer)
{
	enum ray_file_type type;
	uint64_t inode = 0;
	struct stat st;
	char link[64];
	ssize_t n = readlinkat(dir, name, link, sizeof(link) - 1);
	struct wanted key;

	if (n <= 0)
		return;
	link[n] = '\0';
	type = ray_file_type_from_link(link, &inode);
	if ((type != RAY_FILE_PIPE && type != RAY_FILE_SOCKET) || !inode)
		return;
	key.inode = inode;
	if (!bsearch(&key, s->wanted.at, s->wanted.n, sizeof(key), by_inode))
		return;
	/* The mode of the link itself tells how the descriptor was opened. */
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return;
	if (!peer->comm)
		read_status(peer, s->files->arena);
	peer->fd = atoi(name);
	offer(s, inode, type == RAY_FILE_PIPE, st.st_mode & S_IWUSR, peer);
}

static void search_process(struct search *s, int pid)
{
	struct ray_file_peer peer = { .pid = pid };
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return;
	while (s->links_left && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		s->links_left--;
		search_link(s, dirfd(dir), entry->d_name, &peer);
	}
	closedir(dir);
}

static int nearest_first(const void *a, const void *b, void *arg)
{
	long x = labs((long)*(const int *)a - *(const int *)arg), y = labs((long)*(const int *)b - *(const int *)arg);

	return (x > y) - (x < y);
}

static void search_others(struct search *s, int pid)
{
	RAY_VEC(int) pids = { 0 };
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	size_t i;
	int other;

	while (proc && (entry = readdir(proc))) {
		other = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
		if (other > 0 && other != pid && other != getpid() && !ray_vec_push(&pids, other))
			break;
	}
	if (proc)
		closedir(proc);
	if (pids.n)
		qsort_r(pids.at, pids.n, sizeof(*pids.at), nearest_first, &pid);
	for (i = 0; i < pids.n && s->open && s->links_left; i++)
		search_process(s, pids.at[i]);
	if (s->open && !s->links_left)
		s->files->note = "there are too many open files on this machine to look through: "
				 "the other ends of some pipes and unix sockets are not shown";
	ray_vec_free(&pids);
}

void ray_files_find_peers(int pid, struct ray_files *files)
{
	struct search s = { .files = files, .links_left = MAX_LINKS };

	if (collect(&s) && s.wanted.n) {
		search_self(&s, pid);
		if (s.open)
			search_others(&s, pid);
	}
	ray_vec_free(&s.wanted);
}
