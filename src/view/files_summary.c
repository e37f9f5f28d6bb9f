/* files_summary.c - open descriptors counted. See files.h. SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/json.h"
#include "view/files.h"

struct count {
	char text[64];
	size_t n;
};

/* A few dozen different texts at most: states, types, uses. */
struct tally {
	struct count at[64];
	size_t n;
	size_t rest; /* of what had no room */
};

static void count(struct tally *t, const char *text)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (!strcmp(t->at[i].text, text)) {
			t->at[i].n++;
			return;
		}
	}
	if (t->n == RAY_COUNT(t->at) || strlen(text) >= sizeof(t->at[0].text)) {
		t->rest++;
		return;
	}
	strcpy(t->at[t->n].text, text);
	t->at[t->n++].n = 1;
}

static int most_first(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return strcmp(x->text, y->text);
}

static void sort(struct tally *t)
{
	qsort(t->at, t->n, sizeof(t->at[0]), most_first);
}

/* "tcp connection, not reading" and "stdout of child 12" are counted as "tcp connection" and "pipe to child". */
static const char *use_class(const char *use, char out[64])
{
	static const char *const own[] = { "epoll", "async wakeup", "signal pipe", "signal lock", "io_uring", "spare" };
	size_t n = strcspn(use, ","), i;

	for (i = 0; i < RAY_COUNT(own); i++)
		if (!strncmp(use, own[i], strlen(own[i])))
			return "the loop's own";
	if (strstr(use, " of child ") || strstr(use, " to child "))
		return "pipe to child";
	if (!strncmp(use, "fs.watch", 8))
		return "fs.watch";
	if (n > 63)
		n = 63;
	memcpy(out, use, n);
	out[n] = '\0';
	return out;
}

static void count_states(const struct ray_files *files, enum ray_file_type type, struct tally *states)
{
	const struct ray_file *f;
	size_t i;

	for (i = 0; i < files->n; i++) {
		f = &files->at[i];
		if (f->type == type && f->socket && *f->socket->state)
			count(states, f->socket->state);
	}
	sort(states);
}

static void count_uses(const struct ray_files *files, struct tally *uses)
{
	char class[64], text[128];
	const struct ray_file *f;
	size_t i;

	for (i = 0; i < files->n; i++) {
		f = &files->at[i];
		if (!*f->use)
			continue;
		snprintf(text, sizeof(text), "%s: %s", f->loop_role, use_class(f->use, class));
		count(uses, text);
	}
	sort(uses);
}

static size_t count_type(const struct ray_files *files, enum ray_file_type type)
{
	size_t i, n = 0;

	for (i = 0; i < files->n; i++)
		n += files->at[i].type == type;
	return n;
}

static void print_states(const struct tally *states, FILE *out)
{
	size_t i;

	for (i = 0; i < states->n; i++)
		fprintf(out, "%s%zu %s", i ? ", " : "  ", states->at[i].n, states->at[i].text);
}

void ray_view_files_summary(const struct ray_files *files, FILE *out)
{
	struct tally uses = { 0 };
	ray_auto_text safe = { 0 };
	size_t type, i, n;

	fprintf(out, "%7s %s\n", "COUNT", "TYPE");
	for (type = 0; type < RAY_FILE_TYPE_COUNT; type++) {
		struct tally states = { 0 };

		n = count_type(files, (enum ray_file_type)type);
		if (!n)
			continue;
		count_states(files, (enum ray_file_type)type, &states);
		fprintf(out, "%7zu %s", n, ray_file_type_name((enum ray_file_type)type));
		print_states(&states, out);
		fputc('\n', out);
	}
	count_uses(files, &uses);
	if (uses.n)
		fprintf(out, "\n%7s %s\n", "COUNT", "USE BY LIBUV");
	for (i = 0; i < uses.n; i++) {
		ray_text_clear(&safe);
		ray_text_add_safe(&safe, uses.at[i].text, strlen(uses.at[i].text));
		fprintf(out, "%7zu %s\n", uses.at[i].n, ray_text_get(&safe));
	}
	if (uses.rest)
		fprintf(out, "%7zu others\n", uses.rest);
}

static json_t *tally_json(const struct tally *t)
{
	json_t *o = json_object();
	size_t i;

	for (i = 0; i < t->n; i++)
		json_object_set_new(o, t->at[i].text, json_integer((json_int_t)t->at[i].n));
	if (t->rest)
		json_object_set_new(o, "others", json_integer((json_int_t)t->rest));
	return o;
}

json_t *ray_view_files_summary_json(const struct ray_files *files)
{
	json_t *o = json_object(), *types = json_object(), *all_states = json_object();
	struct tally uses = { 0 };
	size_t type, n;

	for (type = 0; type < RAY_FILE_TYPE_COUNT; type++) {
		struct tally states = { 0 };
		const char *name = ray_file_type_name((enum ray_file_type)type);

		n = count_type(files, (enum ray_file_type)type);
		if (!n)
			continue;
		json_object_set_new(types, name, json_integer((json_int_t)n));
		count_states(files, (enum ray_file_type)type, &states);
		if (states.n)
			json_object_set_new(all_states, name, tally_json(&states));
	}
	count_uses(files, &uses);
	if (files->has_limits) {
		json_object_set_new(o, "soft_limit", ray_files_limit_json(files->soft_limit));
		json_object_set_new(o, "hard_limit", ray_files_limit_json(files->hard_limit));
	}
	json_object_set_new(o, "open", json_integer((json_int_t)files->n));
	json_object_set_new(o, "types", types);
	json_object_set_new(o, "states", all_states);
	json_object_set_new(o, "uses", tally_json(&uses));
	return o;
}
