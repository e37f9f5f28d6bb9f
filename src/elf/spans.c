/* spans.c - which symbol covers an address.
 * SPDX-License-Identifier: MIT
 *
 * An index of spans sorted by start, made at the first question. Code written in assembly, V8's
 * builtins among it, has labels without a size: such a label reaches to the next symbol, but never
 * past its section (or the PLT would be called _init), and does not count inside a sized function. */
#include <string.h>

#include "base/search.h"
#include "elf/impl.h"

/* How far back a lookup goes for a span that encloses the nearest ones, and how much of a name it measures:
 * bounds for damaged tables only. */
enum { BACK_MAX = 1024, NAME_LENGTH_MAX = 4096 };

static bool is_code_or_data(const Elf64_Sym *s)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	return s->st_shndx != SHN_UNDEF && s->st_shndx != SHN_ABS && s->st_shndx != SHN_COMMON && s->st_name &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE || type == STT_OBJECT);
}

static bool is_function(const Elf64_Sym *s)
{
	return ELF64_ST_TYPE(s->st_info) == STT_FUNC || ELF64_ST_TYPE(s->st_info) == STT_GNU_IFUNC;
}

/* aarch64 marks code and data with "$x" and "$d": not names of anything. */
static bool is_mapping_symbol(const char *name)
{
	return name[0] == '$' && (name[1] == 'x' || name[1] == 'd') && (!name[2] || name[2] == '.');
}

/* Sorts by start, which spans from base to base + range: three passes for a whole node. */
static struct ray_span *sort_spans(struct ray_span *spans, struct ray_span *spare, size_t n, uint64_t base,
				   uint64_t range)
{
	enum { BITS = 11, BUCKETS = 1 << BITS };

	for (unsigned shift = 0; shift < 64 && range >> shift; shift += BITS) {
		size_t count[BUCKETS + 1] = { 0 };
		struct ray_span *swap = spans;

		for (size_t i = 0; i < n; i++)
			count[((spans[i].start - base) >> shift & (BUCKETS - 1)) + 1]++;
		for (size_t i = 1; i <= BUCKETS; i++)
			count[i] += count[i - 1];
		for (size_t i = 0; i < n; i++)
			spare[count[(spans[i].start - base) >> shift & (BUCKETS - 1)]++] = spans[i];
		spans = spare;
		spare = swap;
	}
	return spans;
}

static uint32_t saturate(uint64_t value)
{
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* Where a label without size must end at the latest. */
static uint64_t label_limit(const struct ray_symbols *t, const struct ray_elf *image, const Elf64_Sym *s)
{
	const Elf64_Phdr *p;

	if (s->st_shndx < t->owner->section_count) {
		const Elf64_Shdr *section = &t->owner->sections[s->st_shndx];

		if (s->st_value >= section->sh_addr && s->st_value - section->sh_addr < section->sh_size)
			return section->sh_addr + section->sh_size;
	}
	p = ray_elf_segment(image, s->st_value);
	return p ? p->p_vaddr + p->p_memsz : s->st_value;
}

/* Gives labels their extent, from the last to the first. */
static void size_labels(const struct ray_elf *e, const struct ray_symbols *const *tables, struct ray_span *spans,
			size_t n)
{
	uint64_t next = UINT64_MAX, start = UINT64_MAX;
	Elf64_Sym s;

	for (size_t i = n; i-- > 0;) {
		if (spans[i].start != start) {
			next = start;
			start = spans[i].start;
		}
		if (spans[i].size)
			continue;
		ray_symbols_entry(tables[spans[i].table], spans[i].index, &s);
		uint64_t limit = label_limit(tables[spans[i].table], e, &s);

		if (limit > next)
			limit = next;
		spans[i].size = limit > start ? saturate(limit - start) : 0;
	}
}

/* Removes labels inside of sized functions; returns how many spans are left. */
static size_t drop_inner_labels(struct ray_span *spans, size_t n)
{
	uint64_t covered = 0; /* by sized functions, up to here */
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct ray_span span = spans[i];

		if (span.size) {
			uint64_t end = span.start + span.size;

			if (span.is_function && end > covered)
				covered = end;
		} else if (span.start < covered) {
			continue;
		}
		spans[kept++] = span;
	}
	return kept;
}

/* From the first to the last address of the image. */
static void image_bounds(const struct ray_elf *e, uint64_t *low_ret, uint64_t *high_ret)
{
	*low_ret = e->phdr_count ? UINT64_MAX : 0;
	*high_ret = e->phdr_count ? 0 : UINT64_MAX;
	for (size_t i = 0; i < e->phdr_count; i++) {
		const Elf64_Phdr *p = &e->phdrs[i];

		if (p->p_type != PT_LOAD || !p->p_memsz)
			continue;
		*low_ret = p->p_vaddr < *low_ret ? p->p_vaddr : *low_ret;
		*high_ret = p->p_vaddr + (p->p_memsz - 1) > *high_ret ? p->p_vaddr + (p->p_memsz - 1) : *high_ret;
	}
}

/* What is collected, and the lowest and highest start in it. */
struct collection {
	struct ray_span *spans;
	size_t n;
	uint64_t low, high;
};

static void collect(const struct ray_elf *e, const struct ray_symbols *t, unsigned table, struct collection *c)
{
	uint64_t first, last;
	Elf64_Sym s;

	image_bounds(e, &first, &last);
	for (uint32_t i = 0; ray_symbols_entry(t, i, &s); i++) {
		if (!is_code_or_data(&s) || s.st_value < first || s.st_value > last)
			continue;
		if (e->machine == EM_AARCH64 && is_mapping_symbol(ray_symbols_name(t, &s)))
			continue;
		c->spans[c->n++] = (struct ray_span){ .start = s.st_value,
						      .size = saturate(s.st_size),
						      .index = i,
						      .table = table,
						      .is_function = is_function(&s) };
		c->low = s.st_value < c->low ? s.st_value : c->low;
		c->high = s.st_value > c->high ? s.st_value : c->high;
	}
}

static void index_spans(struct ray_elf *e)
{
	const struct ray_symbols *tables[RAY_TABLES_MAX];
	size_t count = ray_elf_tables(e, tables), room = 1;
	struct collection c = { .low = UINT64_MAX };
	struct ray_span *spare, *sorted;

	if (e->spans_done)
		return;
	e->spans_done = true;
	for (size_t i = 0; i < count; i++)
		room += tables[i]->count;
	c.spans = reallocarray(NULL, room, sizeof(*c.spans));
	spare = reallocarray(NULL, room, sizeof(*spare));
	if (!c.spans || !spare) {
		free(c.spans);
		free(spare);
		return;
	}
	for (unsigned i = 0; i < count; i++)
		collect(e, tables[i], i, &c);
	sorted = sort_spans(c.spans, spare, c.n, c.low, c.n ? c.high - c.low : 0);
	e->span_count = drop_inner_labels(sorted, c.n);
	size_labels(e, tables, sorted, e->span_count);
	e->spans = sorted;
	free(sorted == c.spans ? spare : c.spans);
}

/* One, two, or more all count as two. */
static int underscores(const char *name)
{
	return name[0] != '_' ? 0 : name[1] != '_' ? 1 : 2;
}

struct candidate {
	const struct ray_span *span;
	Elf64_Sym symbol;
	const char *name;
};

static bool is_local(const struct candidate *c)
{
	return ELF64_ST_BIND(c->symbol.st_info) == STB_LOCAL;
}

/* Of two names for one place: a function, then one with a size, then a public one, then the one with
 * fewer underscores in front (poll, not __poll; libc's plain names are the weak ones), then the shorter. */
static bool is_better(const struct candidate *a, const struct candidate *b)
{
	if (a->span->is_function != b->span->is_function)
		return a->span->is_function;
	if (!a->symbol.st_size != !b->symbol.st_size)
		return a->symbol.st_size != 0;
	if (is_local(a) != is_local(b))
		return is_local(b);
	if (underscores(a->name) != underscores(b->name))
		return underscores(a->name) < underscores(b->name);
	return strnlen(a->name, NAME_LENGTH_MAX) < strnlen(b->name, NAME_LENGTH_MAX);
}

/* How many spans start at or before vaddr. */
static size_t count_up_to(const struct ray_elf *e, uint64_t vaddr)
{
	return ray_search(e->spans, e->span_count, one, one->start <= vaddr);
}

static bool find_symbol(struct ray_elf *e, uint64_t vaddr, struct ray_symbol *ret)
{
	const struct ray_symbols *tables[RAY_TABLES_MAX];
	struct candidate best = { 0 }, c;
	size_t i, end;

	index_spans(e);
	ray_elf_tables(e, tables);
	i = count_up_to(e, vaddr);
	end = i > BACK_MAX ? i - BACK_MAX : 0;
	/* The nearest start that covers vaddr; among its aliases the best. */
	while (i-- > end) {
		c.span = &e->spans[i];
		if (best.span && c.span->start != best.span->start)
			break;
		if (vaddr - c.span->start >= c.span->size)
			continue;
		ray_symbols_entry(tables[c.span->table], c.span->index, &c.symbol);
		c.name = ray_symbols_name(tables[c.span->table], &c.symbol);
		if (*c.name && (!best.span || is_better(&c, &best)))
			best = c;
	}
	if (!best.span)
		return false;
	ray_symbols_fill(tables[best.span->table], &best.symbol, ret);
	ret->size = best.span->size;
	return true;
}

bool ray_elf_symbol_at(struct ray_elf *e, uint64_t vaddr, struct ray_symbol *ret)
{
	struct ray_asked_symbol *a = &e->asked[(vaddr ^ vaddr >> 8) % RAY_ASKED_SYMBOLS];

	if (!a->is_known || a->vaddr != vaddr) {
		a->vaddr = vaddr;
		a->is_found = find_symbol(e, vaddr, &a->symbol);
		a->is_known = true;
	}
	if (a->is_found)
		*ret = a->symbol;
	return a->is_found;
}
