/* prelude_cpu.c - curcpu: the processor that a probe fires on.
 * SPDX-License-Identifier: MIT
 *
 * Its number is the engine's; its chip is told by the system before the program runs, and becomes an expression over the number. The
 * other members of cpuinfo_t mean nothing here and are 0, as in the reference. */
#include <stdio.h>
#include <string.h>

#include "lang/check.h"

enum { MAX_CPUS = 4096, MAX_RUNS = 200 };

static int chip_of(int cpu)
{
	char path[96];
	int chip = -1;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
	ray_auto_file FILE *f = fopen(path, "re");

	return f && fscanf(f, "%d", &chip) == 1 ? chip : -1;
}

/* cpu < next ? chip : rest. */
static struct ray_expr *choose(struct ray_check *c, struct ray_expr *cpu, int next, int chip, struct ray_expr *rest)
{
	const struct ray_type *number = ray_type_typedef(c->types, "chipid_t");
	struct ray_expr *less = ray_check_new(c, RAY_EXPR_BINARY, NULL, &cpu->where);
	struct ray_expr *e = ray_check_new(c, RAY_EXPR_COND, NULL, &cpu->where);

	if (!less || !e)
		return NULL;
	less->op = RAY_OP_LT;
	less->a = ray_expr_clone(c->arena, cpu, NULL, 0);
	less->b = ray_check_integer(c, (uint64_t)next, cpu->type, &cpu->where);
	e->a = less;
	e->b = ray_check_integer(c, (uint64_t)chip, number, &cpu->where);
	e->c = rest;
	return less->a && less->b && e->b && rest ? ray_check_expr(c, e, RAY_USE_READ) : NULL;
}

static struct ray_expr *chip_expression(struct ray_check *c, struct ray_expr *cpu)
{
	struct {
		int next, chip; /* up to, without, this CPU */
	} runs[MAX_RUNS];
	size_t count = 0;
	struct ray_expr *e;

	for (int i = 0; i < MAX_CPUS; i++) {
		int chip = chip_of(i);

		if (chip < 0)
			break;
		if (count && runs[count - 1].chip == chip) {
			runs[count - 1].next = i + 1;
			continue;
		}
		if (count == MAX_RUNS)
			return ray_check_fail(c, &cpu->where, "D_UNKNOWN",
					      "this machine's processors are numbered in too many ways");
		runs[count].chip = chip;
		runs[count++].next = i + 1;
	}
	e = ray_check_integer(c, count ? (uint64_t)runs[count - 1].chip : 0, ray_type_typedef(c->types, "chipid_t"),
			      &cpu->where);
	for (size_t i = count; e && i-- > 1;)
		e = choose(c, cpu, runs[i - 1].next, runs[i - 1].chip, e);
	return e;
}

struct ray_expr *ray_check_cpu_member(struct ray_check *c, struct ray_expr *cpu, const char *member,
				      const struct ray_where *where)
{
	uint32_t at;
	const struct ray_type *info = ray_type_typedef(c->types, "cpuinfo_t");
	const struct ray_member *m = info ? ray_type_member(info, member, &at) : NULL;

	if (!m)
		return ray_check_fail(c, where, "D_XLATE_NOCONV",
				      "translator does not define conversion for member: %s", member);
	if (!strcmp(member, "cpu_id"))
		return ray_expr_clone(c->arena, cpu, NULL, 0);
	return !strcmp(member, "cpu_chip") ? chip_expression(c, cpu) : ray_check_integer(c, 0, m->type, where);
}
