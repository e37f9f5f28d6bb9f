/* keys.c - see keys.h. SPDX-License-Identifier: MIT
 *
 * Sequences are those of ECMA-48 (ESC [ parameters final) and of VT terminals' application mode (ESC O final): xterm, screen, tmux, the Linux console, PuTTY and
 * whatever calls itself one of them send these. */
#include "view/keys.h"

#include <string.h>

#include "base/auto.h"

enum { ESC = 27 };

/* ESC [ A, or ESC O A */
static const struct {
	char final;
	uint32_t key;
} finals[] = {
	{ 'A', RAY_KEY_UP },	   { 'B', RAY_KEY_DOWN }, { 'C', RAY_KEY_RIGHT },
	{ 'D', RAY_KEY_LEFT },	   { 'H', RAY_KEY_HOME }, { 'F', RAY_KEY_END },
	{ 'Z', RAY_KEY_BACK_TAB }, { 'P', RAY_KEY_F1 },	  { 'M', RAY_KEY_ENTER },
};

/* ESC [ 5 ~ */
static const struct {
	int number;
	uint32_t key;
} tildes[] = {
	{ 1, RAY_KEY_HOME }, { 3, RAY_KEY_DELETE }, { 4, RAY_KEY_END }, { 5, RAY_KEY_PAGE_UP },
	{ 7, RAY_KEY_HOME }, { 8, RAY_KEY_END },    { 11, RAY_KEY_F1 }, { 6, RAY_KEY_PAGE_DOWN },
};

size_t ray_keys_feed(struct ray_keys *k, const void *bytes, size_t count)
{
	size_t room = sizeof(k->bytes) - k->count;

	if (count > room)
		count = room;
	memcpy(k->bytes + k->count, bytes, count);
	k->count += count;
	return count;
}

bool ray_keys_waits(const struct ray_keys *k)
{
	return k->count != 0;
}

static uint32_t taken(struct ray_keys *k, size_t count, uint32_t key)
{
	k->count -= count;
	memmove(k->bytes, k->bytes + count, k->count);
	return key;
}

static uint32_t final_key(unsigned char final, int number)
{
	if (final == '~') {
		for (size_t i = 0; i < RAY_COUNT(tildes); i++)
			if (tildes[i].number == number)
				return tildes[i].key;
		return RAY_KEY_NONE;
	}
	for (size_t i = 0; i < RAY_COUNT(finals); i++)
		if ((unsigned char)finals[i].final == final)
			return finals[i].key;
	return RAY_KEY_NONE;
}

/* How long the sequence is that begins with ESC; 0: it has not ended yet. */
static size_t sequence(const struct ray_keys *k, uint32_t *key_ret)
{
	int number = 0;
	size_t i = 2;

	*key_ret = RAY_KEY_NONE;
	if (k->count < 3)
		return 0;
	if (k->bytes[1] == 'O') {
		*key_ret = final_key(k->bytes[2], 0);
		return 3;
	}
	for (; i < k->count && k->bytes[i] >= '0' && k->bytes[i] <= '9'; i++)
		if (number < 1000)
			number = number * 10 + k->bytes[i] - '0';
	while (i < k->count && k->bytes[i] >= 0x20 && k->bytes[i] < 0x40)
		i++;
	if (i == k->count)
		return 0;
	*key_ret = final_key(k->bytes[i], number);
	return i + 1;
}

static uint32_t escape(struct ray_keys *k, bool is_late)
{
	bool begins = k->count >= 2 && (k->bytes[1] == '[' || k->bytes[1] == 'O');
	size_t length;
	uint32_t key;

	if (k->count == 1 || !begins)
		return k->count > 1 || is_late ? taken(k, 1, RAY_KEY_ESCAPE) : RAY_KEY_NONE;
	length = sequence(k, &key);
	if (!length) /* one that fills all the room has no end */
		return is_late || k->count == sizeof(k->bytes) ? taken(k, k->count, RAY_KEY_NONE) : RAY_KEY_NONE;
	taken(k, length, key);
	return key ? key : ray_keys_next(k, is_late);
}

/* A letter in UTF-8. Broken ones are skipped. */
static uint32_t letter(struct ray_keys *k, bool is_late)
{
	unsigned char first = k->bytes[0];
	size_t need = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	uint32_t point = first & (0x7fu >> need);
	size_t i;

	if (first < 0xc2 || first > 0xf4)
		return taken(k, 1, RAY_KEY_NONE);
	for (i = 1; i < need && i < k->count; i++) {
		if ((k->bytes[i] & 0xc0) != 0x80)
			return taken(k, i, RAY_KEY_NONE);
		point = point << 6 | (k->bytes[i] & 63);
	}
	if (i < need)
		return is_late ? taken(k, k->count, RAY_KEY_NONE) : RAY_KEY_NONE;
	return taken(k, need, point > 0x10ffff || (point >= 0xd800 && point < 0xe000) ? RAY_KEY_NONE : point);
}

uint32_t ray_keys_next(struct ray_keys *k, bool is_late)
{
	uint32_t key = RAY_KEY_NONE;
	size_t before;

	/* What was swallowed is no reason to stop. */
	do {
		before = k->count;
		if (!before)
			return RAY_KEY_NONE;
		if (k->bytes[0] == ESC)
			return escape(k, is_late);
		if (k->bytes[0] >= 0x80)
			key = letter(k, is_late);
		else
			key = taken(k, 1, k->bytes[0]);
	} while (!key && k->count < before);
	if (key == '\r')
		return RAY_KEY_ENTER;
	return key == 8 ? RAY_KEY_BACKSPACE : key;
}
