/* files_json.c - open descriptors as JSON: for --json, and as the note that noderay keeps in a core.
 * SPDX-License-Identifier: MIT
 *
 * What is read back is foreign: a core may be damaged or made by anybody. Wrong types count as
 * absent, numbers out of range and texts too long are refused, and a note that is none is an error. */
#include "target/files.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>

#include "base/json.h"

enum { VERSION = 1, MAX_FILES = 1 << 20, MAX_TEXT = 8192, MAX_PEERS = 64 };

static void put(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

/* JSON's numbers end at 2^63 - 1 here; no count, size or inode of a real system comes near. */
static void put_number(json_t *o, const char *key, uint64_t value)
{
	if (value <= INT64_MAX)
		put(o, key, json_integer((json_int_t)value));
}

static void put_text(json_t *o, const char *key, const char *text)
{
	if (text && *text)
		put(o, key, ray_json_text(text));
}

static void put_device(json_t *o, const char *key, uint64_t dev)
{
	char text[48];

	snprintf(text, sizeof(text), "%u:%u", major(dev), minor(dev));
	put(o, key, json_string(text));
}

static json_t *socket_to_json(const struct ray_socket *s)
{
	json_t *o = json_object();
	bool listens = !strcmp(s->state, "LISTEN");

	if (s->family >= 0) {
		put_number(o, "family", (uint64_t)s->family);
		put_number(o, "type", (uint64_t)s->type);
		put_number(o, "protocol", (uint64_t)s->protocol);
	}
	put_text(o, "state", s->state);
	put_text(o, "local", s->local);
	put_text(o, "remote", s->remote);
	if (s->has_queues && (!listens || s->has_backlog)) {
		put_number(o, listens ? "accept_queue" : "recv_queue", s->recv_queue);
		put_number(o, listens ? "backlog" : "send_queue", s->send_queue);
	} else if (s->has_queues) {
		put_number(o, "accept_queue", s->recv_queue);
	}
	if (s->retransmits)
		put_number(o, "retransmits", s->retransmits);
	if (s->peer)
		put_number(o, "peer_inode", s->peer);
	put_text(o, "protocol_name", s->proto_name);
	return o;
}

static void put_info(json_t *o, const struct ray_fdinfo *i)
{
	char text[256];

	if (i->has_flags) {
		ray_file_flags_text(i->flags, text, sizeof(text));
		put(o, "flags", json_string(text));
		put_number(o, "flag_bits", i->flags);
		put_number(o, "offset", i->pos);
	}
	if (i->has_count)
		put_number(o, "count", i->count);
	if (i->has_watched)
		put_number(o, "watched", i->watched);
	if (i->has_timer) {
		put_number(o, "clock", (uint64_t)i->timer_clock);
		put_number(o, "expires_ns", i->timer_ns);
		put_number(o, "period_ns", i->period_ns);
	}
	if (i->sigmask)
		put(o, "sigmask", ray_json_hex(i->sigmask));
	if (i->pid)
		put(o, "of_pid", json_integer(i->pid));
}

static json_t *peers_to_json(const struct ray_file *f)
{
	json_t *list = json_array(), *o;
	size_t i;

	for (i = 0; i < f->peer_count; i++) {
		o = json_object();
		put(o, "pid", json_integer(f->peers[i].pid));
		if (f->peers[i].inner_pid != f->peers[i].pid)
			put(o, "inner_pid", json_integer(f->peers[i].inner_pid));
		put(o, "fd", json_integer(f->peers[i].fd));
		put_text(o, "comm", f->peers[i].comm);
		json_array_append_new(list, o);
	}
	return list;
}

json_t *ray_file_to_json(const struct ray_file *f)
{
	json_t *o = json_object();

	put(o, "fd", json_integer(f->fd));
	put(o, "type", json_string(ray_file_type_name(f->type)));
	put_text(o, "path", f->path);
	if (f->deleted)
		put(o, "deleted", json_true());
	put_info(o, &f->info);
	if (f->inode)
		put_number(o, "inode", f->inode);
	if (f->has_stat) {
		put_device(o, "dev", f->dev);
		put_number(o, "mode", f->mode);
		put_number(o, "size", f->size);
	}
	if (f->has_stat && f->rdev)
		put_device(o, "rdev", f->rdev);
	if (f->socket)
		put(o, "socket", socket_to_json(f->socket));
	if (f->peer_count)
		put(o, "peers", peers_to_json(f));
	put_text(o, "use", f->use);
	if (f->loop >= 0)
		put(o, "loop", json_integer(f->loop));
	put_text(o, "loop_role", f->loop_role);
	if (f->from_memory)
		put(o, "from_memory", json_true());
	return o;
}

json_t *ray_files_limit_json(uint64_t limit)
{
	return limit > INT64_MAX ? json_string("unlimited") : json_integer((json_int_t)limit);
}

json_t *ray_files_to_json(const struct ray_files *files)
{
	json_t *root = json_object(), *list = json_array();
	size_t i;

	put(root, "version", json_integer(VERSION));
	if (files->has_limits) {
		put(root, "soft_limit", ray_files_limit_json(files->soft_limit));
		put(root, "hard_limit", ray_files_limit_json(files->hard_limit));
	}
	put_number(root, "vanished", files->vanished);
	put_number(root, "unreadable", files->unreadable);
	for (i = 0; i < files->n; i++)
		json_array_append_new(list, ray_file_to_json(&files->at[i]));
	put(root, "files", list);
	return root;
}

/* Reading. A getter returns what stands for "absent" when the value is of the wrong kind. */

static bool get_number(const json_t *o, const char *key, uint64_t *ret)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return false;
	*ret = (uint64_t)json_integer_value(v);
	return true;
}

static uint64_t number_or(const json_t *o, const char *key, uint64_t fallback)
{
	uint64_t value;

	return get_number(o, key, &value) ? value : fallback;
}

static int int_or(const json_t *o, const char *key, int fallback)
{
	const json_t *v = json_object_get(o, key);
	json_int_t value = json_integer_value(v);

	return json_is_integer(v) && value >= INT_MIN && value <= INT_MAX ? (int)value : fallback;
}

static const char *text_or_empty(struct ray_arena *arena, const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));
	size_t length = text ? strlen(text) : 0;

	if (!length)
		return "";
	text = ray_arena_copy(arena, text, length < MAX_TEXT ? length : MAX_TEXT);
	return text ? text : "";
}

static uint64_t get_device(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));
	unsigned high, low;

	return text && sscanf(text, "%u:%u", &high, &low) == 2 ? makedev(high, low) : 0;
}

static void get_info(const json_t *o, struct ray_fdinfo *i)
{
	const char *mask = json_string_value(json_object_get(o, "sigmask"));
	uint64_t bits;

	if (get_number(o, "flag_bits", &bits)) {
		i->flags = (uint32_t)bits;
		i->has_flags = true;
	}
	i->pos = number_or(o, "offset", 0);
	i->has_count = get_number(o, "count", &i->count);
	i->has_watched = get_number(o, "watched", &i->watched);
	i->has_timer = get_number(o, "expires_ns", &i->timer_ns);
	i->period_ns = number_or(o, "period_ns", 0);
	i->timer_clock = int_or(o, "clock", 0);
	i->sigmask = mask ? strtoull(mask, NULL, 16) : 0;
	i->pid = int_or(o, "of_pid", 0);
}

static const struct ray_socket *get_socket(struct ray_arena *arena, const json_t *o, uint64_t inode)
{
	struct ray_socket *s;
	bool listens;

	if (!json_is_object(o))
		return NULL;
	s = ray_arena_alloc(arena, sizeof(*s));
	if (!s)
		return NULL;
	ray_socket_init(s, inode);
	s->family = int_or(o, "family", -1);
	s->type = int_or(o, "type", 0);
	s->protocol = int_or(o, "protocol", 0);
	s->state = text_or_empty(arena, o, "state");
	s->local = text_or_empty(arena, o, "local");
	s->remote = text_or_empty(arena, o, "remote");
	s->proto_name = text_or_empty(arena, o, "protocol_name");
	listens = !strcmp(s->state, "LISTEN");
	s->has_queues = get_number(o, listens ? "accept_queue" : "recv_queue", &s->recv_queue);
	s->has_backlog = get_number(o, listens ? "backlog" : "send_queue", &s->send_queue) && listens;
	s->retransmits = (uint32_t)number_or(o, "retransmits", 0);
	s->peer = number_or(o, "peer_inode", 0);
	return s;
}

static void get_peers(struct ray_arena *arena, const json_t *list, struct ray_file *f)
{
	size_t i, n = json_array_size(list);
	struct ray_file_peer *peers;
	const json_t *o;

	if (n > MAX_PEERS)
		n = MAX_PEERS;
	peers = n ? ray_arena_alloc(arena, n * sizeof(*peers)) : NULL;
	if (!peers)
		return;
	for (i = 0; i < n; i++) {
		o = json_array_get(list, i);
		peers[i] = (struct ray_file_peer){ .pid = int_or(o, "pid", 0),
						   .inner_pid = int_or(o, "inner_pid", int_or(o, "pid", 0)),
						   .fd = int_or(o, "fd", -1),
						   .comm = text_or_empty(arena, o, "comm") };
	}
	f->peers = peers;
	f->peer_count = n;
}

/* False when it is no descriptor, or one that was there before. */
static bool get_file(struct ray_files *files, const json_t *o)
{
	int fd = int_or(o, "fd", -1);
	const char *type = json_string_value(json_object_get(o, "type"));
	struct ray_file *f;

	if (fd < 0 || ray_files_find(files, fd))
		return false;
	f = ray_files_add(files, fd);
	if (!f)
		return false;
	if (!type || !ray_file_type_from_name(type, &f->type))
		f->type = RAY_FILE_UNKNOWN;
	f->path = text_or_empty(files->arena, o, "path");
	f->deleted = json_is_true(json_object_get(o, "deleted"));
	get_info(o, &f->info);
	f->inode = number_or(o, "inode", 0);
	f->has_stat = get_number(o, "size", &f->size);
	f->mode = (uint32_t)number_or(o, "mode", 0);
	f->dev = get_device(o, "dev");
	f->rdev = get_device(o, "rdev");
	f->socket = get_socket(files->arena, json_object_get(o, "socket"), f->inode);
	get_peers(files->arena, json_object_get(o, "peers"), f);
	f->use = text_or_empty(files->arena, o, "use");
	f->loop = int_or(o, "loop", -1);
	f->loop_role = text_or_empty(files->arena, o, "loop_role");
	return true;
}

static bool get_limit(const json_t *root, const char *key, uint64_t *ret)
{
	const char *text = json_string_value(json_object_get(root, key));

	if (text && !strcmp(text, "unlimited")) {
		*ret = UINT64_MAX;
		return true;
	}
	return get_number(root, key, ret);
}

static struct ray_error *get_files(struct ray_files *files, const json_t *root)
{
	const json_t *list = json_object_get(root, "files");
	size_t i, n = json_array_size(list), bad = 0;

	if (!json_is_array(list) || number_or(root, "version", 0) < 1)
		return ray_error_new(RAY_UNREADABLE, "it is damaged, or not a list of files");
	if (n > MAX_FILES)
		return ray_error_new(RAY_UNREADABLE, "it claims %zu open files, more than a process can have", n);
	for (i = 0; i < n; i++)
		bad += !get_file(files, json_array_get(list, i));
	if (bad)
		files->note = ray_arena_printf(files->arena,
					       "%zu entries of the core's list of files are damaged "
					       "and not shown",
					       bad);
	files->has_limits = get_limit(root, "soft_limit", &files->soft_limit) &&
			    get_limit(root, "hard_limit", &files->hard_limit);
	files->vanished = number_or(root, "vanished", 0);
	files->unreadable = number_or(root, "unreadable", 0);
	files->listed = true;
	return NULL;
}

struct ray_error *ray_files_from_json(const char *text, struct ray_files **ret)
{
	ray_auto(ray_files, files) = ray_files_create();
	struct ray_error *err;
	json_error_t where;
	json_t *root;

	if (!files)
		return &ray_enomem;
	root = json_loads(text, 0, &where);
	if (!root)
		return ray_error_new(RAY_UNREADABLE, "it is damaged (%s)", where.text);
	err = get_files(files, root);
	json_decref(root);
	if (err)
		return err;
	*ret = ray_take(files);
	return NULL;
}
