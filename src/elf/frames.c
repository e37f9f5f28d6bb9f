/* frames.c - finds the frame description entry of an address in .eh_frame.
 * SPDX-License-Identifier: MIT
 *
 * By the binary search table of .eh_frame_hdr, so that only the pages on the way are touched: node
 * 26 has 130 000 entries. Without that table an index is made from all entries, once.
 *
 * Why not libdw: it sizes its rows by the register numbers it meets and keeps a copy per remembered
 * state, without a bound, so that a few damaged bytes cost gigabytes. */
#include <dwarf.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"
#include "elf/cfi.h"
#include "elf/cursor.h"
#include "elf/impl.h"

struct indexed_fde {
	uint64_t start, end;
	size_t offset;
};

/* Of the table in the file, at any address: distances from the header. */
struct __attribute__((packed)) table_entry {
	int32_t start, entry;
};

struct ray_unwinder {
	const uint8_t *frame; /* .eh_frame, to the end of its section or segment */
	size_t frame_size;
	uint64_t frame_vaddr;

	const struct table_entry *table;
	size_t table_count;
	uint64_t table_base;

	RAY_VEC(struct indexed_fde) index; /* when there is no table */
};

enum {
	TABLE_ENCODING = DW_EH_PE_datarel | DW_EH_PE_sdata4,
	AUGMENTATION_MAX = 16, /* "zPLRS" and its NUL are the most in use */
	PROGRAM_MAX = 1 << 20, /* bytes; real ones have up to some thousand */
};

uint64_t ray_unwinder_vaddr(const struct ray_unwinder *u, const uint8_t *at)
{
	return u->frame_vaddr + (uint64_t)(at - u->frame);
}

static uint64_t encoded_value(struct ray_cursor *c, uint8_t format)
{
	switch (format) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return ray_cursor_fixed(c, 8);
	case DW_EH_PE_udata4:
		return ray_cursor_fixed(c, 4);
	case DW_EH_PE_sdata4:
		return (uint64_t)ray_cursor_fixed_signed(c, 4);
	case DW_EH_PE_udata2:
		return ray_cursor_fixed(c, 2);
	case DW_EH_PE_sdata2:
		return (uint64_t)ray_cursor_fixed_signed(c, 2);
	case DW_EH_PE_uleb128:
		return ray_cursor_uleb(c);
	case DW_EH_PE_sleb128:
		return (uint64_t)ray_cursor_sleb(c);
	default:
		c->bad = true;
		return 0;
	}
}

uint64_t ray_cfi_address(struct ray_cursor *c, uint8_t encoding, uint64_t at)
{
	uint64_t value = encoded_value(c, encoding & 0x0f);

	switch (encoding & 0xf0) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		return at + value;
	default: /* relative to what only a loader knows, or indirect: no compiler does that to code */
		c->bad = true;
		return 0;
	}
}

/* One entry's contents after its length and id. */
struct entry {
	struct ray_cursor body;
	const uint8_t *id_at;
	uint64_t id;
	size_t next; /* offset of the entry after it */
};

/* False at the terminator and where the section ends. */
static bool read_entry(const struct ray_unwinder *u, uint64_t offset, struct entry *ret)
{
	struct ray_cursor c = { u->frame, u->frame + u->frame_size, false };
	size_t id_size = 4;
	uint64_t length;
	const uint8_t *start;

	ray_cursor_skip(&c, offset);
	length = ray_cursor_fixed(&c, 4);
	if (length == UINT32_MAX) {
		length = ray_cursor_fixed(&c, 8);
		id_size = 8;
	}
	start = c.at;
	if (c.bad || length < id_size || !ray_cursor_skip(&c, length))
		return false;
	ret->next = (size_t)(c.at - u->frame);
	ret->body = (struct ray_cursor){ start, start + length, false };
	ret->id_at = start;
	ret->id = ray_cursor_fixed(&ret->body, id_size);
	return true;
}

/* "zPLR": what stands in the CIE's augmentation data. */
static bool read_augmentation(struct ray_cursor *c, const char *text, struct ray_fde *ret)
{
	struct ray_cursor data;
	uint64_t size;
	const uint8_t *start;

	if (!*text)
		return true;
	if (*text != 'z')
		return false; /* gcc 2 and older; nothing alive writes that */
	ret->is_sized = true;
	size = ray_cursor_uleb(c);
	start = ray_cursor_skip(c, size);
	if (!start)
		return false;
	data = (struct ray_cursor){ start, start + size, false };
	for (text++; *text; text++) {
		switch (*text) {
		case 'R':
			ret->encoding = (uint8_t)ray_cursor_fixed(&data, 1);
			break;
		case 'P':
			encoded_value(&data, ray_cursor_fixed(&data, 1) & 0x0f);
			break;
		case 'L':
			ray_cursor_skip(&data, 1);
			break;
		case 'S':
			ret->is_signal_frame = true;
			break;
		default: /* the size lets us skip what we do not know, but nothing after it has a place */
			return !data.bad;
		}
	}
	return !data.bad;
}

static bool read_cie(const struct ray_unwinder *u, uint64_t offset, struct ray_fde *ret)
{
	struct entry e;
	struct ray_cursor *c = &e.body;
	const uint8_t *text;
	uint8_t version;
	size_t left;

	if (!read_entry(u, offset, &e) || e.id != 0)
		return false;
	version = (uint8_t)ray_cursor_fixed(c, 1);
	text = c->at;
	left = ray_cursor_left(c) < AUGMENTATION_MAX ? ray_cursor_left(c) : AUGMENTATION_MAX;
	if ((version != 1 && version != 3) || !memchr(text, 0, left))
		return false;
	ray_cursor_skip(c, strlen((const char *)text) + 1);
	ret->code_align = ray_cursor_uleb(c);
	ret->data_align = ray_cursor_sleb(c);
	ret->return_column = version == 1 ? ray_cursor_fixed(c, 1) : ray_cursor_uleb(c);
	ret->encoding = DW_EH_PE_absptr;
	if (!read_augmentation(c, (const char *)text, ret))
		return false;
	ret->initial = c->at;
	ret->initial_end = c->end;
	return !c->bad;
}

/* False if it is no usable FDE. ret holds another one, whose CIE may be the same, or zeros. */
static bool read_fde(const struct ray_unwinder *u, const struct entry *e, struct ray_fde *ret)
{
	struct ray_cursor c = e->body;
	uint64_t id_offset = (uint64_t)(e->id_at - u->frame), cie = id_offset - e->id + 1;

	if (!e->id || e->id > id_offset)
		return false;
	if (ret->cie != cie) {
		*ret = (struct ray_fde){ 0 };
		if (!read_cie(u, cie - 1, ret))
			return false;
		ret->cie = cie;
	}
	ret->start = ray_cfi_address(&c, ret->encoding, ray_unwinder_vaddr(u, c.at));
	ret->end = ret->start + encoded_value(&c, ret->encoding & 0x0f);
	if (ret->is_sized)
		ray_cursor_skip(&c, ray_cursor_uleb(&c));
	ret->program = c.at;
	ret->program_end = c.end;
	return !c.bad && ret->end > ret->start && c.end - c.at <= PROGRAM_MAX &&
	       ret->initial_end - ret->initial <= PROGRAM_MAX;
}

static uint64_t offset_in_table(const struct ray_unwinder *u, size_t i)
{
	return u->table_base + (uint64_t)(int64_t)u->table[i].entry - u->frame_vaddr;
}

/* The offset of the entry whose function is the last to start at or before vaddr. */
static bool search_table(const struct ray_unwinder *u, uint64_t vaddr, uint64_t *offset_ret)
{
	int64_t distance = (int64_t)(vaddr - u->table_base);
	size_t up_to = ray_search(u->table, u->table_count, one, one->start <= distance);

	if (!up_to)
		return false;
	*offset_ret = offset_in_table(u, up_to - 1);
	return true;
}

static bool search_index(const struct ray_unwinder *u, uint64_t vaddr, uint64_t *offset_ret)
{
	size_t up_to = ray_search(u->index.at, u->index.n, one, one->start <= vaddr);

	if (!up_to)
		return false;
	*offset_ret = u->index.at[up_to - 1].offset;
	return true;
}

enum ray_unwind_result ray_unwinder_find(const struct ray_unwinder *u, uint64_t vaddr, struct ray_fde *ret)
{
	struct entry e;
	uint64_t offset;

	*ret = (struct ray_fde){ 0 };
	if (!(u->table ? search_table(u, vaddr, &offset) : search_index(u, vaddr, &offset)))
		return RAY_UNWIND_NO_ROW;
	if (!read_entry(u, offset, &e) || !read_fde(u, &e, ret))
		return RAY_UNWIND_BAD;
	return vaddr >= ret->start && vaddr < ret->end ? RAY_UNWIND_OK : RAY_UNWIND_NO_ROW;
}

size_t ray_unwinder_size(const struct ray_unwinder *u)
{
	return u->frame_size;
}

enum ray_unwind_result ray_unwinder_entry(const struct ray_unwinder *u, size_t i, struct ray_fde *ret)
{
	uint64_t offset;
	struct entry e;

	if (i >= (u->table ? u->table_count : u->index.n))
		return RAY_UNWIND_NO_ROW;
	offset = u->table ? offset_in_table(u, i) : u->index.at[i].offset;
	return read_entry(u, offset, &e) && read_fde(u, &e, ret) ? RAY_UNWIND_OK : RAY_UNWIND_BAD;
}

static int by_start(const void *a, const void *b)
{
	const struct indexed_fde *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool make_index(struct ray_unwinder *u)
{
	struct entry e;
	struct ray_fde fde = { 0 };

	for (size_t offset = 0; read_entry(u, offset, &e); offset = e.next) {
		if (e.id && read_fde(u, &e, &fde) &&
		    !ray_vec_push(&u->index, (struct indexed_fde){ fde.start, fde.end, offset }))
			return false;
	}
	if (!u->index.n)
		return false;
	qsort(u->index.at, u->index.n, sizeof(*u->index.at), by_start);
	return true;
}

/* Finds .eh_frame and the table by .eh_frame_hdr. */
static bool use_header(struct ray_unwinder *u, struct ray_elf *e, const uint8_t *header, size_t size, uint64_t vaddr)
{
	struct ray_cursor c = { header, header + size, false };
	uint8_t version = (uint8_t)ray_cursor_fixed(&c, 1);
	uint8_t frame_encoding = (uint8_t)ray_cursor_fixed(&c, 1);
	uint8_t count_encoding = (uint8_t)ray_cursor_fixed(&c, 1);
	uint8_t table_encoding = (uint8_t)ray_cursor_fixed(&c, 1);
	uint64_t count;

	u->frame_vaddr = ray_cfi_address(&c, frame_encoding, vaddr + (uint64_t)(c.at - header));
	if (c.bad || version != 1)
		return false;
	u->frame = ray_elf_tail(e, u->frame_vaddr, &u->frame_size);
	if (!u->frame || count_encoding == DW_EH_PE_omit || table_encoding != TABLE_ENCODING)
		return u->frame != NULL;
	count = encoded_value(&c, count_encoding & 0x0f);
	if (!c.bad && count && count <= ray_cursor_left(&c) / sizeof(*u->table)) {
		u->table = (const void *)c.at;
		u->table_count = count;
		u->table_base = vaddr;
	}
	return true;
}

static bool locate(struct ray_unwinder *u, struct ray_elf *e)
{
	const Elf64_Phdr *p = ray_elf_phdr(e, PT_GNU_EH_FRAME);
	const uint8_t *header = p ? ray_elf_range(e, p->p_offset, p->p_filesz) : NULL;
	const void *section;

	if (header && use_header(u, e, header, p->p_filesz, p->p_vaddr))
		return true;
	if (!ray_elf_section(e, ".eh_frame", &section, &u->frame_size, &u->frame_vaddr))
		return false;
	u->frame = section;
	return true;
}

struct ray_unwinder *ray_unwinder_create(struct ray_elf *e)
{
	struct ray_unwinder *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	if (e->type == ET_CORE || e->machine != EM_X86_64 || !locate(u, e) || (!u->table && !make_index(u))) {
		ray_unwinder_free(u);
		return NULL;
	}
	return u;
}

void ray_unwinder_free(struct ray_unwinder *u)
{
	if (!u)
		return;
	ray_vec_free(&u->index);
	free(u);
}
