/* print_code.c - -S: the code of clauses and programs, and the variables a clause uses.
 * SPDX-License-Identifier: MIT
 *
 * What is shown is chosen by -x disasm, as in DTrace: 1 clauses as generated, 2 programs before linking, 4 and 8 programs with all they
 * call; without it, 1 and 2. Nothing is loaded for it: maps have no numbers yet. */
#include <string.h>

#include "engine/disasm.h"
#include "engine/internal.h"
#include "engine/link.h"
#include "engine/plan_walk.h"

enum { SHOW_CLAUSES = 1, SHOW_PROGRAMS = 2, SHOW_LINKED = 4, SHOW_FINAL = 8, USER_IDS = 0x500 };

/* ---- instructions ---- */

static const char *const link_names[] = {
#define NAME(name) [RAY_LINK_##name] = #name,
	RAY_LINK_MAPS(NAME) RAY_LINK_CONSTS(NAME)
#undef NAME
};

static const char *number_name(uint32_t number, char out[32])
{
	if (number < RAY_COUNT(link_names) && link_names[number])
		return link_names[number];
	snprintf(out, 32, "map %u", number - RAY_MAP_OWN);
	return out;
}

static const char *remark_of(const struct ray_piece *p, uint32_t insn, char out[32])
{
	for (size_t i = 0; i < p->references.n; i++) {
		const struct ray_reference *ref = &p->references.at[i];

		if (ref->insn != insn)
			continue;
		switch (ref->kind) {
		case RAY_REF_RUNTIME:
			return ref->function;
		case RAY_REF_PIECE:
		case RAY_REF_PIECE_ADDRESS:
			return ref->piece->name;
		case RAY_REF_MAP:
		case RAY_REF_CONST:
			return number_name(ref->number, out);
		case RAY_REF_PC:
			return "from the start of the program";
		}
	}
	return NULL;
}

static void print_head(FILE *out)
{
	fprintf(out, "%-4s %-5s  %-20s    %s\n", "INS", "OFF", "OPCODE", "INSTRUCTION");
}

static void print_piece(FILE *out, const struct ray_piece *p)
{
	char name[32];

	print_head(out);
	for (uint32_t i = 0; i < p->insns.n;)
		i += ray_insn_print(out, &p->insns.at[i], i, i + 1 >= p->insns.n, remark_of(p, i, name));
}

/* ---- variables ---- */

struct use {
	const struct ray_variable *variable;
	const struct ray_aggregation *aggregation;
	bool is_read, is_written;
};

struct uses {
	RAY_VEC(struct use) all;
};

static struct use *use_of(struct uses *u, const struct ray_variable *v, const struct ray_aggregation *a)
{
	for (size_t i = 0; i < u->all.n; i++)
		if (u->all.at[i].variable == v && u->all.at[i].aggregation == a)
			return &u->all.at[i];
	return ray_vec_push(&u->all, (struct use){ .variable = v, .aggregation = a }) ? &u->all.at[u->all.n - 1] : NULL;
}

static bool is_variable(const struct ray_expr *e)
{
	return e->variable && (e->kind == RAY_EXPR_VARIABLE || e->kind == RAY_EXPR_ELEMENT);
}

static bool is_step(const struct ray_expr *e)
{
	return e->kind == RAY_EXPR_UNARY && (e->op == RAY_OP_PRE_INC || e->op == RAY_OP_PRE_DEC ||
					     e->op == RAY_OP_POST_INC || e->op == RAY_OP_POST_DEC);
}

static void collect(struct uses *u, const struct ray_expr *e, bool is_target)
{
	struct use *use;

	if (!e)
		return;
	if (is_variable(e) && (use = use_of(u, e->variable, NULL)) != NULL) {
		use->is_written |= is_target;
		use->is_read |= !is_target;
	}
	if (e->kind == RAY_EXPR_AGGREGATION && (use = use_of(u, NULL, e->aggregation)) != NULL)
		use->is_read = true;
	if (e->kind == RAY_EXPR_ASSIGN && is_variable(e->a)) {
		collect(u, e->a, true);
		if (e->op != RAY_OP_NONE)
			collect(u, e->a, false);
	} else {
		collect(u, e->a, is_step(e));
		if (is_step(e))
			collect(u, e->a, false);
	}
	collect(u, e->b, false);
	collect(u, e->c, false);
	for (size_t i = 0; i < e->arg_count; i++)
		collect(u, e->args[i], false);
}

static void collect_clause(struct uses *u, const struct ray_clause *clause)
{
	struct use *use;

	collect(u, clause->predicate, false);
	for (size_t i = 0; i < clause->statement_count; i++) {
		const struct ray_statement *s = &clause->statements[i];

		collect(u, s->expr, false);
		for (size_t j = 0; j < s->key_count; j++)
			collect(u, s->keys[j], false);
		for (size_t j = 0; j < s->arg_count; j++)
			collect(u, s->args[j], false);
		if (s->kind == RAY_STATEMENT_AGGREGATE && (use = use_of(u, NULL, s->aggregation)) != NULL)
			use->is_written = true;
	}
}

static const char *kind_name(const struct ray_type *type)
{
	switch (ray_type_resolve(type)->kind) {
	case RAY_TYPE_INTEGER:
		return "integer";
	case RAY_TYPE_FLOAT:
		return "float";
	case RAY_TYPE_POINTER:
		return "pointer";
	case RAY_TYPE_ARRAY:
		return "array";
	case RAY_TYPE_STRUCT:
		return "struct";
	case RAY_TYPE_UNION:
		return "union";
	case RAY_TYPE_ENUM:
		return "enum";
	default:
		return "unknown";
	}
}

/* A structure's, up to the end of its last member: DTrace does not pad it. */
static uint64_t shown_size(const struct ray_type *type)
{
	const struct ray_type *t = ray_type_resolve(type);
	uint64_t end = 0;

	if (t->kind != RAY_TYPE_STRUCT)
		return t->size;
	for (uint64_t i = 0; i < t->count; i++) {
		const struct ray_member *m = &t->members[i];
		uint64_t last = m->bit_offset + (m->bit_width ? m->bit_width : 8 * shown_size(m->type));

		end = last > end ? last : end;
	}
	return (end + 7) / 8;
}

static void print_type(FILE *out, const struct ray_trace *t, const struct ray_type *type)
{
	if (!type || ray_type_resolve(type)->kind == RAY_TYPE_DYNAMIC)
		fprintf(out, "any (unknown) by ref (size 0)\n");
	else if (ray_type_is_string(type))
		fprintf(out, "string (unknown) by ref (size %llu)\n", (unsigned long long)t->options.strsize);
	else
		fprintf(out, "D type (%s)%s (size %llu)\n", kind_name(type),
			ray_type_is_by_reference(type) ? " by ref" : "", (unsigned long long)shown_size(type));
}

static void print_variable(FILE *out, const struct ray_trace *t, const struct use *use, size_t insns)
{
	static const char *const scopes[] = { "glb", "tls", "loc", "glb", "glb" };
	const struct ray_variable *v = use->variable;
	char offset[16] = "", range[32];

	snprintf(range, sizeof(range), "[0-%zu]", insns ? insns - 1 : 0);
	if (!v) {
		fprintf(out, "%-16s %-4x %-6s %-3s %-3s %-11s %-4s ", use->aggregation->name, use->aggregation->id, "",
			"agg", "glb", range, use->is_written ? "w" : "r");
		print_type(out, t, NULL);
		return;
	}
	if (v->scope == RAY_SCOPE_THREAD)
		snprintf(offset, sizeof(offset), "0");
	else if (v->scope == RAY_SCOPE_GLOBAL || v->scope == RAY_SCOPE_CLAUSE)
		snprintf(offset, sizeof(offset), "%u",
			 v->is_assoc ? 0 :
				       t->plan->variables[v->scope][v->id].offset -
					       (v->scope == RAY_SCOPE_CLAUSE ? t->plan->locals_at : 0));
	fprintf(out, "%-16s %-4x %-6s %-3s %-3s %-11s %-4s ", v->name,
		v->scope == RAY_SCOPE_BUILTIN ? (unsigned)v->builtin : USER_IDS + v->id, offset,
		v->is_assoc ? "arr" : "scl", scopes[v->scope], range,
		use->is_read ? (use->is_written ? "r/w" : "r") : "w");
	print_type(out, t, v->type);
}

static void print_variables(FILE *out, const struct ray_trace *t, const struct ray_clause *const *clauses, size_t count,
			    size_t insns)
{
	struct uses u = { 0 };

	for (size_t i = 0; i < count; i++)
		collect_clause(&u, clauses[i]);
	if (u.all.n)
		fprintf(out, "\n%-16s %-4s %-6s %-3s %-3s %-11s %-4s %s\n", "NAME", "ID", "OFFSET", "KND", "SCP",
			"RANGE", "FLAG", "TYPE");
	for (size_t i = 0; i < u.all.n; i++)
		print_variable(out, t, &u.all.at[i], insns);
	ray_vec_free(&u.all);
}

/* ---- clauses and programs ---- */

static void print_clause(FILE *out, const struct ray_trace *t, const struct ray_clause *clause)
{
	const struct ray_piece *p = &t->clause_code[clause->index];
	const struct ray_probe_spec *spec = clause->specs;

	fprintf(out, "\nDisassembly of clause %s:%s:%s:%s, <%s>:\n", clause->spec_count ? spec->provider : "",
		clause->spec_count ? spec->module : "", clause->spec_count ? spec->function : "",
		clause->spec_count ? spec->name : "", p->name);
	print_piece(out, p);
	print_variables(out, t, &clause, 1, p->insns.n);
	fprintf(out, "\n");
}

/* For the listing alone: a map that is not there yet is number -1. */
static struct ray_error *no_map(void *arg, uint32_t number, int *fd_ret)
{
	(void)arg;
	(void)number;
	*fd_ret = -1;
	return NULL;
}

static struct ray_error *any_constant(void *arg, uint32_t number, uint64_t *ret)
{
	return ray_link_constant(arg, number, ret);
}

static const char *part_name(const struct ray_linked_part *part)
{
	return part->piece ? part->piece->name : part->function->name;
}

/* Who is called at `insn`. */
static const char *callee(const struct ray_linked *l, uint32_t insn)
{
	const struct bpf_insn *in = &l->insns.at[insn];

	if (in->code != (BPF_JMP | BPF_CALL) || in->src_reg != BPF_PSEUDO_CALL)
		return NULL;
	for (size_t i = 0; i < l->parts.n; i++)
		if (l->parts.at[i].start == insn + 1 + (uint32_t)in->imm)
			return part_name(&l->parts.at[i]);
	return NULL;
}

static void print_linked(FILE *out, const struct ray_trace *t, const struct ray_entry *e, const struct ray_linked *l)
{
	print_head(out);
	for (uint32_t i = 0; i < l->insns.n;)
		i += ray_insn_print(out, &l->insns.at[i], i, i + 1 >= l->insns.n, callee(l, i));
	print_variables(out, t, e->clauses, e->clause_count, l->insns.n);
	fprintf(out, "\n%-17s %-8s %-8s %s\n", "BPF", "OFFSET", "VALUE", "NAME");
	for (uint32_t i = 0; i < l->insns.n; i++)
		if (callee(l, i))
			fprintf(out, "%-17s %-8u %-8u %s\n", "R_BPF_INSN_DISP32", i * 8,
				i + 1 + (uint32_t)l->insns.at[i].imm, callee(l, i));
	fprintf(out, "\n");
}

static void print_program(FILE *out, struct ray_trace *t, const struct ray_entry *e, const char *what)
{
	const struct ray_link_values values = { no_map, any_constant, t };
	const struct ray_probe *probe = e->probes.n ? e->probes.at[0] : NULL;
	const struct ray_object *object;
	struct ray_linked l = { 0 };
	struct ray_error *err = ray_trace_object(t, &object);

	if (probe)
		fprintf(out, "\nDisassembly of %s %s:%s:%s:%s:\n", what, probe->provider, probe->module,
			probe->function, probe->name);
	else
		fprintf(out, "\nDisassembly of %s <%s>:\n", what, e->code.name);
	if (!err)
		err = ray_link_collect(object, &e->code, &l);
	if (!err)
		err = ray_link_finish(object, &values, &l);
	if (err)
		fprintf(out, "%s\n", ray_error_text(err));
	else
		print_linked(out, t, e, &l);
	ray_error_free(err);
	ray_linked_deinit(&l);
}

static void print_entry(FILE *out, const struct ray_entry *e)
{
	fprintf(out, "\nDisassembly of program <%s>:\n", e->code.name);
	print_piece(out, &e->code);
	fprintf(out, "\n");
}

void ray_trace_print_code(struct ray_trace *t, FILE *out)
{
	int show = t->options.disasm ? t->options.disasm : SHOW_CLAUSES | SHOW_PROGRAMS;

	for (size_t i = 0; show & SHOW_CLAUSES && i < t->program->clauses.n; i++)
		print_clause(out, t, t->program->clauses.at[i]);
	for (size_t i = 0; i < t->entries.n; i++) {
		if (show & SHOW_PROGRAMS)
			print_entry(out, t->entries.at[i]);
		if (show & SHOW_LINKED)
			print_program(out, t, t->entries.at[i], "linked program");
		if (show & SHOW_FINAL)
			print_program(out, t, t->entries.at[i], "final program");
	}
}
