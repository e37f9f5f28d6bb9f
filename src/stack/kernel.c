/* kernel.c - see kernel.h. SPDX-License-Identifier: MIT */
#include "stack/kernel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct entry {
	uint64_t start;
	const char *name, *module; /* in text */
};

struct ray_kernel {
	char *text;
	bool is_read;
	RAY_VEC(struct entry) entries;
};

struct ray_kernel *ray_kernel_create(void)
{
	return calloc(1, sizeof(struct ray_kernel));
}

void ray_kernel_free(struct ray_kernel *k)
{
	if (!k)
		return;
	ray_vec_free(&k->entries);
	free(k->text);
	free(k);
}

static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1) : (x->name > y->name) - (x->name < y->name);
}

/* "ffffffff81000000 T _text" or with "\t[module]" behind; the line is cut up. False: no function. */
static bool parse_line(char *line, struct entry *ret)
{
	char *at, *tab;

	ret->start = strtoull(line, &at, 16);
	if (at == line || at[0] != ' ' || !at[1] || at[2] != ' ' || !ret->start || !strchr("tTwW", at[1]))
		return false;
	ret->name = at + 3;
	ret->module = "vmlinux";
	tab = strchr(at + 3, '\t');
	if (!tab)
		return true;
	*tab = '\0';
	if (tab[1] == '[' && strchr(tab + 1, ']')) {
		*strchr(tab + 1, ']') = '\0';
		ret->module = tab + 2;
	}
	return true;
}

bool ray_kernel_parse(struct ray_kernel *k, char *text)
{
	char *line, *save = NULL;
	struct entry e;

	k->is_read = true;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (parse_line(line, &e) && !ray_vec_push(&k->entries, e))
			return false;
	}
	if (k->entries.n)
		qsort(k->entries.at, k->entries.n, sizeof(*k->entries.at), by_start);
	return true;
}

static char *read_all(const char *path)
{
	ray_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ray_auto_memory char *text = NULL;
	size_t size = 0, room = 16 << 20;
	ssize_t n;

	if (fd < 0)
		return NULL;
	for (;;) {
		char *grown = realloc(ray_take(text), room + 1);

		if (!grown)
			return NULL;
		text = grown;
		while (size < room && (n = read(fd, text + size, room - size)) > 0)
			size += (size_t)n;
		if (size < room)
			break;
		room *= 2;
	}
	text[size] = '\0';
	return ray_take(text);
}

static void read_symbols(struct ray_kernel *k)
{
	k->is_read = true;
	k->text = read_all("/proc/kallsyms");
	if (k->text && !ray_kernel_parse(k, k->text))
		ray_vec_free(&k->entries);
}

bool ray_kernel_symbol_at(struct ray_kernel *k, uint64_t address, struct ray_kernel_symbol *ret)
{
	size_t low = 0, high;

	if (!k->is_read)
		read_symbols(k);
	high = k->entries.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (k->entries.at[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* The last symbol has no end: what lies far behind it is not its. */
	if (!low || (low == k->entries.n && address - k->entries.at[low - 1].start > 1 << 20))
		return false;
	/* Of aliases the first one in the file, as the reference takes it. */
	while (low > 1 && k->entries.at[low - 2].start == k->entries.at[low - 1].start)
		low--;
	*ret = (struct ray_kernel_symbol){ k->entries.at[low - 1].module, k->entries.at[low - 1].name,
					   k->entries.at[low - 1].start };
	return true;
}
