/* prelude.c - D's own translators, and the files of a process.
 * SPDX-License-Identifier: MIT
 *
 * Texts in D that are parsed only when a script translates to that structure: they lead to the kernel's structures, whose BTF takes
 * longer to read than most scripts to run. */
#include <string.h>

#include "lang/check.h"

static const struct {
	const char *structure;
	const char *text;
} preludes[] = {
	{ "psinfo", "translator psinfo_t < struct task_struct *T > {\n"
		    "pr_nlwp = T->signal->nr_threads; pr_pid = T->tgid; pr_ppid = T->real_parent->tgid;\n"
		    "pr_pgid = T->signal->pids[2]->numbers[0].nr; pr_sid = T->signal->pids[3]->numbers[0].nr;\n"
		    "pr_uid = T->cred->uid.val; pr_euid = T->cred->euid.val; pr_gid = T->cred->gid.val;\n"
		    "pr_egid = T->cred->egid.val; pr_addr = (uintptr_t)T;\n"
		    "pr_ttydev = T->signal->tty ? T->signal->tty : (struct tty_struct *)-1;\n"
		    "pr_fname = T->comm; pr_psargs = __psargs(); pr_wstat = 0; pr_dmodel = 2;\n"
		    "pr_taskid = 0; pr_projid = 0; pr_nzomb = 0; pr_poolid = 0; pr_zoneid = 0; pr_contract = 0;\n"
		    "};\n" },
	{ "lwpsinfo", "translator lwpsinfo_t < struct task_struct *T > {\n"
		      "pr_flag = (T->__state & 4) ? 1 : 0; pr_lwpid = T->pid; pr_addr = (uintptr_t)T; pr_wchan = 0;\n"
		      "pr_stype = 0;\n"
		      "pr_state = (T->__state & 3) ? 1 : (T->__state & 12) ? 4 : (T->__state & 0xb0) ? 3 :\n"
		      "(T->__state & 0x300) ? 7 : 2;\n"
		      "pr_sname = (T->__state & 3) ? 'S' : (T->__state & 12) ? 'T' : (T->__state & 0xb0) ? 'Z' :\n"
		      "(T->__state & 0x300) ? 'W' : 'R';\n"
		      "pr_pri = T->prio; pr_name = T->comm; pr_onpro = T->thread_info.cpu;\n"
		      "};\n" },
};

bool ray_check_load_prelude(struct ray_check *c, const struct ray_type *to)
{
	bool was_prelude = c->is_prelude;
	bool is_fine = true;

	for (size_t i = 0; to->name && i < RAY_COUNT(preludes); i++) {
		struct ray_source source = { .kind = RAY_TEXT_SCRIPT, .file = NULL, .text = preludes[i].text };

		if (strcmp(preludes[i].structure, to->name))
			continue;
		for (size_t j = 0; j < c->program->translators.n; j++) {
			if (c->program->translators.at[j]->is_prelude &&
			    ray_type_equals(c->program->translators.at[j]->to, to))
				return false; /* it is there, and does not fit */
		}
		source.length = strlen(source.text);
		c->error = ray_program_parse(c->program, &source, c->options, c->macros, c->diagnostic);
		if (c->error)
			return false;
		c->program->translators.at[c->program->translators.n - 1]->is_prelude = true;
		c->is_prelude = true;
		is_fine = ray_check_translators(c);
		c->is_prelude = was_prelude;
		return is_fine;
	}
	return false;
}

/* Members of fileinfo_t and the functions behind them. */
static const struct {
	const char *member;
	enum ray_function_id function;
	enum ray_fd_number number;
} files[] = {
	{ "fi_name", RAY_FN_FD_NAME, 0 },
	{ "fi_pathname", RAY_FN_FD_PATH, 0 },
	{ "fi_fs", RAY_FN_FD_FS, 0 },
	{ "fi_mount", RAY_FN_FD_MOUNT, 0 },
	{ "fi_oflags", RAY_FN_FD_NUMBER, RAY_FD_FLAGS },
	{ "fi_offset", RAY_FN_FD_NUMBER, RAY_FD_OFFSET },
};

static struct ray_expr *call_file(struct ray_check *c, size_t row, struct ray_expr *fd, const struct ray_where *where)
{
	const struct ray_type *number = ray_type_basic(c->types, RAY_BASIC_INT);
	struct ray_expr *args[2] = { ray_check_convert(c, fd, number), NULL };
	struct ray_expr *call;

	if (!args[0])
		return NULL;
	if (files[row].function != RAY_FN_FD_NUMBER)
		return ray_check_call(c, files[row].function, args, 1, ray_type_basic(c->types, RAY_BASIC_STRING),
				      where);
	args[1] = ray_check_integer(c, files[row].number, number, where);
	call = args[1] ? ray_check_call(c, files[row].function, args, 2, ray_type_typedef(c->types, "int64_t"), where) :
			 NULL;
	return call && files[row].number == RAY_FD_FLAGS ? ray_check_convert(c, call, number) : call;
}

struct ray_expr *ray_check_file_member(struct ray_check *c, struct ray_expr *fd, const char *member,
				       const struct ray_where *where)
{
	if (!strcmp(member, "fi_dirname")) {
		struct ray_expr *path = call_file(c, 1, fd, where);

		return path ? ray_check_call(c, RAY_FN_DIRNAME, &path, 1, path->type, where) : NULL;
	}
	for (size_t i = 0; i < RAY_COUNT(files); i++) {
		if (!strcmp(files[i].member, member))
			return call_file(c, i, fd, where);
	}
	return ray_check_fail(c, where, "D_XLATE_NOCONV", "translator does not define conversion for member: %s",
			      member);
}

/* The providers' own types and translators, parsed when an argument has a type that nothing else defines. False: no more types than before. */
bool ray_check_load_providers(struct ray_check *c)
{
	struct ray_source source = { .kind = RAY_TEXT_SCRIPT,
				     .file = NULL,
				     .text = ray_catalogue_prelude(c->catalogue) };
	size_t first = c->program->translators.n;

	if (c->has_providers)
		return false;
	c->has_providers = true;
	source.length = strlen(source.text);
	c->error = ray_program_parse(c->program, &source, c->options, c->macros, c->diagnostic);
	if (c->error)
		return false;
	for (size_t i = first; i < c->program->translators.n; i++)
		c->program->translators.at[i]->is_prelude = true;
	return ray_check_translators(c);
}
