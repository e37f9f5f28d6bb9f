/* fuzz_v8.c - stacks of a node whose memory is damaged. SPDX-License-Identifier: MIT
 *
 * Opens the cores that fuzz_v8.seed took, walks and names them once, and notes each word that was read on the
 * way. The input then says which of those words (or registers) to change, and how: one byte that chooses the core,
 * then records of twelve bytes. Whatever comes of it, the walk must end after a bounded number of reads, and what
 * is printed must be clean text and whole JSON. */
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/json.h"
#include "stack/name.h"
#include "target/internal.h"
#include "view/stack.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	MAX_CORES = 8,
	MAX_DAMAGES = 64,
	RECORD = 12,
	BULK = 256, /* of a longer read (source text, code) only some words are noted */
	BULK_STEP = 512,
	MAX_READS = 4000000,
};
static const uint64_t max_bytes = (uint64_t)2 << 30;

struct image {
	struct ray_target *target;
	struct ray_js *js;
	const struct ray_target_ops *ops; /* the core's own */
	struct ray_target_ops damaged;
	struct ray_thread *threads; /* as they were */
	uint64_t *words;
	size_t count, cap;
};

struct damage {
	uint64_t address, value;
	bool unreadable; /* the whole page */
};

static struct image images[MAX_CORES], *current;
static size_t image_count;
static bool recording;
static struct damage damages[MAX_DAMAGES];
static size_t damage_count;
static uint64_t reads, bytes_read;

static void fail(const char *why)
{
	fprintf(stderr, "fuzz_v8: %s\n", why);
	abort();
}

static void note_word(struct image *im, uint64_t address)
{
	if (im->count == im->cap) {
		im->cap = im->cap ? im->cap * 2 : 65536;
		im->words = realloc(im->words, im->cap * sizeof(*im->words));
		if (!im->words)
			fail("no memory");
	}
	im->words[im->count++] = address & ~(uint64_t)7;
}

static void note_read(struct image *im, uint64_t address, size_t size)
{
	for (size_t i = 0; i<size; i += size> BULK && i >= BULK ? BULK_STEP : 8)
		note_word(im, address + i);
}

/* Puts the bytes of a changed word into what was read. */
static void lay_over(const struct damage *d, uint64_t address, unsigned char *buffer, size_t size)
{
	const unsigned char *value = (const unsigned char *)&d->value;

	if (address >= d->address + sizeof(d->value) || d->address >= address + size)
		return;
	for (size_t i = 0; i < sizeof(d->value); i++) {
		uint64_t at = d->address + i;

		if (at >= address && at - address < size)
			buffer[at - address] = value[i];
	}
}

static size_t read_damaged(struct ray_target *t, uint64_t address, void *buffer, size_t size)
{
	size_t n;

	if (++reads > MAX_READS || (bytes_read += size) > max_bytes)
		fail("reads without end");
	for (size_t i = 0; i < damage_count; i++) {
		uint64_t page = damages[i].address & ~(uint64_t)4095;

		if (!damages[i].unreadable || address + size <= page || address >= page + 4096)
			continue;
		if (address >= page)
			return 0;
		size = (size_t)(page - address);
	}
	n = current->ops->read(t, address, buffer, size);
	if (recording)
		note_read(current, address, n);
	for (size_t i = 0; i < damage_count; i++) {
		if (!damages[i].unreadable)
			lay_over(&damages[i], address, buffer, n);
	}
	return n;
}

static void check_text(const char *text, size_t size)
{
	ray_auto_text mended = { 0 };

	/* Mending is the identity on clean text, but for ends of lines. */
	for (size_t i = 0, end; i < size; i = end + 1) {
		const char *newline = memchr(text + i, '\n', size - i);

		end = newline ? (size_t)(newline - text) : size;
		ray_text_clear(&mended);
		ray_text_add_safe(&mended, text + i, end - i);
		if (mended.length != end - i || memcmp(ray_text_get(&mended), text + i, end - i)) {
			fprintf(stderr, "%.*s\n", (int)(end - i), text + i);
			fail("control characters or broken UTF-8");
		}
	}
}

static void check_json(const char *text, size_t size)
{
	for (size_t i = 0; i < size;) {
		const char *newline = memchr(text + i, '\n', size - i);
		json_t *value = newline ? json_loadb(text + i, (size_t)(newline - text) - i, 0, NULL) : NULL;

		if (!value)
			fail("a line is not JSON");
		json_decref(value);
		i = (size_t)(newline - text) + 1;
	}
}

/* What print() writes to stdout, checked. */
static void print_checked(struct ray_stacks *s, bool json)
{
	struct ray_stack_view view = { .verbose = true, .arguments = true, .source = 2 };
	FILE *before = stdout, *out;
	char *text = NULL;
	size_t size = 0;

	out = open_memstream(&text, &size);
	if (!out)
		fail("no memory");
	stdout = out;
	for (size_t i = 0; i < s->count; i++) {
		if (json)
			ray_stack_print_json(s, &s->at[i], &view);
		else
			ray_stack_print(s, &s->at[i], &view, out);
	}
	stdout = before;
	fclose(out);
	check_text(text, size);
	if (json)
		check_json(text, size);
	free(text);
}

/* As ray_stacks_take(), but with symbols and constants that were read once. Other threads than the main one run
 * native code and take as long. */
static void take_and_print(struct image *im, bool all_threads)
{
	struct ray_stacks s = { .js = im->js, .arena = ray_arena_create() };
	const struct ray_thread *threads = ray_target_threads(im->target, &s.count);

	if (!all_threads)
		s.count = 1;
	s.at = calloc(s.count + 1, sizeof(*s.at));
	if (!s.arena || !s.at)
		fail("no memory");
	for (size_t i = 0; i < s.count; i++) {
		struct ray_walk walk;

		s.at[i].thread = &threads[i];
		ray_error_free(ray_walk_thread(im->js, &threads[i], &walk));
		ray_error_free(ray_name_frames(im->js, &walk, s.arena, &s.at[i]));
		s.at[i].end = walk.end;
		ray_walk_deinit(&walk);
	}
	print_checked(&s, false);
	print_checked(&s, true);
	free(s.at);
	ray_arena_free(s.arena);
}

/* Nothing may be remembered from one input to the next. */
static void reset(struct image *im)
{
	struct ray_js *js = im->js;

	ray_v8_deinit(&js->v8);
	ray_wasm_free(js->wasm);
	if (!ray_v8_init(&js->v8, js->layout, ray_target_reader(im->target)))
		fail("no memory");
	js->v8.bytecode_sizes = js->constants.bytecode_sizes;
	js->v8.bytecode_count = js->constants.bytecode_count;
	js->wasm = ray_wasm_create(&js->v8.memory, &js->wasm_layout);
	memcpy(im->target->threads.at, im->threads, im->target->threads.n * sizeof(*im->threads));
	damage_count = 0;
	reads = bytes_read = 0;
}

static uint64_t old_value(struct image *im, uint64_t address)
{
	uint64_t value = 0;

	im->ops->read(im->target, address, &value, sizeof(value));
	return value;
}

static void damage_register(struct image *im, uint32_t which, uint64_t value)
{
	struct ray_thread *t = &im->target->threads.at[which % im->target->threads.n];
	unsigned long long *const registers[] = { &t->registers.rip, &t->registers.rsp, &t->registers.rbp,
						  &t->registers.r12, &t->registers.r9 };

	*registers[which / 64 % RAY_COUNT(registers)] = value % 3 ? im->words[value % im->count] : value;
}

static void add_damage(struct image *im, uint32_t index, uint8_t how, uint64_t value)
{
	struct damage d = { .address = im->words[index % im->count] };
	uint64_t old = old_value(im, d.address);

	switch (how % 8) {
	case 0:
		d.value = value;
		break;
	case 1: /* another word: an object of another type, a map of another object */
		d.value = old_value(im, im->words[value % im->count]);
		break;
	case 2: /* a Smi */
		d.value = value << 32;
		break;
	case 3:
		d.value = old ^ (uint64_t)1 << (value & 63);
		break;
	case 4:
		d.value = old + (uint64_t)(int64_t)(int8_t)value;
		break;
	case 5: /* a pointer to what is not the start of an object, or to itself */
		d.value = im->words[value % im->count] + 1;
		break;
	case 6:
		d.unreadable = true;
		break;
	default:
		damage_register(im, index, value);
		return;
	}
	damages[damage_count++] = d;
}

static int compare_words(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void open_image(const char *path, struct image *im)
{
	struct ray_target_options options = { .name = path };
	struct ray_error *err;
	size_t n = 0;

	err = ray_target_open(&options, &im->target);
	if (!err)
		err = ray_js_open(im->target, &im->js);
	if (err || !im->js->layout)
		fail(err ? ray_error_text(err) : im->js->why);
	im->ops = im->target->ops;
	im->damaged = *im->ops;
	im->damaged.read = read_damaged;
	im->target->ops = &im->damaged;
	im->threads = malloc(im->target->threads.n * sizeof(*im->threads));
	memcpy(im->threads, im->target->threads.at, im->target->threads.n * sizeof(*im->threads));
	current = im;
	reset(im);
	recording = true;
	take_and_print(im, true);
	recording = false;
	qsort(im->words, im->count, sizeof(*im->words), compare_words);
	for (size_t i = 0; i < im->count; i++) {
		if (!n || im->words[n - 1] != im->words[i])
			im->words[n++] = im->words[i];
	}
	im->count = n;
	fprintf(stderr, "%s: %zu words, %llu reads of %llu bytes\n", path, n, (unsigned long long)reads,
		(unsigned long long)bytes_read);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	glob_t found;

	(void)argc, (void)argv;
	if (glob("fuzz_v8.cores/core.*", 0, NULL, &found)) {
		fprintf(stderr, "fuzz_v8: no cores below fuzz_v8.cores: run tests/fuzz/fuzz_v8.seed first\n");
		exit(1);
	}
	for (size_t i = 0; i < found.gl_pathc && image_count < MAX_CORES; i++)
		open_image(found.gl_pathv[i], &images[image_count++]);
	globfree(&found);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t value;
	uint32_t index;

	if (!size)
		return 0;
	current = &images[(data[0] & 0x7f) % image_count];
	reset(current);
	for (size_t i = 1; i + RECORD <= size && damage_count < MAX_DAMAGES; i += RECORD) {
		index = (uint32_t)data[i] | (uint32_t)data[i + 1] << 8 | (uint32_t)data[i + 2] << 16;
		memcpy(&value, data + i + 4, sizeof(value));
		add_damage(current, index, data[i + 3], value);
	}
	take_and_print(current, data[0] & 0x80);
	return 0;
}
