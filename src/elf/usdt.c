/* usdt.c - see usdt.h. SPDX-License-Identifier: MIT */
#include "elf/usdt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/notes.h"

enum { NOTE_STAPSDT = 3, NONE = 0xff, RIP = 16, MAX_WORD = 256, HIGH_BYTE = 8 };

struct walk {
	bool (*each)(const struct ray_usdt *probe, void *arg);
	void *arg;
	uint64_t base; /* where .stapsdt.base is now; 0 if the file has none */
};

/* A string that ends inside the note; moves on behind it. */
static const char *take_string(const char **at, const char *end)
{
	const char *text = *at;
	const char *nul = memchr(text, 0, (size_t)(end - text));

	if (!nul)
		return NULL;
	*at = nul + 1;
	return text;
}

static bool take_note(const char *owner, uint32_t type, const void *desc, size_t size, void *arg)
{
	const struct walk *w = arg;
	const char *at = (const char *)desc + 24, *end = (const char *)desc + size;
	struct ray_usdt probe = { 0 };
	uint64_t addresses[3]; /* the instruction, .stapsdt.base, the semaphore */

	if (strcmp(owner, "stapsdt") || type != NOTE_STAPSDT || size < 24)
		return true;
	memcpy(addresses, desc, sizeof(addresses));
	probe.provider = take_string(&at, end);
	probe.name = probe.provider ? take_string(&at, end) : NULL;
	probe.arguments = probe.name ? take_string(&at, end) : NULL;
	if (!probe.arguments || !*probe.provider || !*probe.name)
		return true;
	probe.vaddr = addresses[0] + (w->base ? w->base - addresses[1] : 0);
	probe.semaphore = addresses[2] ? addresses[2] + (w->base ? w->base - addresses[1] : 0) : 0;
	return w->each(&probe, w->arg);
}

void ray_usdt_each(struct ray_elf *e, bool (*each)(const struct ray_usdt *probe, void *arg), void *arg)
{
	struct walk w = { .each = each, .arg = arg };
	const void *bytes;
	uint64_t vaddr;
	size_t size;

	if (ray_elf_section(e, ".stapsdt.base", &bytes, &size, &vaddr))
		w.base = vaddr;
	if (ray_elf_section(e, ".note.stapsdt", &bytes, &size, &vaddr))
		ray_note_each(bytes, size, 4, take_note, &w);
}

/* ---- arguments ---- */

/* Names by register, in the order of struct pt_regs: 8, 4, 2, 1 bytes, and the second byte. */
static const struct {
	const char *names[5];
	uint8_t reg;
} registers[] = {
	{ { "r15", "r15d", "r15w", "r15b", NULL }, 0 }, { { "r14", "r14d", "r14w", "r14b", NULL }, 1 },
	{ { "r13", "r13d", "r13w", "r13b", NULL }, 2 }, { { "r12", "r12d", "r12w", "r12b", NULL }, 3 },
	{ { "rbp", "ebp", "bp", "bpl", NULL }, 4 },	{ { "rbx", "ebx", "bx", "bl", "bh" }, 5 },
	{ { "r11", "r11d", "r11w", "r11b", NULL }, 6 }, { { "r10", "r10d", "r10w", "r10b", NULL }, 7 },
	{ { "r9", "r9d", "r9w", "r9b", NULL }, 8 },	{ { "r8", "r8d", "r8w", "r8b", NULL }, 9 },
	{ { "rax", "eax", "ax", "al", "ah" }, 10 },	{ { "rcx", "ecx", "cx", "cl", "ch" }, 11 },
	{ { "rdx", "edx", "dx", "dl", "dh" }, 12 },	{ { "rsi", "esi", "si", "sil", NULL }, 13 },
	{ { "rdi", "edi", "di", "dil", NULL }, 14 },	{ { "rip", "eip", "ip", NULL, NULL }, RIP },
	{ { "rsp", "esp", "sp", "spl", NULL }, 19 },
};

/* "%eax" -> its number; how many characters it took, 0 if it is none. */
static size_t parse_register(const char *text, uint8_t *ret, bool *is_high_ret)
{
	size_t i, j, length;

	if (*text != '%')
		return 0;
	length = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz0123456789");
	for (i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		for (j = 0; j < 5; j++)
			if (registers[i].names[j] && strlen(registers[i].names[j]) == length &&
			    !memcmp(registers[i].names[j], text + 1, length)) {
				*ret = registers[i].reg;
				*is_high_ret = j == 4;
				return length + 1;
			}
	return 0;
}

/* "counter", "counter+8", "8+counter", "-16", "" before a parenthesis or after a $. */
static bool parse_sum(struct ray_elf *e, const char *text, size_t length, int64_t *ret, bool *has_symbol_ret)
{
	ray_auto_memory char *copy = strndup(text, length);
	struct ray_symbol symbol;
	char *at = copy, *end, kept;
	int64_t sign, value;

	*ret = 0;
	*has_symbol_ret = false;
	while (at && *at) {
		sign = *at == '-' ? -1 : 1;
		at += *at == '-' || *at == '+';
		value = (int64_t)strtoull(at, &end, 0);
		if (end == at) {
			end = at + strcspn(at, "+-");
			kept = *end;
			*end = 0;
			if (!ray_elf_find_symbol(e, at, &symbol))
				return false;
			*end = kept;
			value = (int64_t)symbol.value;
			*has_symbol_ret = true;
		}
		*ret += sign * value;
		at = end;
	}
	return copy != NULL;
}

/* "disp(%base,%index,scale)"; a bare symbol or number is an address. */
static bool parse_memory(struct ray_elf *e, const struct ray_usdt *probe, const char *text, struct ray_fetch *f)
{
	const char *open = strchr(text, '(');
	bool has_symbol, is_high;
	size_t length;
	int scale = 1;

	f->kind = RAY_FETCH_MEM;
	f->reg = f->index = NONE;
	if (!parse_sum(e, text, open ? (size_t)(open - text) : strlen(text), (int64_t *)&f->value, &has_symbol))
		return false;
	if (!open)
		return true;
	length = parse_register(open + 1, &f->reg, &is_high);
	text = open + 1 + length;
	if (*text == ',') {
		length = parse_register(text + 1, &f->index, &is_high);
		if (!length)
			return false;
		text += 1 + length;
		if (*text == ',')
			scale = (int)strtol(text + 1, (char **)&text, 10);
	}
	if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
		return false;
	f->scale = (uint8_t)__builtin_ctz((unsigned)scale);
	/* By symbol: from the probe, whose address rip holds when it fires. */
	if (f->reg == RIP && has_symbol)
		f->value -= (int64_t)probe->vaddr;
	return *text == ')';
}

/* One argument: [-]size@operand. */
static bool parse_argument(struct ray_elf *e, const struct ray_usdt *probe, const char *text, struct ray_fetch *f)
{
	const char *at = strchr(text, '@');
	bool is_high = false, has_symbol;
	size_t length;
	long size = 8;

	if (at) {
		size = strtol(text, NULL, 10);
		if (at > text && at[-1] == 'f')
			return false; /* a float in a register that the kernel does not show */
		text = at + 1;
	}
	f->flags = size < 0;
	size = labs(size);
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return false;
	f->size = (uint8_t)size;
	if (*text == '$') {
		f->kind = RAY_FETCH_CONST;
		return parse_sum(e, text + 1, strlen(text + 1), (int64_t *)&f->value, &has_symbol);
	}
	length = parse_register(text, &f->reg, &is_high);
	if (!length)
		return parse_memory(e, probe, text, f);
	f->kind = RAY_FETCH_REG;
	f->scale = is_high ? HIGH_BYTE : 0;
	return !text[length];
}

size_t ray_usdt_arguments(struct ray_elf *e, const struct ray_usdt *probe, struct ray_fetch fetch[RAY_ARGS])
{
	const char *text = probe->arguments;
	char word[MAX_WORD];
	size_t n = 0, length;

	memset(fetch, 0, sizeof(*fetch) * RAY_ARGS);
	for (text += strspn(text, " "); *text && n < RAY_ARGS; text += strspn(text, " ")) {
		length = strcspn(text, " ");
		if (length < sizeof(word)) {
			snprintf(word, sizeof(word), "%.*s", (int)length, text);
			if (!parse_argument(e, probe, word, &fetch[n]))
				fetch[n] = (struct ray_fetch){ .kind = RAY_FETCH_NONE, .size = 8 };
		}
		n++;
		text += length;
	}
	return n;
}
