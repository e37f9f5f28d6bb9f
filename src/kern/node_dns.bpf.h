/* node_dns.bpf.h - names that are looked up: by the C library on a thread of the pool (dns.lookup(), dns.lookupService()), or asked over the network by
 * c-ares (dns.resolve*(), dns.reverse()).
 * SPDX-License-Identifier: MIT
 *
 * A question of c-ares is known by the pointer that its answer will be told with: ares_query(), ares_query_dnsrec() and ares_gethostbyaddr() all
 * have it as their sixth argument, and node's own callbacks get it as their first. */
#ifndef RAY_KERN_NODE_DNS_BPF_H
#define RAY_KERN_NODE_DNS_BPF_H

#include "kern/network.bpf.h"
#include "kern/node_fs.bpf.h"

/* ---- what is told ---- */

/* The name of a type of record, as node spells it; "" if it is none of those it can ask for. */
static __always_inline __u64 ray_dns_type(__u32 type)
{
	switch (type) {
	case 1:
		return RAY_WORD('A', 0, 0, 0, 0, 0, 0, 0);
	case 2:
		return RAY_WORD('N', 'S', 0, 0, 0, 0, 0, 0);
	case 5:
		return RAY_WORD('C', 'N', 'A', 'M', 'E', 0, 0, 0);
	case 6:
		return RAY_WORD('S', 'O', 'A', 0, 0, 0, 0, 0);
	case 12:
		return RAY_WORD('P', 'T', 'R', 0, 0, 0, 0, 0);
	case 15:
		return RAY_WORD('M', 'X', 0, 0, 0, 0, 0, 0);
	case 16:
		return RAY_WORD('T', 'X', 'T', 0, 0, 0, 0, 0);
	case 28:
		return RAY_WORD('A', 'A', 'A', 'A', 0, 0, 0, 0);
	case 33:
		return RAY_WORD('S', 'R', 'V', 0, 0, 0, 0, 0);
	case 35:
		return RAY_WORD('N', 'A', 'P', 'T', 'R', 0, 0, 0);
	case 52:
		return RAY_WORD('T', 'L', 'S', 'A', 0, 0, 0, 0);
	case 255:
		return RAY_WORD('A', 'N', 'Y', 0, 0, 0, 0, 0);
	case 257:
		return RAY_WORD('C', 'A', 'A', 0, 0, 0, 0, 0);
	default:
		return 0;
	}
}

/* An address of the process as text. */
static __always_inline void ray_dns_address(struct ray_slot *s, char *dst, __u64 size, __u32 family, __u64 at)
{
	if (family != RAY_AF_INET && family != RAY_AF_INET6)
		return;
	*ray_at(s, ray_work_string(0)) = 0;
	ray_inet_ntop(s->index, ray_work_string(0), family, at);
	s->fault = RAY_FAULT_NONE; /* unreadable: no text, and no fault of the script's */
	bpf_probe_read_kernel_str(dst, size, ray_at(s, ray_work_string(0)));
}

/* A port, in the order of the network. */
static __always_inline void ray_dns_port(char *dst, __u16 raw)
{
	__u16 port = raw >> 8 | raw << 8;
	int at = 0;

	for (__u32 unit = 10000; unit; unit /= 10)
		if (port >= unit || unit == 1)
			dst[at++ & 7] = '0' + port / unit % 10;
}

static __always_inline void ray_dns_fill_lookup(struct ray_node_dns *dns, const struct ray_watched *node, __u64 request)
{
	ray_word_put(dns->kind, RAY_WORD('l', 'o', 'o', 'k', 'u', 'p', 0, 0));
	ray_node_text(dns->host, sizeof(dns->host), ray_user_pointer(request + node->at.addrinfo_host));
	ray_node_text(dns->service, sizeof(dns->service), ray_user_pointer(request + node->at.addrinfo_service));
}

/* A sockaddr: family, port, address. */
static __always_inline void ray_dns_fill_service(struct ray_slot *s, struct ray_node_dns *dns, __u64 address)
{
	__u16 head[2] = { 0, 0 };

	ray_word_put(dns->kind, RAY_WORD('r', 'e', 'v', 'e', 'r', 's', 'e', 0));
	bpf_probe_read_user(head, sizeof(head), (void *)address);
	ray_dns_address(s, dns->host, sizeof(dns->host), head[0], address + (head[0] == RAY_AF_INET6 ? 8 : 4));
	ray_dns_port(dns->service, head[1]);
}

static __always_inline void ray_dns_fill_question(struct ray_node_dns *dns, const struct ray_work_cursor *c)
{
	struct ray_node_work_state *state = ray_work_find(RAY_TABLE_ARES, c->work);

	ray_word_put(dns->kind, c->kind == RAY_WORK_REVERSE ? RAY_WORD('r', 'e', 'v', 'e', 'r', 's', 'e', 0) :
							      RAY_WORD('r', 'e', 's', 'o', 'l', 'v', 'e', 0));
	if (!state)
		return;
	ray_word_put(dns->type, ray_dns_type(state->function));
	bpf_probe_read_kernel_str(dns->host, sizeof(dns->host), state->text);
}

/* area->dns, for what the cursor says. */
static __noinline void ray_dns_fill(struct ray_slot *s, const struct ray_watched *node, __u32 event)
{
	struct ray_work_cursor *c = ray_work_cursor(s);
	struct ray_node_dns *dns = &ray_node_area(s)->dns;
	__u64 at = 0;

	ray_clear((char *)dns, sizeof(*dns));
	dns->address = c->work;
	dns->request = c->request;
	dns->tid = c->tid;
	dns->is_pool = c->kind == RAY_WORK_LOOKUP || c->kind == RAY_WORK_SERVICE;
	if (c->kind == RAY_WORK_LOOKUP) {
		at = c->work - node->at.addrinfo_work;
		ray_dns_fill_lookup(dns, node, at);
		at += node->at.addrinfo_result;
	} else if (c->kind == RAY_WORK_SERVICE) {
		at = c->work - node->at.nameinfo_work;
		ray_dns_fill_service(s, dns, at + node->at.nameinfo_address);
		at += node->at.nameinfo_result;
	} else {
		ray_dns_fill_question(dns, c);
	}
	s->args[0] = RAY_AREA_ADDRESS(dns);
	if (event == RAY_EVENT_DNS_START)
		return;
	dns->result = c->result == RAY_UNKNOWN_RESULT ? ray_user_int(at) : c->result;
	if (c->submitted && c->started)
		dns->wait = c->started - c->submitted;
	if (c->started)
		dns->run = c->now - c->started;
	dns->total = c->now - (c->submitted ? c->submitted : c->started);
	if (c->kind == RAY_WORK_RESOLVE || c->kind == RAY_WORK_REVERSE)
		ray_work_forget(RAY_TABLE_ARES, c->work);
}

/* ---- c-ares ---- */

/* One question may be asked by way of another: only the outermost is node's. */
static __always_inline int ray_ares_is_inner(const struct ray_slot *s, const struct ray_node_thread *thread)
{
	return thread->ares_sp && s->user_sp < thread->ares_sp;
}

/* Both begin alike; NULL: it is not node that asks. */
static __always_inline struct ray_node_work_state *ray_ares_begin(struct ray_slot *s, __u32 kind)
{
	struct ray_work_cursor *c = ray_work_cursor(s);
	struct ray_node_thread *thread = ray_node_thread(s);
	struct ray_node_work_state *blank;

	ray_work_begin(s, s->hook_args[5], kind);
	if (!thread || ray_ares_is_inner(s, thread))
		return (void *)0;
	thread->ares_sp = s->user_sp;
	c->request = ray_work_request(thread);
	c->submitted = 0;
	c->started = c->now;
	ray_work_push(c, RAY_EVENT_DNS_START);
	blank = ray_work_blank(s);
	blank->submitted = c->now;
	blank->request = c->request;
	blank->kind = kind;
	blank->tid = c->tid;
	return blank;
}

/* ares_query(channel, name, class, type, callback, argument), and ares_query_dnsrec() */
static __always_inline void ray_ares_ask(struct ray_slot *s)
{
	struct ray_node_work_state *blank = ray_ares_begin(s, RAY_WORK_RESOLVE);

	if (!blank)
		return;
	blank->function = (__u32)s->hook_args[3];
	bpf_probe_read_user_str(blank->text, sizeof(blank->text), (void *)s->hook_args[1]);
	ray_work_keep(RAY_TABLE_ARES, s->hook_args[5], blank);
}

/* ares_gethostbyaddr(channel, address, length, family, callback, argument) */
static __always_inline void ray_ares_ask_address(struct ray_slot *s)
{
	struct ray_node_work_state *blank = ray_ares_begin(s, RAY_WORK_REVERSE);

	if (!blank)
		return;
	ray_dns_address(s, blank->text, sizeof(blank->text), (__u32)s->hook_args[3], s->hook_args[1]);
	ray_work_keep(RAY_TABLE_ARES, s->hook_args[5], blank);
}

static __always_inline void ray_ares_asked(struct ray_slot *s)
{
	struct ray_node_thread *thread = ray_node_thread_known();

	if (thread && s->user_sp > thread->ares_sp)
		thread->ares_sp = 0;
}

/* node's callback(argument, status, timeouts, answer) */
static __always_inline void ray_ares_answer(struct ray_slot *s)
{
	struct ray_work_cursor *c = ray_work_cursor(s);
	struct ray_node_work_state *state = ray_work_find(RAY_TABLE_ARES, s->hook_args[0]);

	ray_work_begin(s, s->hook_args[0], RAY_WORK_RESOLVE);
	if (!state)
		return;
	c->kind = state->kind;
	c->started = state->submitted;
	c->request = state->request;
	c->tid = state->tid;
	c->result = (__s32)s->hook_args[1];
	ray_work_push(c, RAY_EVENT_DNS_DONE);
}

#endif
