/* node_http_quick.bpf.h - heads of HTTP/1 that are whole and plain, in little code. SPDX-License-Identifier: MIT
 *
 * What runs once for a request finds the processor's caches cold: it costs by the memory that it touches, code before all. The parser that can be
 * interrupted anywhere (node_http_head.bpf.h and the rest) goes through some 9 KiB of instructions for one head; this goes through one, in loops that are
 * not unrolled. What is not plain (a long line, a header that changes what follows, a head that does not end in the window) is left to the other, and
 * nothing has been changed then. */
#ifndef RAY_KERN_NODE_HTTP_QUICK_BPF_H
#define RAY_KERN_NODE_HTTP_QUICK_BPF_H

#include "kern/node_http_message.bpf.h"

enum {
	RAY_QUICK_STEPS = RAY_NODE_WINDOW / 8 + 32, /* words of a head, and lines that begin in the middle of one */
	RAY_QUICK_URL = 32,			    /* words */
	RAY_QUICK_DIGITS = 12,
};

#define RAY_ROLLED _Pragma("clang loop unroll(disable)")

/* ---- lines ---- */

/* Which text of the head the line at `at` holds; RAY_TEXT_COUNT: it takes a closer look. */
static __always_inline __u64 ray_quick_header(const struct ray_node_window *w, __u64 at, struct ray_node_head *h)
{
	__u64 low = RAY_LOWER(ray_word_at(&w->bytes[at])), rest;

	if (low == RAY_WORD('c', 'o', 'n', 't', 'e', 'n', 't', '-')) {
		rest = RAY_LOWER(ray_word_at(&w->bytes[at + 8]));
		if ((rest & RAY_FIRST_BYTES(7)) != RAY_WORD('l', 'e', 'n', 'g', 't', 'h', ':', 0))
			return RAY_TEXT_NONE;
		h->texts[RAY_TEXT_LENGTH].at = at + 15;
		return RAY_TEXT_LENGTH;
	}
	if (low == RAY_WORD('t', 'r', 'a', 'n', 's', 'f', 'e', 'r'))
		return RAY_TEXT_COUNT;
	if (h->flags & RAY_HTTP_IS_RESPONSE)
		return RAY_TEXT_NONE;
	if (RAY_IS_READ(HOST) && (low & RAY_FIRST_BYTES(5)) == RAY_WORD('h', 'o', 's', 't', ':', 0, 0, 0)) {
		if (h->texts[RAY_TEXT_HOST].size)
			return RAY_TEXT_NONE; /* the first one counts */
		h->texts[RAY_TEXT_HOST].at = at + 5;
		return RAY_TEXT_HOST;
	}
	if (RAY_IS_READ(AGENT) && low == RAY_WORD('u', 's', 'e', 'r', '-', 'a', 'g', 'e')) {
		rest = RAY_LOWER(ray_word_at(&w->bytes[at + 8]));
		if ((rest & RAY_FIRST_BYTES(3)) != RAY_WORD('n', 't', ':', 0, 0, 0, 0, 0) ||
		    h->texts[RAY_TEXT_AGENT].size)
			return RAY_TEXT_NONE;
		h->texts[RAY_TEXT_AGENT].at = at + 11;
		return RAY_TEXT_AGENT;
	}
	/* Only a request that has an upgrade header can ask for one. */
	return low == RAY_WORD('u', 'p', 'g', 'r', 'a', 'd', 'e', ':') ||
			       (RAY_IS_READ(FORWARDED) && low == RAY_WORD('x', '-', 'f', 'o', 'r', 'w', 'a', 'r')) ?
		       RAY_TEXT_COUNT :
		       RAY_TEXT_NONE;
}

/* Word by word from h->at, which is in the first line; where a line begins it is looked what it holds. Texts last to the end of their line. */
static __always_inline int ray_quick_headers(const struct ray_node_window *w, struct ray_node_head *h)
{
	__u64 at = h->at, text = RAY_TEXT_NONE, marks;

	RAY_ROLLED
	for (int i = 0; i < RAY_QUICK_STEPS; i++) {
		/* Whatever was found out about them is forgotten, else each way here is followed. */
		at ^= w->zero;
		text ^= w->zero;
		RAY_OPAQUE(at);
		RAY_OPAQUE(text);
		if (at >= RAY_NODE_WINDOW)
			return 0;
		marks = ray_word_marks(ray_word_at(&w->bytes[at]), RAY_EACH_BYTE('\n'));
		if (!marks) {
			at += 8;
			continue;
		}
		at += ray_word_place(marks) + 1;
		text &= RAY_TEXTS - 1;
		h->texts[text].size = at - h->texts[text].at;
		if (at >= RAY_NODE_WINDOW || at + 2 > w->end)
			return 0;
		if (w->bytes[at] <= '\r') {
			h->at = at + 2;
			return w->bytes[at] == '\r' && w->bytes[at + 1] == '\n';
		}
		text = ray_quick_header(w, at, h);
		if (text >= RAY_TEXT_COUNT)
			return 0;
	}
	return 0;
}

static __always_inline int ray_quick_status_line(const struct ray_node_window *w, struct ray_node_head *h)
{
	__u32 a = w->bytes[9] - '0', b = w->bytes[10] - '0', d = w->bytes[11] - '0';

	if (a > 9 || b > 9 || d > 9 || w->bytes[8] != ' ')
		return 0;
	h->flags = RAY_HTTP_IS_RESPONSE;
	h->status = a * 100 + b * 10 + d;
	h->version = 10 + (w->bytes[7] - '0');
	h->at = 12;
	return 1;
}

/* Where the URL ends that begins at `at`; at least RAY_NODE_WINDOW: not near. */
static __always_inline __u64 ray_quick_url_end(const struct ray_node_window *w, __u64 at)
{
	__u64 marks;

	RAY_ROLLED
	for (int i = 0; i < RAY_QUICK_URL; i++) {
		RAY_OPAQUE(
			at); /* one register is checked and used: the verifier of 6.1 does not see that another is as large */
		if (at >= RAY_NODE_WINDOW)
			break;
		marks = ray_word_marks(ray_word_at(&w->bytes[at]), RAY_EACH_BYTE(' '));
		if (marks)
			return at + ray_word_place(marks);
		at += 8;
	}
	return RAY_NODE_WINDOW;
}

static __always_inline int ray_quick_request_line(const struct ray_node_window *w, struct ray_node_head *h, __u64 word)
{
	__u64 marks = ray_word_marks(word, RAY_EACH_BYTE(' ')), at, from;

	if (!marks)
		return 0;
	h->method = word & (((marks & -marks) >> 7) - 1);
	/* HEAD and CONNECT change what follows; others are rare. */
	if (h->method != RAY_WORD('G', 'E', 'T', 0, 0, 0, 0, 0) &&
	    h->method != RAY_WORD('P', 'O', 'S', 'T', 0, 0, 0, 0) &&
	    h->method != RAY_WORD('P', 'U', 'T', 0, 0, 0, 0, 0) &&
	    h->method != RAY_WORD('D', 'E', 'L', 'E', 'T', 'E', 0, 0) &&
	    h->method != RAY_WORD('P', 'A', 'T', 'C', 'H', 0, 0, 0))
		return 0;
	from = ray_word_place(marks) + 1;
	at = ray_quick_url_end(w, from) ^ w->zero;
	RAY_OPAQUE(at);
	h->texts[RAY_TEXT_URL].at = from;
	h->texts[RAY_TEXT_URL].size = at - from;
	if (at >= RAY_NODE_WINDOW || at + 11 > w->end || at == from)
		return 0;
	if ((ray_word_at(&w->bytes[at + 1]) & RAY_FIRST_BYTES(7)) != RAY_WORD('H', 'T', 'T', 'P', '/', '1', '.', 0) ||
	    w->bytes[at + 9] != '\r' || w->bytes[at + 10] != '\n')
		return 0;
	h->version = 10 + (w->bytes[at + 8] - '0');
	h->at = at + 10;
	return 1;
}

/* ---- texts ---- */

/* A value without blanks but for one before it. It is from behind the colon to the end of the line, and becomes what is to be kept; 0: it takes a
 * closer look. */
static __always_inline int ray_quick_value(const struct ray_node_window *w, struct ray_node_text *text, __u64 room)
{
	__u64 at = text->at, size = text->size - 3, last; /* the blank, \r, \n */

	if (!text->size)
		return 1;
	if (size - 1 >= room - 1)
		return 0;
	last = at + size;
	RAY_OPAQUE(last);
	RAY_OPAQUE(at);
	if (at >= RAY_NODE_WINDOW || last >= RAY_NODE_WINDOW || w->bytes[at] != ' ' || w->bytes[at + 1] <= ' ' ||
	    w->bytes[last] <= ' ' || w->bytes[last + 1] != '\r')
		return 0;
	text->at = at + 1;
	text->size = size;
	return 1;
}

static __always_inline int ray_quick_length(const struct ray_node_window *w, struct ray_node_head *h)
{
	__u64 at = h->texts[RAY_TEXT_LENGTH].at, left = 0;

	if (!h->texts[RAY_TEXT_LENGTH].size)
		return 1;
	if (at >= RAY_NODE_WINDOW || w->bytes[at] != ' ')
		return 0;
	RAY_ROLLED
	for (int i = 1; i < RAY_QUICK_DIGITS; i++) {
		__u64 byte = w->bytes[at + i];

		if (byte == '\r' && i > 1) {
			h->length = left;
			h->flags |= RAY_HTTP_HAS_LENGTH;
			return 1;
		}
		byte -= '0';
		if (byte > 9)
			return 0;
		left = left * 10 + byte;
	}
	return 0;
}

/* By words: up to seven bytes more than the text has; one of them becomes its end. */
static __always_inline void ray_quick_copy(const struct ray_node_window *w, const struct ray_node_text *text, char *to,
					   __u64 room)
{
	__u64 from = text->at, size = text->size;

	RAY_ROLLED
	for (__u64 i = 0; i < room / 8 && i < RAY_QUICK_URL && 8 * i < size; i++) {
		RAY_OPAQUE(from);
		if (from >= RAY_NODE_WINDOW)
			return;
		ray_word_put(to + 8 * i, ray_word_at(&w->bytes[from]));
		from += 8;
	}
	RAY_OPAQUE(size);
	if (size < room)
		to[size] = 0;
}

/* ---- heads ---- */

/* The window begins with the first byte of a message: its head, into w->head; 0: it is not whole, or not plain. */
static __always_inline int ray_quick_parse(struct ray_node_window *w)
{
	struct ray_node_head *h = &w->head;
	__u64 word = ray_word_at(w->bytes);

	h->flags = h->status = h->version = 0;
	h->length = 0;
	h->texts[RAY_TEXT_HOST].size = h->texts[RAY_TEXT_AGENT].size = h->texts[RAY_TEXT_LENGTH].size = 0;
	if ((word & RAY_FIRST_BYTES(7)) == RAY_WORD('H', 'T', 'T', 'P', '/', '1', '.', 0) ?
		    !ray_quick_status_line(w, h) :
		    !ray_quick_request_line(w, h, word))
		return 0;
	return ray_quick_headers(w, h) && ray_quick_length(w, h) &&
	       (!RAY_IS_READ(HOST) || ray_quick_value(w, &h->texts[RAY_TEXT_HOST], RAY_NODE_HOST)) &&
	       (!RAY_IS_READ(AGENT) || ray_quick_value(w, &h->texts[RAY_TEXT_AGENT], RAY_NODE_AGENT));
}

static __always_inline void ray_quick_texts(const struct ray_node_window *w, const struct ray_node_head *h,
					    struct ray_node_pending *pending)
{
	ray_word_put(pending->request.method, h->method);
	pending->request.url_length = h->texts[RAY_TEXT_URL].size;
	ray_quick_copy(w, &h->texts[RAY_TEXT_URL], pending->request.url, RAY_NODE_URL);
	if (RAY_IS_READ(HOST))
		ray_quick_copy(w, &h->texts[RAY_TEXT_HOST], pending->request.host, RAY_NODE_HOST);
	if (RAY_IS_READ(AGENT))
		ray_quick_copy(w, &h->texts[RAY_TEXT_AGENT], pending->request.user_agent, RAY_NODE_AGENT);
}

/* The request becomes one that is on its way. */
static __always_inline void ray_quick_pend(struct ray_http_loop *c, const struct ray_node_window *w,
					   const struct ray_node_head *h)
{
	struct ray_node_pending *pending = ray_pending_get(c->conn, c->stream->number);

	if (pending)
		ray_quick_texts(w, h, pending);
}

/* The window begins with the first byte of a message, whose head was parsed. 1: it is understood, and all that followed from it is done; w->event says what it told. */
static __always_inline int ray_http_quick(struct ray_http_loop *c)
{
	struct ray_node_window *w = ray_http_window(c->s);
	struct ray_node_stream *stream = c->stream;
	struct ray_node_head *h = &w->head;

	if (!ray_http_message(c, h->flags & RAY_HTTP_IS_RESPONSE))
		return 0;
	stream->flags = h->flags;
	stream->left = h->length;
	stream->version = h->version;
	stream->status = h->status;
	ray_http_take(c, w, h->at);
	if (!(h->flags & RAY_HTTP_IS_RESPONSE)) {
		ray_quick_pend(c, w, h);
		w->event = ray_http_request_head_here(c);
		return 1;
	}
	w->event = ray_http_response_head_here(c);
	if (w->event)
		return 1;
	if (stream->state >= RAY_HTTP_BODY && w->at < w->end)
		w->at += ray_http_skip(stream, w->end - w->at);
	if (stream->state == RAY_HTTP_DONE)
		w->event = ray_http_done_here(c);
	return 1;
}

#endif
