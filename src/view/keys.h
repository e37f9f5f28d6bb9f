/* keys.h - keys out of the bytes that a terminal sends.
 * SPDX-License-Identifier: MIT
 *
 * Letters are themselves, as code points; keys without a letter have numbers beyond. Sequences come whole or in pieces, from whatever is at the other end:
 * those that nobody knows are swallowed whole, and an escape that nothing follows is the key itself. Pure: bytes in, keys out; knows no clock: the caller says when
 * it has waited long enough. */
#ifndef RAY_VIEW_KEYS_H
#define RAY_VIEW_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ray_key {
	RAY_KEY_NONE = 0,
	RAY_KEY_TAB = '\t',
	RAY_KEY_ENTER = '\n', /* also what is sent as \r */
	RAY_KEY_ESCAPE = 27,
	RAY_KEY_BACKSPACE = 127, /* also 8 */
	RAY_KEY_UP = 0x110000,	 /* past the last code point */
	RAY_KEY_DOWN,
	RAY_KEY_LEFT,
	RAY_KEY_RIGHT,
	RAY_KEY_HOME,
	RAY_KEY_END,
	RAY_KEY_PAGE_UP,
	RAY_KEY_PAGE_DOWN,
	RAY_KEY_DELETE,
	RAY_KEY_BACK_TAB,
	RAY_KEY_F1,
};

enum { RAY_KEYS_ROOM = 32 };

struct ray_keys {
	unsigned char bytes[RAY_KEYS_ROOM]; /* that are not yet a key */
	size_t count;
};

/* Adds what was read, as much as there is room for; returns how much that was. */
size_t ray_keys_feed(struct ray_keys *k, const void *bytes, size_t count);
/* The next key; RAY_KEY_NONE: the bytes so far are none, or the beginning of one. is_late: nothing more is coming that belongs to them. */
uint32_t ray_keys_next(struct ray_keys *k, bool is_late);
bool ray_keys_waits(const struct ray_keys *k); /* the beginning of a key is there */

#endif
