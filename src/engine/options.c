/* options.c - the table of options. See options.h.
 * SPDX-License-Identifier: MIT
 *
 * A row says how the value is written, when it may be set, and where it goes. What the reference has for its own
 * making (registers, object formats, its daemon) is accepted without effect where a script may carry it along, and
 * refused with a reason where it would promise something. */
#include "engine/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "engine/options_value.h"

enum when {
	COMPILING, /* -x, pragma */
	OUTSIDE,   /* -x only: a program cannot set it for itself */
	STARTING,  /* -x, pragma; not while tracing */
	ANYTIME,   /* setopt() too */
};

enum form {
	FLAG,	  /* bool; no value allowed */
	FLAG_OFF, /* clears the bool; no value allowed */
	SWITCH,	  /* bool; yes, no, on, off..., or a number */
	NUMBER,	  /* uint32_t; the same words */
	SIZE,	  /* uint64_t; 4m */
	SIZE32,	  /* uint32_t */
	RATE,	  /* uint64_t in ns; 10hz, 1s */
	CHOICE,	  /* int; index into words */
	TEXT,	  /* char * */
	LIST,	  /* char **; each use adds one, after `words` */
	SPECIAL,  /* parse */
	ANY,	  /* accepted without effect */
	NEEDED,	  /* likewise, but must have a value */
	REFUSED,  /* words say why */
};

struct row {
	const char *name;
	enum when when;
	enum form form;
	size_t offset;
	const char *words;
	struct ray_error *(*parse)(struct ray_trace_options *o, const char *value);
};

static struct ray_error *bad_value(void)
{
	return ray_error_new(RAY_FAILED, "Invalid value for specified option");
}

/* ---- values ---- */

static struct ray_error *add_to_list(char ***list, const char *prefix, const char *text, size_t length)
{
	size_t n = 0;
	char **grown;

	while (*list && (*list)[n])
		n++;
	grown = reallocarray(*list, n + 2, sizeof(**list));
	if (!grown)
		return &ray_enomem;
	*list = grown;
	grown[n + 1] = NULL;
	if (asprintf(&grown[n], "%s%.*s", prefix, (int)length, text) < 0) {
		grown[n] = NULL;
		return &ray_enomem;
	}
	return NULL;
}

/* ---- options with rules of their own ---- */

static struct ray_error *set_strsize(struct ray_trace_options *o, const char *value)
{
	uint64_t n;

	if (!value || !ray_option_parse_size(value, &n) || n < 2)
		return bad_value();
	if (n > UINT32_MAX)
		return ray_error_new(RAY_FAILED, "%s", strerror(EOVERFLOW));
	o->strsize = n;
	return NULL;
}

static struct ray_error *set_printsize(struct ray_trace_options *o, const char *value)
{
	uint64_t n = 8192;

	if (value && !ray_option_parse_size(value, &n))
		return bad_value();
	if (n == 0 || n > 65536)
		n = 8192;
	o->printsize = (uint32_t)((n + 7) & ~7ULL);
	return NULL;
}

static struct ray_error *set_cpu(struct ray_trace_options *o, const char *value)
{
	uint64_t n;
	bool is_set;

	if (!ray_option_parse_number(value, &n, &is_set) || n > INT32_MAX)
		return bad_value();
	o->cpu = is_set ? (int)n : -1;
	return NULL;
}

static struct ray_error *set_statusrate(struct ray_trace_options *o, const char *value)
{
	if (!value || !ray_option_parse_rate(value, &o->statusrate_ns))
		return bad_value();
	o->statusrate_given = 1;
	return NULL;
}

static struct ray_error *set_cppargs(struct ray_trace_options *o, const char *value)
{
	static const char space[] = "\f\n\r\t\v ";
	struct ray_error *err = NULL;

	if (!value)
		return bad_value();
	for (value += strspn(value, space); *value && !err; value += strspn(value, space)) {
		size_t n = strcspn(value, space);

		err = add_to_list(&o->cppargs, "", value, n);
		value += n;
	}
	return err;
}

static struct ray_error *set_cpphdrs(struct ray_trace_options *o, const char *value)
{
	return value ? bad_value() : add_to_list(&o->cppargs, "-H", "", 0);
}

static struct ray_error *set_stdc(struct ray_trace_options *o, const char *value)
{
	if (!value || strlen(value) != 1 || !strchr("acst", *value))
		return bad_value();
	o->stdc = *value;
	o->stdc_given = true;
	/* The only one in which __STDC__ is not there. */
	return *value == 's' ? add_to_list(&o->cppargs, "-traditional-cpp", "", 0) : NULL;
}

/* The reference's code is made for eight registers; it cannot do with fewer, and neither do we pretend. */
static struct ray_error *set_iregs(struct ray_trace_options *o, const char *value)
{
	int n = value ? atoi(value) : 0;

	(void)o;
	if (n <= 0 || n > 8)
		return bad_value();
	return n < 8 ? ray_error_new(RAY_FAILED, "Insufficient registers to generate code") : NULL;
}

static struct ray_error *set_tregs(struct ray_trace_options *o, const char *value)
{
	int n = value ? atoi(value) : 0;

	if (n <= 0)
		return bad_value();
	o->tregs = n;
	return NULL;
}

static struct ray_error *set_disasm(struct ray_trace_options *o, const char *value)
{
	int n = value ? atoi(value) : -1;

	if (n < 0)
		return bad_value();
	o->disasm = n;
	return NULL;
}

static struct ray_error *set_tree(struct ray_trace_options *o, const char *value)
{
	if (!value || atoi(value) <= 0)
		return bad_value();
	o->tree = (unsigned int)atoi(value);
	return NULL;
}

static struct ray_error *set_version(struct ray_trace_options *o, const char *value)
{
	static const char *const known[] = { "1.0", "1.1", "1.2",   "1.2.1", "1.2.2", "1.3",   "1.4", "1.4.1",
					     "1.5", "1.6", "1.6.1", "1.6.2", "1.6.3", "1.6.4", "2.0" };
	unsigned part[3] = { 0 };
	int used = 0, n;
	char plain[48];

	if (!value)
		return bad_value();
	n = sscanf(value, "%3u%n.%3u%n.%3u%n", &part[0], &used, &part[1], &used, &part[2], &used);
	if (n < 2 || value[used] || part[0] > 255 || part[1] > 4095 || part[2] > 4095)
		return ray_error_new(RAY_FAILED, "Version is not properly formatted or is too large");
	snprintf(plain, sizeof(plain), part[2] ? "%u.%u.%u" : "%u.%u", part[0], part[1], part[2]);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i], plain) != 0)
			continue;
		free(o->version);
		o->version = strdup(plain);
		return o->version ? NULL : &ray_enomem;
	}
	return ray_error_new(RAY_FAILED, "Requested version is not supported by compiler");
}

/* ---- the table ---- */

#define AT(field) offsetof(struct ray_trace_options, field)

static const char no_objects[] =
	"there is no -G here: probes are found in what compilers and libraries note by themselves";

static const struct row rows[] = {
	{ "aggpercpu", COMPILING, FLAG, AT(aggpercpu), NULL, NULL },
	{ "aggrate", ANYTIME, RATE, AT(aggrate_ns), NULL, NULL },
	{ "aggsize", STARTING, SIZE, AT(aggsize), NULL, NULL },
	{ "aggsortkey", ANYTIME, SWITCH, AT(aggsortkey), NULL, NULL },
	{ "aggsortkeypos", ANYTIME, NUMBER, AT(aggsortkeypos), NULL, NULL },
	{ "aggsortpos", ANYTIME, NUMBER, AT(aggsortpos), NULL, NULL },
	{ "aggsortrev", ANYTIME, SWITCH, AT(aggsortrev), NULL, NULL },
	{ "amin", COMPILING, NEEDED, 0, NULL, NULL },
	{ "argref", COMPILING, FLAG, AT(argref), NULL, NULL },
	{ "bpflog", STARTING, SWITCH, AT(bpflog), NULL, NULL },
	{ "bpflogsize", STARTING, SIZE, AT(bpflogsize), NULL, NULL },
	{ "bufpolicy", STARTING, CHOICE, 0, "ring fill switch", NULL },
	{ "bufresize", STARTING, CHOICE, 0, "auto manual", NULL },
	{ "bufsize", STARTING, SIZE, AT(bufsize), NULL, NULL },
	{ "cleanrate", STARTING, RATE, AT(cleanrate_ns), NULL, NULL },
	{ "core", COMPILING, REFUSED, 0, "it would end the tracer by an abort", NULL },
	{ "cpp", COMPILING, FLAG, AT(cpp), NULL, NULL },
	{ "cppargs", OUTSIDE, SPECIAL, 0, NULL, set_cppargs },
	{ "cpphdrs", OUTSIDE, SPECIAL, 0, NULL, set_cpphdrs },
	{ "cpppath", OUTSIDE, TEXT, AT(cpppath), NULL, NULL },
	{ "cpu", STARTING, SPECIAL, 0, NULL, set_cpu },
	{ "ctfpath", OUTSIDE, NEEDED, 0, NULL, NULL }, /* kernel types come from its BTF */
	{ "ctypes", COMPILING, REFUSED, 0, "types are not kept as CTF here", NULL },
	{ "debug", COMPILING, FLAG, AT(debug), NULL, NULL },
	{ "debugassert", COMPILING, NEEDED, 0, NULL, NULL },
	{ "defaultargs", COMPILING, FLAG, AT(defaultargs), NULL, NULL },
	{ "define", OUTSIDE, LIST, AT(cppargs), "-D", NULL },
	{ "destructive", STARTING, SWITCH, AT(destructive), NULL, NULL },
	{ "disasm", COMPILING, SPECIAL, 0, NULL, set_disasm },
	{ "dofstashpath", COMPILING, NEEDED, 0, NULL, NULL },
	{ "droptags", COMPILING, FLAG, AT(droptags), NULL, NULL },
	{ "dtypes", COMPILING, REFUSED, 0, "types are not kept as CTF here", NULL },
	{ "dynvarsize", STARTING, SIZE, AT(dynvarsize), NULL, NULL },
	{ "empty", COMPILING, FLAG, AT(empty), NULL, NULL },
	{ "errtags", COMPILING, FLAG, AT(errtags), NULL, NULL },
	{ "evaltime", COMPILING, CHOICE, AT(evaltime), " exec preinit postinit main", NULL },
	{ "exactentry", STARTING, SWITCH, AT(exactentry), NULL, NULL },
	{ "flowindent", ANYTIME, SWITCH, AT(flowindent), NULL, NULL },
	{ "follow", STARTING, CHOICE, AT(follow), "all children targets nodes", NULL },
	{ "grabanon", STARTING, REFUSED, 0, "there is no anonymous tracing on Linux", NULL },
	{ "incdir", OUTSIDE, LIST, AT(cppargs), "-I", NULL },
	{ "iregs", COMPILING, SPECIAL, 0, NULL, set_iregs },
	{ "jstackframes", STARTING, NUMBER, AT(jstackframes), NULL, NULL },
	{ "jstackstrsize", STARTING, SIZE32, AT(jstackstrsize), NULL, NULL },
	{ "kdefs", COMPILING, FLAG_OFF, AT(knodefs), NULL, NULL },
	{ "knodefs", COMPILING, FLAG, AT(knodefs), NULL, NULL },
	{ "late", COMPILING, CHOICE, 0, "dynamic static", NULL },
	{ "lazyload", COMPILING, ANY, 0, NULL, NULL },
	{ "ldpath", OUTSIDE, NEEDED, 0, NULL, NULL },
	{ "libdir", COMPILING, LIST, AT(libdirs), "", NULL },
	{ "linkmode", COMPILING, CHOICE, AT(linkmode), "kernel dynamic static", NULL },
	{ "linknommap", COMPILING, ANY, 0, NULL, NULL },
	{ "linktype", COMPILING, REFUSED, 0, no_objects, NULL },
	{ "lockmem", OUTSIDE, NEEDED, 0, NULL, NULL }, /* the kernel charges maps to the cgroup */
	{ "maxframes", STARTING, NUMBER, AT(maxframes), NULL, NULL },
	{ "modpath", OUTSIDE, NEEDED, 0, NULL, NULL },
	{ "nolibs", COMPILING, FLAG, AT(nolibs), NULL, NULL },
	{ "noresolve", STARTING, SWITCH, AT(noresolve), NULL, NULL },
	{ "nspec", STARTING, NUMBER, AT(nspec), NULL, NULL },
	{ "pcapsize", STARTING, ANY, 0, NULL, NULL },
	{ "pgmax", COMPILING, NEEDED, 0, NULL, NULL },
	{ "preallocate", COMPILING, NEEDED, 0, NULL, NULL },
	{ "printsize", ANYTIME, SPECIAL, 0, NULL, set_printsize },
	{ "procfspath", OUTSIDE, REFUSED, 0, "/proc is where it is", NULL },
	{ "pspec", COMPILING, FLAG, AT(pspec), NULL, NULL },
	{ "quiet", ANYTIME, SWITCH, AT(quiet), NULL, NULL },
	{ "quietresize", ANYTIME, SWITCH, AT(quietresize), NULL, NULL },
	{ "rawbytes", ANYTIME, SWITCH, AT(rawbytes), NULL, NULL },
	{ "scratchsize", STARTING, SIZE, AT(scratchsize), NULL, NULL },
	{ "specsize", STARTING, SIZE, AT(specsize), NULL, NULL },
	{ "stackframes", STARTING, NUMBER, AT(stackframes), NULL, NULL },
	{ "stackindent", ANYTIME, NUMBER, AT(stackindent), NULL, NULL },
	{ "stackmemory", STARTING, SIZE, AT(stackmemory), NULL, NULL },
	{ "statusrate", STARTING, SPECIAL, 0, NULL, set_statusrate },
	{ "stdc", OUTSIDE, SPECIAL, 0, NULL, set_stdc },
	{ "strip", COMPILING, REFUSED, 0, no_objects, NULL },
	{ "strsize", STARTING, SPECIAL, 0, NULL, set_strsize },
	{ "switchrate", ANYTIME, RATE, AT(switchrate_ns), NULL, NULL },
	{ "syscalls", COMPILING, TEXT, AT(syscalls), NULL, NULL },
	{ "syslibdir", COMPILING, NEEDED, 0, NULL, NULL },
	{ "sysslice", COMPILING, NEEDED, 0, NULL, NULL },
	{ "temporal", STARTING, SWITCH, AT(temporal), NULL, NULL },
	{ "tree", COMPILING, SPECIAL, 0, NULL, set_tree },
	{ "tregs", COMPILING, SPECIAL, 0, NULL, set_tregs },
	{ "udefs", COMPILING, FLAG_OFF, AT(unodefs), NULL, NULL },
	{ "undef", OUTSIDE, LIST, AT(cppargs), "-U", NULL },
	{ "unodefs", COMPILING, FLAG, AT(unodefs), NULL, NULL },
	{ "useruid", COMPILING, NEEDED, 0, NULL, NULL },
	{ "ustackframes", STARTING, NUMBER, AT(ustackframes), NULL, NULL },
	{ "verbose", COMPILING, FLAG, AT(verbose), NULL, NULL },
	{ "version", COMPILING, SPECIAL, 0, NULL, set_version },
	{ "zdefs", COMPILING, FLAG, AT(zdefs), NULL, NULL },
};

/* Which of the words it is, 0 based; an empty one takes a number and stands for nothing that can be written. */
static bool find_word(const char *words, const char *value, int *ret)
{
	for (int i = 0;; i++) {
		size_t n = strcspn(words, " ");

		if (n && n == strlen(value) && memcmp(words, value, n) == 0) {
			*ret = i;
			return true;
		}
		if (!words[n])
			return false;
		words += n + 1;
	}
}

static struct ray_error *set_text(char **field, const char *value)
{
	char *copy;

	if (!value)
		return bad_value();
	copy = strdup(value);
	if (!copy)
		return &ray_enomem;
	free(*field);
	*field = copy;
	return NULL;
}

static struct ray_error *set_word_or_number(void *field, const struct row *row, const char *value)
{
	struct ray_trace_options defaults;
	uint64_t n;
	bool is_set;

	if (!ray_option_parse_number(value, &n, &is_set) || n > INT32_MAX)
		return bad_value();
	if (row->form == SWITCH) {
		*(bool *)field = is_set && n != 0;
		return NULL;
	}
	*(uint32_t *)field = (uint32_t)n;
	if (!is_set) {
		ray_trace_options_init(&defaults);
		memcpy(field, (char *)&defaults + row->offset, sizeof(uint32_t));
		ray_trace_options_deinit(&defaults);
	}
	return NULL;
}

static struct ray_error *set_field(struct ray_trace_options *o, const struct row *row, const char *value)
{
	void *field = (char *)o + row->offset;
	uint64_t n;
	int choice;

	switch (row->form) {
	case FLAG:
	case FLAG_OFF:
		if (value)
			return bad_value();
		*(bool *)field = row->form == FLAG;
		return NULL;
	case SWITCH:
	case NUMBER:
		return set_word_or_number(field, row, value);
	case SIZE:
		return value && ray_option_parse_size(value, field) ? NULL : bad_value();
	case SIZE32:
		if (!value || !ray_option_parse_size(value, &n) || n > UINT32_MAX)
			return bad_value();
		*(uint32_t *)field = (uint32_t)n;
		return NULL;
	case RATE:
		return value && ray_option_parse_rate(value, field) ? NULL : bad_value();
	case CHOICE:
		if (!value || !find_word(row->words, value, &choice))
			return bad_value();
		if (row->offset)
			*(int *)field = choice;
		return NULL;
	case TEXT:
		return set_text(field, value);
	case LIST:
		return value ? add_to_list(field, row->words, value, strlen(value)) : bad_value();
	case SPECIAL:
		return row->parse(o, value);
	case NEEDED:
		return value ? NULL : bad_value();
	case ANY:
		return NULL;
	case REFUSED:
		return ray_error_new(RAY_FAILED, "Option not supported: %s", row->words);
	}
	return NULL;
}

static const struct row *find_row(const char *name, size_t length, bool any_case)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strlen(rows[i].name) == length &&
		    (any_case ? strncasecmp(rows[i].name, name, length) == 0 : memcmp(rows[i].name, name, length) == 0))
			return &rows[i];
	return NULL;
}

struct ray_error *ray_trace_option_set(struct ray_trace_options *o, const char *name, const char *value,
				       enum ray_option_time time)
{
	const struct row *row = find_row(name, strlen(name), false);

	if (!row)
		return ray_error_new(RAY_FAILED, "Invalid option name");
	if (time == RAY_OPTION_PRAGMA && row->when == OUTSIDE)
		return ray_error_new(RAY_FAILED, "Option cannot be used from within a D program");
	if (time == RAY_OPTION_RUNNING && row->when != ANYTIME)
		return ray_error_new(RAY_FAILED, "Operation illegal when tracing is active");
	return set_field(o, row, value);
}

struct ray_error *ray_trace_options_environment(struct ray_trace_options *o, char *const *environment)
{
	static const char prefix[] = "DTRACE_OPT_";
	size_t n = strlen(prefix);

	for (; environment && *environment; environment++) {
		const char *name = *environment + n, *equals;
		const struct row *row;
		struct ray_error *err;

		if (strncmp(*environment, prefix, n) != 0 || !(equals = strchr(name, '=')))
			continue;
		row = find_row(name, (size_t)(equals - name), true);
		/* Flags take no value; in the environment there is always one. */
		err = row ? set_field(o, row, row->form <= FLAG_OFF ? NULL : equals + 1) : NULL;
		if (err)
			return ray_error_wrap(err, "%.*s", (int)(equals - *environment), *environment);
	}
	return NULL;
}

/* What the kernel's own stack walker takes; more would be cut. */
static uint32_t most_frames(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_max_stack", "re");
	unsigned n = 127;

	if (f && fscanf(f, "%5u", &n) != 1)
		n = 127;
	if (f)
		fclose(f);
	return n;
}

void ray_trace_options_init(struct ray_trace_options *o)
{
	*o = (struct ray_trace_options){
		.aggsize = 4 << 20,
		.bufsize = 4 << 20,
		.dynvarsize = 1 << 20,
		.specsize = 4 << 20,
		.strsize = 256,
		.scratchsize = 256,
		.nspec = 1,
		.maxframes = most_frames(),
		.stackframes = 20,
		.stackmemory = 16 << 20,
		.ustackframes = 100,
		.jstackframes = 50,
		.jstackstrsize = 512,
		.statusrate_ns = 1000000000,
		.cpu = -1,
		.stackindent = 14,
		.printsize = 8192,
		.temporal = true,
		.stdc = 'a',
		.cpppath = strdup("/usr/bin/cpp"),
	};
}

static void free_list(char **list)
{
	for (char **s = list; s && *s; s++)
		free(*s);
	free(list);
}

void ray_trace_options_deinit(struct ray_trace_options *o)
{
	free(o->cpppath);
	free(o->version);
	free(o->syscalls);
	free_list(o->cppargs);
	free_list(o->libdirs);
	memset(o, 0, sizeof(*o));
}
