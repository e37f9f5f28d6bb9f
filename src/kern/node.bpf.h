/* node.bpf.h - what all handlers of the node provider use: the process, the thread, the event area. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_NODE_BPF_H
#define RAY_KERN_NODE_BPF_H

#include "kern/task.bpf.h"

/* Whether anybody wants one of these events (RAY_EVENT_BIT()): known when the program is linked, so what nobody wants costs nothing. */
#define RAY_WATCHED(bits) ((RAY_CONST(WATCHED) & (bits)) != 0)

/* Whether anybody reads this text of requests: likewise. */
#define RAY_IS_READ(text) (!(RAY_CONST(UNREAD) & RAY_UNREAD_##text))

static __always_inline struct ray_watched *ray_watched_get(void)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	return bpf_map_lookup_elem(RAY_MAP(NODES), &tgid);
}

/* Where args[] of the event point to. */
static __always_inline struct ray_node_area *ray_node_area(struct ray_slot *s)
{
	return (struct ray_node_area *)ray_at(s, RAY_CONST(EVENT_AT));
}

/* The address, as D sees it, of a member of the area. */
#define RAY_AREA_ADDRESS(member) \
	(RAY_SCRATCH | (RAY_CONST(EVENT_AT) + __builtin_offsetof(struct ray_node_area, member)))

/* There was no room for something that should have been remembered. */
static __always_inline void ray_node_dropped(void)
{
	struct ray_state *state = ray_state_get();

	if (state)
		__sync_fetch_and_add(&state->node_drops, 1);
}

/* A name was longer than its place. */
static __always_inline void ray_node_was_cut(void)
{
	struct ray_state *state = ray_state_get();

	if (state)
		__sync_fetch_and_add(&state->node_cut, 1);
}

/* Ids of requests and connections: they count from 1, whatever the process. */
static __always_inline __u64 ray_node_id(void)
{
	struct ray_state *state = ray_state_get();

	return state ? __sync_fetch_and_add(&state->node_ids, 1) + 1 : 0;
}

/* Puts a literal of less than 24 bytes into its place, as immediate values: programs have no data of their own. */
#define RAY_NAME_BYTE(text, i) \
	((__u64)(__u8)((i) < sizeof(text) ? (text)[(i) < sizeof(text) ? (i) : 0] : 0) << (i) % 8 * 8)
#define RAY_NAME_WORD(text, i)                                                                  \
	(RAY_NAME_BYTE(text, i) | RAY_NAME_BYTE(text, i + 1) | RAY_NAME_BYTE(text, i + 2) |     \
	 RAY_NAME_BYTE(text, i + 3) | RAY_NAME_BYTE(text, i + 4) | RAY_NAME_BYTE(text, i + 5) | \
	 RAY_NAME_BYTE(text, i + 6) | RAY_NAME_BYTE(text, i + 7))
#define RAY_NAME(to, text)                                    \
	do {                                                  \
		((__u64 *)(to))[0] = RAY_NAME_WORD(text, 0);  \
		((__u64 *)(to))[1] = RAY_NAME_WORD(text, 8);  \
		((__u64 *)(to))[2] = RAY_NAME_WORD(text, 16); \
	} while (0)

/* What the current thread is in the middle of; made when it is not there. NULL: no room, which is counted. */
static __always_inline struct ray_node_thread *ray_node_thread(struct ray_slot *s)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct ray_node_thread *thread = bpf_map_lookup_elem(RAY_MAP(NODE_THREADS), &tid);

	if (thread)
		return thread;
	/* All zero: the area is as large, and nothing of it is needed now. */
	ray_clear((char *)ray_node_area(s), sizeof(struct ray_node_thread));
	bpf_map_update_elem(RAY_MAP(NODE_THREADS), &tid, ray_node_area(s), BPF_NOEXIST);
	thread = bpf_map_lookup_elem(RAY_MAP(NODE_THREADS), &tid);
	if (!thread)
		ray_node_dropped();
	return thread;
}

/* The thread if it is known: for handlers that only end what another began. */
static __always_inline struct ray_node_thread *ray_node_thread_known(void)
{
	__u32 tid = bpf_get_current_pid_tgid();

	return bpf_map_lookup_elem(RAY_MAP(NODE_THREADS), &tid);
}

/* What ran for a request is over: the thread looks for something else to do. */
static __always_inline void ray_node_thread_idle(struct ray_node_thread *thread)
{
	thread->request = 0;
	thread->io_requests = 0;
}

/* ---- connections: by descriptor, or by SSL * ---- */

static __always_inline void ray_conn_key(struct ray_slot *s, struct ray_node_conn_key *key, __u64 id, __u64 is_tls)
{
	key->tgid = s->tgid;
	key->is_tls = is_tls ? 1 : 0;
	key->id = id;
}

static __always_inline struct ray_node_near *ray_near_get(const struct ray_node_conn_key *key)
{
	__u32 index = ray_near_index(key);

	return bpf_map_lookup_elem(RAY_MAP(NODE_NEAR), &index);
}

static __always_inline int ray_near_is(const struct ray_node_near *near, const struct ray_node_conn_key *key)
{
	return near->key.tgid == key->tgid && near->key.id == key->id && near->key.is_tls == key->is_tls;
}

static __always_inline struct ray_node_conn *ray_conn_find(struct ray_slot *s, __u64 id, __u64 is_tls)
{
	struct ray_node_conn_key key;
	struct ray_node_near *near;

	ray_conn_key(s, &key, id, is_tls);
	near = ray_near_get(&key);
	if (near && ray_near_is(near, &key))
		return &near->conn;
	return bpf_map_lookup_elem(RAY_MAP(NODE_CONNS), &key);
}

/* A copy of it becomes one that is known. NULL: no room. */
static __always_inline struct ray_node_conn *ray_conn_put(struct ray_slot *s, const struct ray_node_conn *fresh,
							  __u64 id, __u64 is_tls)
{
	struct ray_node_conn_key key;
	struct ray_node_near *near;

	ray_conn_key(s, &key, id, is_tls);
	near = ray_near_get(&key);
	if (near && !__sync_val_compare_and_swap(&near->key.tgid, 0, RAY_NEAR_TAKEN)) {
		bpf_probe_read_kernel(&near->conn, sizeof(near->conn), fresh);
		near->key.id = key.id;
		near->key.is_tls = key.is_tls;
		__sync_lock_test_and_set(&near->key.tgid, key.tgid);
		return &near->conn;
	}
	bpf_map_update_elem(RAY_MAP(NODE_CONNS), &key, fresh, BPF_ANY);
	return bpf_map_lookup_elem(RAY_MAP(NODE_CONNS), &key);
}

static __always_inline void ray_conn_delete(struct ray_slot *s, __u64 id, __u64 is_tls)
{
	struct ray_node_conn_key key;
	struct ray_node_near *near;

	ray_conn_key(s, &key, id, is_tls);
	near = ray_near_get(&key);
	if (near && ray_near_is(near, &key))
		near->key.tgid = 0;
	else
		bpf_map_delete_elem(RAY_MAP(NODE_CONNS), &key);
}

#endif
