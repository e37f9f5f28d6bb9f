/* prelude_types.c - the structures of D's own libraries: psinfo_t, fileinfo_t, cpuinfo_t and so on.
 * SPDX-License-Identifier: MIT
 *
 * Each is made when a script first uses its name: most never do, and start-up must not pay for them. */
#include <stdlib.h>
#include <string.h>

#include "lang/type_table.h"

/* Members as "type name" separated by ;, with [n] or a * where there is one. */
static const struct {
	const char *tag, *alias, *members;
	bool is_union;
} structures[] = {
	{ "timestruc", "timestruc_t", "time_t tv_sec;long tv_nsec", false },
	{ "lwpsinfo", "lwpsinfo_t",
	  "int pr_flag;int pr_lwpid;uintptr_t pr_addr;uintptr_t pr_wchan;char pr_stype;char pr_state;char pr_sname;"
	  "char pr_nice;short pr_syscall;char pr_oldpri;char pr_cpu;int pr_pri;ushort_t pr_pctcpu;ushort_t pr_pad;"
	  "timestruc_t pr_start;timestruc_t pr_time;char pr_clname[8];char pr_name[16];processorid_t pr_onpro;"
	  "processorid_t pr_bindpro;psetid_t pr_bindpset;int pr_lgrp;int pr_filler[4]",
	  false },
	{ "psinfo", "psinfo_t",
	  "int pr_flag;int pr_nlwp;pid_t pr_pid;pid_t pr_ppid;pid_t pr_pgid;pid_t pr_sid;uid_t pr_uid;uid_t pr_euid;"
	  "uid_t pr_gid;uid_t pr_egid;uintptr_t pr_addr;size_t pr_size;size_t pr_rssize;size_t pr_pad1;"
	  "struct tty_struct *pr_ttydev;ushort_t pr_pctcpu;ushort_t pr_pctmem;timestruc_t pr_start;timestruc_t pr_time;"
	  "timestruc_t pr_ctime;char pr_fname[16];char pr_psargs[80];int pr_wstat;int pr_argc;uintptr_t pr_argv;"
	  "uintptr_t pr_envp;char pr_dmodel;char pr_pad2[3];taskid_t pr_taskid;dprojid_t pr_projid;int pr_nzomb;"
	  "poolid_t pr_poolid;zoneid_t pr_zoneid;id_t pr_contract;int pr_filler[1];lwpsinfo_t pr_lwp",
	  false },
	{ "cpuinfo", "cpuinfo_t", "processorid_t cpu_id;psetid_t cpu_pset;chipid_t cpu_chip;lgrp_id_t cpu_lgrp",
	  false },
	{ "fileinfo", "fileinfo_t",
	  "string fi_name;string fi_dirname;string fi_pathname;loff_t fi_offset;string fi_fs;string fi_mount;int fi_oflags",
	  false },
	{ "bufinfo", "bufinfo_t",
	  "int b_flags;size_t b_bcount;caddr_t b_addr;uint64_t b_lblkno;uint64_t b_blkno;size_t b_resid;size_t b_bufsize;"
	  "caddr_t b_iodone;int b_error;dev_t b_edev",
	  false },
	{ "devinfo", "devinfo_t",
	  "int dev_major;int dev_minor;int dev_instance;string dev_name;string dev_statname;string dev_pathname",
	  false },
	{ "conninfo", "conninfo_t", "string ci_local;string ci_remote;string ci_protocol", false },
	{ "in6_u", "in6_u_t", "uint8_t u6_addr8[16];uint16_t u6_addr16[8];uint32_t u6_addr32[4]", true },
	{ "in6_addr", "in6_addr_t", "in6_u_t in6_u", false },
};

static const struct ray_type *member_type(struct ray_types *types, const char *text, const char **rest)
{
	static const char *const plain[] = { [RAY_BASIC_CHAR] = "char",
					     [RAY_BASIC_SHORT] = "short",
					     [RAY_BASIC_INT] = "int",
					     [RAY_BASIC_LONG] = "long",
					     [RAY_BASIC_STRING] = "string" };
	const char *end = text + strcspn(text, " ");
	char *name;

	if (!strncmp(text, "struct ", 7)) { /* only pointers to the kernel's are members, never looked into here */
		struct ray_type *f = ray_arena_alloc(types->arena, sizeof(*f));

		text += 7;
		end = text + strcspn(text, " ");
		name = ray_arena_copy(types->arena, text, (size_t)(end - text));
		if (!f || !name)
			return NULL;
		*f = (struct ray_type){
			.kind = RAY_TYPE_FORWARD, .forward_kind = RAY_TYPE_STRUCT, .name = name, .owner = types
		};
		*rest = end + 2; /* " *" */
		return ray_type_pointer(types, f);
	}
	*rest = end + 1;
	for (size_t i = 0; i < RAY_COUNT(plain); i++) {
		if (plain[i] && strlen(plain[i]) == (size_t)(end - text) &&
		    !strncmp(plain[i], text, (size_t)(end - text)))
			return ray_type_basic(types, (enum ray_basic)i);
	}
	name = ray_arena_copy(types->arena, text, (size_t)(end - text));
	return name ? ray_type_typedef(types, name) : NULL;
}

static bool add_member(struct ray_types *types, struct ray_type *s, struct ray_member *m, const char *text)
{
	const char *rest;
	const struct ray_type *t = member_type(types, text, &rest);
	size_t length = strcspn(rest, "[;");
	uint64_t align, at;

	if (!t)
		return false;
	m->name = ray_arena_copy(types->arena, rest, length);
	if (rest[length] == '[')
		t = ray_type_array(types, t, strtoul(rest + length + 1, NULL, 10));
	if (!m->name || !t)
		return false;
	align = ray_type_resolve(t)->align ? ray_type_resolve(t)->align : 1;
	at = s->kind == RAY_TYPE_UNION ? 0 : (s->size + align - 1) / align * align;
	m->type = t;
	m->bit_offset = (uint32_t)at * 8;
	if (at + ray_type_size(t) > s->size)
		s->size = at + ray_type_size(t);
	if (align > s->align)
		s->align = (uint32_t)align;
	return true;
}

static struct ray_type *make(struct ray_types *types, enum ray_type_kind kind, const char *tag, const char *text)
{
	struct ray_type *s = ray_arena_alloc(types->arena, sizeof(*s));
	size_t count = 1;
	struct ray_member *members;

	for (const char *p = text; *p; p++)
		count += *p == ';';
	members = ray_arena_alloc(types->arena, count * sizeof(*members));
	if (!s || !members)
		return NULL;
	*s = (struct ray_type){ .kind = kind, .name = tag, .members = members, .count = count, .align = 1 };
	for (size_t i = 0; i < count; i++) {
		if (!add_member(types, s, &members[i], text))
			return NULL;
		text += strcspn(text, ";") + 1;
	}
	s->size = (s->size + s->align - 1) / s->align * s->align;
	return s;
}

const struct ray_type *ray_prelude_type_(struct ray_types *types, enum ray_type_kind kind, const char *name)
{
	for (size_t i = 0; i < RAY_COUNT(structures); i++) {
		enum ray_type_kind made = structures[i].is_union ? RAY_TYPE_UNION : RAY_TYPE_STRUCT;
		const char *own = kind == RAY_TYPE_TYPEDEF ? structures[i].alias : structures[i].tag;
		const struct ray_type *old;
		struct ray_type *s, *alias;

		if ((kind != RAY_TYPE_TYPEDEF && kind != made) || strcmp(own, name))
			continue;
		/* A script may have a struct of that tag, or the typedef, already. */
		old = ray_type_defined(types, made, structures[i].tag);
		s = old ? NULL : make(types, made, structures[i].tag, structures[i].members);
		alias = ray_arena_alloc(types->arena, sizeof(*alias));
		if ((!s && !old) || !alias)
			return NULL;
		*alias = (struct ray_type){ .kind = RAY_TYPE_TYPEDEF,
					    .name = structures[i].alias,
					    .target = old ? old : s };
		alias->size = alias->target->size;
		alias->align = alias->target->align;
		ray_error_free(s ? ray_type_define(types, s) : NULL);
		ray_error_free(ray_type_define(types, alias));
		return kind == RAY_TYPE_TYPEDEF ? alias : alias->target;
	}
	return NULL;
}
