/* object.c - reads a BPF object with libelf; see object.h. SPDX-License-Identifier: MIT */
#include "engine/object.h"

#include <gelf.h>
#include <linux/btf.h>
#include <string.h>

#include "base/search.h"

/* What linux/btf.h does not say: the section that tells which function has which type. */
struct btf_ext_head {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t head_size;
	uint32_t func_info_at, func_info_size; /* from the end of the head */
};
struct btf_ext_section {
	uint32_t name_at;
	uint32_t count;
};

struct reader {
	Elf *elf;
	struct ray_object *object;
	size_t text;  /* index of .text */
	size_t names; /* of section names */
	Elf_Data *symbols, *relocations, *ext;
	size_t symbol_names;
};

static struct ray_error *broken(const char *what)
{
	return ray_error_new(RAY_FAILED, "the built-in BPF object is damaged: %s", what);
}

void ray_object_free(struct ray_object *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->functions.n; i++)
		free(o->functions.at[i].name);
	ray_vec_free(&o->functions);
	ray_vec_free(&o->insns);
	ray_vec_free(&o->calls);
	free(o->btf);
	free(o);
}

const struct ray_object_function *ray_object_find(const struct ray_object *o, const char *name)
{
	for (size_t i = 0; i < o->functions.n; i++)
		if (!strcmp(o->functions.at[i].name, name))
			return &o->functions.at[i];
	return NULL;
}

static struct ray_error *take_text(struct reader *r, Elf_Data *data)
{
	struct bpf_insn insn;

	if (data->d_size % sizeof(insn))
		return broken("half an instruction");
	for (size_t at = 0; at < data->d_size; at += sizeof(insn)) {
		memcpy(&insn, (char *)data->d_buf + at, sizeof(insn));
		if (!ray_vec_push(&r->object->insns, insn))
			return &ray_enomem;
	}
	return NULL;
}

static struct ray_error *take_section(struct reader *r, Elf_Scn *section, const GElf_Shdr *head)
{
	const char *name = elf_strptr(r->elf, r->names, head->sh_name);
	Elf_Data *data = elf_rawdata(section, NULL);

	if (!name || !data || (data->d_size && !data->d_buf))
		return NULL; /* whoever needs it misses it */
	if (!strcmp(name, ".text")) {
		r->text = elf_ndxscn(section);
		return take_text(r, data);
	}
	if (!strcmp(name, ".BTF")) {
		r->object->btf = malloc(data->d_size);
		if (!r->object->btf)
			return &ray_enomem;
		memcpy(r->object->btf, data->d_buf, data->d_size);
		r->object->btf_size = data->d_size;
	} else if (!strcmp(name, ".BTF.ext")) {
		r->ext = data;
	} else if (head->sh_type == SHT_SYMTAB) {
		r->symbols = elf_getdata(section, NULL);
		r->symbol_names = head->sh_link;
	} else if (!strcmp(name, ".rel.text")) {
		r->relocations = elf_getdata(section, NULL);
	}
	return NULL;
}

static struct ray_error *take_sections(struct reader *r)
{
	Elf_Scn *section = NULL;
	struct ray_error *err;
	GElf_Shdr head;

	if (elf_getshdrstrndx(r->elf, &r->names))
		return broken("no section names");
	while ((section = elf_nextscn(r->elf, section)) != NULL) {
		if (!gelf_getshdr(section, &head))
			return broken("a section head");
		err = take_section(r, section, &head);
		if (err)
			return err;
	}
	if (!r->object->insns.n || !r->object->btf || !r->ext || !r->symbols)
		return broken("a section is missing");
	return NULL;
}

static int by_start(const void *a, const void *b)
{
	const struct ray_object_function *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static struct ray_error *take_functions(struct reader *r)
{
	struct ray_object *o = r->object;
	struct ray_object_function f;
	const char *name;
	GElf_Sym symbol;

	for (int i = 0; gelf_getsym(r->symbols, i, &symbol); i++) {
		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx != r->text)
			continue;
		name = elf_strptr(r->elf, r->symbol_names, symbol.st_name);
		if (!name || symbol.st_value % 8 || symbol.st_size % 8 || symbol.st_value / 8 > o->insns.n ||
		    symbol.st_size / 8 > o->insns.n - symbol.st_value / 8 || !symbol.st_size)
			return broken("a function outside of the code");
		f = (struct ray_object_function){ .start = symbol.st_value / 8,
						  .count = symbol.st_size / 8,
						  .is_global = GELF_ST_BIND(symbol.st_info) == STB_GLOBAL,
						  .name = strdup(name) };
		if (!f.name)
			return &ray_enomem;
		if (!ray_vec_push(&o->functions, f)) {
			free(f.name);
			return &ray_enomem;
		}
	}
	if (o->functions.n)
		qsort(o->functions.at, o->functions.n, sizeof(f), by_start);
	return NULL;
}

static int64_t function_at(const struct ray_object *o, uint64_t insn)
{
	size_t i = ray_search(o->functions.at, o->functions.n, one, one->start < insn);

	return i < o->functions.n && o->functions.at[i].start == insn ? (int64_t)i : -1;
}

/* Where a relocated instruction leads: clang names the function, or .text with the rest in the immediate. */
static struct ray_error *take_relocation(struct reader *r, const GElf_Rel *rel, int64_t *targets)
{
	struct ray_object *o = r->object;
	uint64_t at = rel->r_offset / 8, target;
	struct bpf_insn *insn;
	GElf_Sym symbol;

	if (rel->r_offset % 8 || at >= o->insns.n || !gelf_getsym(r->symbols, (int)GELF_R_SYM(rel->r_info), &symbol))
		return broken("a relocation");
	if (symbol.st_shndx != r->text)
		return broken("a reference outside of the code");
	insn = &o->insns.at[at];
	target = symbol.st_value / 8;
	if (GELF_ST_TYPE(symbol.st_info) == STT_SECTION)
		target += insn->code == (BPF_LD | BPF_IMM | BPF_DW) ? (int64_t)insn->imm / 8 : (int64_t)insn->imm + 1;
	targets[at] = function_at(o, target);
	return targets[at] < 0 ? broken("a reference to no function") : NULL;
}

static struct ray_error *take_calls(struct reader *r, int64_t *targets)
{
	struct ray_object *o = r->object;

	for (uint32_t i = 0; i < o->insns.n; i++) {
		const struct bpf_insn *insn = &o->insns.at[i];
		bool is_wide = insn->code == (BPF_LD | BPF_IMM | BPF_DW);
		bool is_call = insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL;

		if (is_wide && i + 1 >= o->insns.n)
			return broken("half a constant");
		if (targets[i] < 0 && is_call)
			targets[i] = function_at(o, (uint64_t)((int64_t)i + 1 + insn->imm));
		if (targets[i] < 0 && is_call)
			return broken("a call of no function");
		if (targets[i] >= 0) {
			if (!is_wide && !is_call)
				return broken("a relocation of an instruction that names nothing");
			if (!ray_vec_push(&o->calls, (struct ray_object_call){ i, (uint32_t)targets[i], is_wide }))
				return &ray_enomem;
		}
		i += is_wide;
	}
	return NULL;
}

static struct ray_error *take_references(struct reader *r)
{
	ray_auto_memory int64_t *targets = malloc(r->object->insns.n * sizeof(*targets));
	struct ray_error *err;
	GElf_Rel rel;

	if (!targets)
		return &ray_enomem;
	for (size_t i = 0; i < r->object->insns.n; i++)
		targets[i] = -1;
	for (int i = 0; r->relocations && gelf_getrel(r->relocations, i, &rel); i++) {
		err = take_relocation(r, &rel, targets);
		if (err)
			return err;
	}
	return take_calls(r, targets);
}

/* The only section with functions is .text, so its name need not be looked at. */
static struct ray_error *take_types(struct reader *r)
{
	struct ray_object *o = r->object;
	const char *bytes = r->ext->d_buf;
	size_t size = r->ext->d_size, at, end;
	struct btf_ext_section section;
	struct btf_ext_head head;
	uint32_t record;

	if (size < sizeof(head))
		return broken(".BTF.ext");
	memcpy(&head, bytes, sizeof(head));
	if (head.magic != BTF_MAGIC || head.head_size > size || head.func_info_at > size - head.head_size ||
	    head.func_info_size > size - head.head_size - head.func_info_at || head.func_info_size < sizeof(record))
		return broken(".BTF.ext");
	at = head.head_size + head.func_info_at;
	end = at + head.func_info_size;
	memcpy(&record, bytes + at, sizeof(record));
	at += sizeof(record);
	if (record < sizeof(struct bpf_func_info) || record > 4096)
		return broken(".BTF.ext");
	while (end - at >= sizeof(section)) {
		memcpy(&section, bytes + at, sizeof(section));
		at += sizeof(section);
		for (; section.count; section.count--, at += record) {
			struct bpf_func_info info;
			int64_t index;

			if (end - at < record)
				return broken(".BTF.ext");
			memcpy(&info, bytes + at, sizeof(info));
			index = info.insn_off % 8 ? -1 : function_at(o, info.insn_off / 8);
			if (index < 0)
				return broken("a type of no function");
			o->functions.at[index].type_id = info.type_id;
		}
	}
	for (size_t i = 0; i < o->functions.n; i++) {
		if (!o->functions.at[i].type_id)
			return broken("a function without a type");
		if (!o->functions.at[i].is_global)
			o->static_type_id = o->functions.at[i].type_id;
	}
	return o->static_type_id ? NULL : broken("no static function");
}

static struct ray_error *take_all(struct reader *r)
{
	struct ray_error *err = take_sections(r);

	if (!err)
		err = take_functions(r);
	if (!err)
		err = take_references(r);
	if (!err)
		err = take_types(r);
	return err;
}

struct ray_error *ray_object_create(const void *bytes, size_t size, struct ray_object **ret)
{
	ray_auto(ray_object, o) = calloc(1, sizeof(*o));
	struct reader r = { .object = o };
	struct ray_error *err;

	if (!o)
		return &ray_enomem;
	elf_version(EV_CURRENT);
	/* libelf does not write to it. */
	r.elf = elf_memory((char *)bytes, size);
	if (!r.elf)
		return broken(elf_errmsg(-1));
	err = take_all(&r);
	elf_end(r.elf);
	if (err)
		return err;
	*ret = ray_take(o);
	return NULL;
}
