/* kernel.c - see kernel.h. SPDX-License-Identifier: MIT */
#include "stack/kernel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/search.h"
#include "base/vec.h"

struct entry {
	uint64_t start;
	const char *name, *module; /* in text */
};

/* What was asked before. */
struct answer {
	uint64_t address;
	struct ray_kernel_symbol symbol; /* name NULL: it has none */
};

/* A function of the kernel itself, which stays where it is: all its addresses are called alike. */
struct function {
	uint64_t start, end;
	struct ray_kernel_symbol symbol;
};

enum { MOST_ANSWERS = 1 << 16, TEXT_ROOM = 512 };

struct ray_kernel {
	char *text;
	bool is_read;
	RAY_VEC(struct entry) entries;
	ray_kernel_asked *ask; /* NULL: there is nobody */
	void *asked;
	RAY_HASHMAP(struct answer) answers;
	RAY_VEC(struct function) functions; /* of answers, by start */
	struct ray_arena *arena;	    /* of the answers */
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
	ray_vec_free(&k->functions);
	free(k->text);
	ray_hashmap_free(&k->answers);
	ray_arena_free(k->arena);
	free(k);
}

/* ---- /proc/kallsyms ---- */

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

static bool find_entry(struct ray_kernel *k, uint64_t address, struct ray_kernel_symbol *ret)
{
	size_t up_to;

	if (!k->is_read)
		read_symbols(k);
	up_to = ray_search(k->entries.at, k->entries.n, one, one->start <= address);
	/* The last symbol has no end: what lies far behind it is not its. */
	if (!up_to || (up_to == k->entries.n && address - k->entries.at[up_to - 1].start > 1 << 20))
		return false;
	/* Of aliases the first one in the file, as the reference takes it. */
	while (up_to > 1 && k->entries.at[up_to - 2].start == k->entries.at[up_to - 1].start)
		up_to--;
	*ret = (struct ray_kernel_symbol){ k->entries.at[up_to - 1].module, k->entries.at[up_to - 1].name,
					   k->entries.at[up_to - 1].start };
	return true;
}

/* ---- asking ---- */

void ray_kernel_ask(struct ray_kernel *k, ray_kernel_asked *ask, void *arg)
{
	k->ask = ask;
	k->asked = arg;
}

static struct answer *find_answer(struct ray_kernel *k, uint64_t address)
{
	return ray_hashmap_find(&k->answers, ray_hash_word(0, address), one, one->address == address);
}

/* The cache is emptied when it is full. */
static bool make_room(struct ray_kernel *k)
{
	if (k->arena && ray_hashmap_count(&k->answers) < MOST_ANSWERS)
		return true;
	ray_arena_free(k->arena);
	ray_hashmap_clear(&k->answers);
	k->functions.n = 0;
	k->arena = ray_arena_create();
	return k->arena != NULL;
}

/* Loaded programs are a module in /proc/kallsyms, but not here: "bpf_prog_", 16 digits of their hash, their name. */
static bool is_program(const char *name)
{
	static const char program[] = "bpf_prog_", trampoline[] = "bpf_trampoline_";

	if (!strncmp(name, trampoline, sizeof(trampoline) - 1))
		return true;
	return !strncmp(name, program, sizeof(program) - 1) &&
	       strspn(name + sizeof(program) - 1, "0123456789abcdef") >= 16;
}

/* How many functions begin at or before the address. */
static size_t functions_up_to(const struct ray_kernel *k, uint64_t address)
{
	return ray_search(k->functions.at, k->functions.n, one, one->start <= address);
}

static const struct function *function_at(const struct ray_kernel *k, uint64_t address)
{
	size_t i = functions_up_to(k, address);

	return i && address < k->functions.at[i - 1].end ? &k->functions.at[i - 1] : NULL;
}

/* Without memory it is asked for again. */
static void function_keep(struct ray_kernel *k, const struct ray_kernel_symbol *symbol, uint64_t size)
{
	struct function f = { symbol->start, symbol->start + size, *symbol };
	size_t at = functions_up_to(k, f.start);

	if (f.end <= f.start || !ray_vec_push(&k->functions, f))
		return;
	memmove(&k->functions.at[at + 1], &k->functions.at[at], (k->functions.n - 1 - at) * sizeof(f));
	k->functions.at[at] = f;
}

/* "name+0x1/0x20 [module]"; the text is cut up. False: it has no name. */
static bool parse_answer(struct ray_kernel *k, uint64_t address, char *text, struct ray_kernel_symbol *ret)
{
	char *plus = strrchr(text, '+'), *module = strstr(text, " ["), *slash;
	bool may_go = is_program(text);

	if (!plus || plus == text)
		return false;
	*plus = '\0';
	ret->start = address - strtoull(plus + 1, &slash, 16);
	ret->name = ray_arena_strdup(k->arena, text);
	ret->module = may_go ? "bpf" : "vmlinux";
	if (module && module > plus && strchr(module, ']')) {
		*strchr(module, ']') = '\0';
		ret->module = ray_arena_strdup(k->arena, module + 2);
		may_go = true;
	}
	if (!ret->name || !ret->module)
		return false;
	/* Where a module or a program was, another may be later. */
	if (!may_go && *slash == '/')
		function_keep(k, ret, strtoull(slash + 1, NULL, 16));
	return true;
}

/* The answer, known or new; NULL: there is none to be had. */
static const struct answer *answer_of(struct ray_kernel *k, uint64_t address)
{
	struct answer *known = find_answer(k, address), new = { .address = address };
	const struct function *f;
	char text[TEXT_ROOM];

	if (known)
		return known;
	if (!make_room(k))
		return NULL;
	f = function_at(k, address);
	if (f)
		new.symbol = f->symbol;
	else if (!k->ask(k->asked, address, text, sizeof(text)))
		return NULL;
	else if (!parse_answer(k, address, text, &new.symbol))
		new.symbol.name = NULL;
	return ray_hashmap_add(&k->answers, ray_hash_word(0, address), new);
}

bool ray_kernel_symbol_at(struct ray_kernel *k, uint64_t address, struct ray_kernel_symbol *ret)
{
	const struct answer *a;

	if (!address)
		return false;
	a = k->ask ? answer_of(k, address) : NULL;
	if (!a) {
		k->ask = NULL;
		return find_entry(k, address, ret);
	}
	*ret = a->symbol;
	return ret->name != NULL;
}
