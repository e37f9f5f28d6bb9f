/* kern_calls.h - system calls as the handler of sockets sees them, for unit tests. SPDX-License-Identifier: MIT
 *
 * Nothing is called but the handler, by BPF_PROG_TEST_RUN: descriptors are real, what was read or written is said. */
#ifndef RAY_TESTS_KERN_CALLS_H
#define RAY_TESTS_KERN_CALLS_H

#include <sys/syscall.h>

#include "kern_run.h"

static struct kern_run run;

static inline struct ray_node_area *area(void)
{
	return (struct ray_node_area *)(run.slots + run.plan.event_at);
}

/* The call that the handler is asked about next. */
static inline void set_call(uint64_t number, uint64_t a, uint64_t b, uint64_t c, int64_t result)
{
	struct ray_slot *s = kern_slot(&run);

	memset(s->hook_args, 0, sizeof(s->hook_args));
	s->hook_args[0] = a;
	s->hook_args[1] = b;
	s->hook_args[2] = c;
	s->hook_args[RAY_HOOK_NUMBER] = number;
	s->hook_args[RAY_HOOK_RESULT] = (uint64_t)result;
}

/* Step 0: the first event of that call; then whatever follows. */
static inline int64_t next_event(int step)
{
	kern_slot(&run)->spills[6] = !!step;
	return kern_call(&run, (uint64_t)step, 0, 0, 0);
}

/* What is known of the connection behind a descriptor; NULL: nothing. */
static inline struct ray_node_conn *connection_of(int fd)
{
	struct ray_node_conn_key key = { .tgid = (uint32_t)getpid(), .id = (uint32_t)fd };
	uint32_t index = ray_near_index(&key);
	static struct ray_node_near near;
	static struct ray_node_conn conn;

	if (!bpf_map_lookup_elem(run.trace.maps[RAY_LINK_NODE_NEAR], &index, &near) &&
	    !memcmp(&near.key, &key, sizeof(key)))
		return &near.conn;
	return bpf_map_lookup_elem(run.trace.maps[RAY_LINK_NODE_CONNS], &key, &conn) ? NULL : &conn;
}

/* What is kept in the connection is told by its address in the kernel. */
static inline const struct ray_node_request *request_told(int fd, uint64_t address)
{
	return (int64_t)address < 0 ? &connection_of(fd)->own.request : (void *)kern_memory(&run, address);
}

static inline int count_elements(int map, size_t key_size)
{
	char key[64], next[64];
	int n = 0;

	for (bool is_first = true; !bpf_map_get_next_key(map, is_first ? NULL : key, next); is_first = false, n++)
		memcpy(key, next, key_size);
	return n;
}

static inline int count_connections(void)
{
	int n = count_elements(run.trace.maps[RAY_LINK_NODE_CONNS], sizeof(struct ray_node_conn_key));
	struct ray_node_near near;

	for (uint32_t i = 0; i < RAY_NEAR; i++)
		n += !bpf_map_lookup_elem(run.trace.maps[RAY_LINK_NODE_NEAR], &i, &near) && near.key.tgid;
	return n;
}

/* Loads the handler, for those who want these events; or skips the test. */
static inline void need_calls(uint64_t watched)
{
	static const char *const handlers[] = { "ray_on_socket", "ray_on_socket_more" };

	if (!run.plan.event_size) {
		run.plan.event_at = run.plan.slot_size;
		run.plan.event_size = sizeof(struct ray_node_area);
		run.plan.slot_size += run.plan.event_size;
	}
	run.trace.watched = watched;
	if (kern_load_all(&run, handlers, RAY_COUNT(handlers)))
		return;
	if (strstr(run.skip, "not permitted"))
		skip();
	fail_msg("%s", run.skip);
}

#endif
