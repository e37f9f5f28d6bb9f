/* fuzz_core.c - opens a core made of any bytes and asks it everything that the verbs ask.
 * SPDX-License-Identifier: MIT
 *
 * Half of the mutations are of single fields of headers and notes, to values that have broken something before
 * or could: sizes without end, addresses at the edges of memory, counts that are too large.
 *
 * Seeds are small cores, plain and packed; with NODERAY_SEEDS=DIRECTORY in the environment they are
 * written there and nothing is fuzzed (fuzz_core.seed does that). */
#include <fcntl.h>
#include <lz4frame.h>
#include <stdio.h>
#include <sys/mman.h>
#include <zlib.h>
#include <zstd.h>

#include "../unit/fake_core.h"
#include "stack/regions.h"
#include "stack/stack.h"
#include "target/files.h"
#include "target/node.h"
#include "target/uv.h"
#include "view/maps.h"

/* The program that the seeds name: put there at the start. */
#define PROGRAM "/proc/self/fd/100"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

static FILE *nowhere; /* for what is only printed */

static void write_seed(const char *directory, const char *name, const void *bytes, size_t size)
{
	ray_auto_memory char *path = NULL;
	ray_auto_file FILE *f = NULL;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		abort();
	f = fopen(path, "w");
	if (!f || fwrite(bytes, 1, size, f) != size)
		abort();
}

static size_t gzip(char *out, size_t room, char *bytes, size_t size)
{
	z_stream z = {
		.next_in = (Bytef *)bytes, .avail_in = (uInt)size, .next_out = (Bytef *)out, .avail_out = (uInt)room
	};

	if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
	    deflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	deflateEnd(&z);
	return room - z.avail_out;
}

static void write_seeds(const char *directory)
{
	static const int tids[] = { FAKE_PID, 4712, 4713, 0 };
	static const char *const args[] = { "fake", "one", "two", NULL }, *const env[] = { "A=1", "B=2", NULL };
	struct fake_core shapes[] = {
		{ PROGRAM, fake_id, tids, args, env, "threads", "[{\"tid\":4711,\"name\":\"main\",\"state\":\"S\"}]",
		  false, false },
		{ PROGRAM, NULL, tids, args, env, "maps",
		  "{\"rows\":[[\"0x600000\",\"0x601000\",\"rw-p\",\"[heap]\",0,0,0,0,\"\"]]}", true, false },
		{ NULL, NULL, tids, args, env, NULL, NULL, false, true },
	};
	char packed[65536], name[32];

	for (size_t i = 0; i < RAY_COUNT(shapes); i++) {
		ray_auto_text core = { 0 };

		fake_core_build(&core, &shapes[i]);
		snprintf(name, sizeof(name), "core%zu", i);
		write_seed(directory, name, core.bytes, core.length);
		snprintf(name, sizeof(name), "core%zu.zst", i);
		write_seed(directory, name, packed, ZSTD_compress(packed, sizeof(packed), core.bytes, core.length, 1));
		snprintf(name, sizeof(name), "core%zu.lz4", i);
		write_seed(directory, name, packed,
			   LZ4F_compressFrame(packed, sizeof(packed), core.bytes, core.length, NULL));
		snprintf(name, sizeof(name), "core%zu.gz", i);
		write_seed(directory, name, packed, gzip(packed, sizeof(packed), core.bytes, core.length));
	}
}

int LLVMFuzzerInitialize(int *argc RAY_UNUSED, char ***argv RAY_UNUSED)
{
	const char *directory = getenv("NODERAY_SEEDS");
	ray_auto_text program = { 0 };
	ray_auto_fd int fd = memfd_create("program", MFD_CLOEXEC);

	fake_program(&program, fake_id);
	if (write(fd, program.bytes, program.length) != (ssize_t)program.length || dup2(fd, 100) != 100)
		abort();

	if (directory) {
		write_seeds(directory);
		exit(0);
	}
	nowhere = fopen("/dev/null", "w");
	return nowhere ? 0 : -1;
}

static uint64_t pick(unsigned *seed, size_t size)
{
	const uint64_t values[] = { 0,
				    1,
				    4,
				    4095,
				    4096,
				    65535,
				    1 << 20,
				    INT32_MAX,
				    UINT32_MAX,
				    1ull << 40,
				    (1ull << 47) - 4096,
				    1ull << 47,
				    1ull << 56,
				    1ull << 60,
				    INT64_MAX,
				    UINT64_MAX,
				    UINT64_MAX - 4095,
				    size,
				    size - 1,
				    FAKE_DATA,
				    fake_stack };

	return values[(unsigned)rand_r(seed) % RAY_COUNT(values)];
}

/* The count of program headers (and where the real one is, past 65534), or a field of one of the first. */
static void break_header(uint8_t *data, size_t size, unsigned *seed)
{
	static const struct {
		size_t offset, size;
	} fields[] = { { offsetof(Elf64_Phdr, p_type), 4 },   { offsetof(Elf64_Phdr, p_flags), 4 },
		       { offsetof(Elf64_Phdr, p_offset), 8 }, { offsetof(Elf64_Phdr, p_vaddr), 8 },
		       { offsetof(Elf64_Phdr, p_filesz), 8 }, { offsetof(Elf64_Phdr, p_memsz), 8 } };
	unsigned what = (unsigned)rand_r(seed) % 16;
	uint64_t value = pick(seed, size);
	size_t i = (unsigned)rand_r(seed) % RAY_COUNT(fields), at;

	if (what == 0)
		memcpy(data + offsetof(Elf64_Ehdr, e_phnum), &value, 2);
	else if (what == 1)
		memcpy(data + offsetof(Elf64_Ehdr, e_shoff), &value, 8);
	else if (what == 2)
		memcpy(data + offsetof(Elf64_Ehdr, e_phoff), &value, 8);
	else if (what <= 12) {
		at = sizeof(Elf64_Ehdr) + (unsigned)rand_r(seed) % 8 * sizeof(Elf64_Phdr) + fields[i].offset;
		if (fields[i].offset == offsetof(Elf64_Phdr, p_type))
			value %= 5;
		if (at + fields[i].size <= size)
			memcpy(data + at, &value, fields[i].size);
	} else {
		at = ((unsigned)rand_r(seed) % size) & ~3ul; /* a note's word, as like as not */
		if (at + 8 <= size)
			memcpy(data + at, &value, rand_r(seed) % 2 ? 4 : 8);
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
	if (size < sizeof(Elf64_Ehdr) || memcmp(data, ELFMAG, SELFMAG) || rand_r(&seed) % 2)
		return LLVMFuzzerMutate(data, size, room);
	for (int i = 1 + rand_r(&seed) % 4; i > 0; i--)
		break_header(data, size, &seed);
	return size;
}

/* Every mapping at its start, its end and across it; every register as an address. */
static void read_memory(struct ray_target *t)
{
	size_t maps, threads;
	const struct ray_map *map = ray_target_maps(t, &maps);
	const struct ray_thread *thread = ray_target_threads(t, &threads);
	unsigned char buffer[70000];
	uint64_t vaddr;

	for (size_t i = 0; i < maps && i < 64; i++) {
		if (map[i].start >= map[i].end || (i && map[i].start < map[i - 1].end) ||
		    map[i].dumped > map[i].end - map[i].start)
			abort();
		ray_target_read(t, map[i].start, buffer, 8);
		ray_target_read(t, map[i].end - 4, buffer, 8);
		ray_target_read(t, map[i].start - 16, buffer, sizeof(buffer));
		ray_target_module_at(t, map[i].start, &vaddr);
	}
	for (size_t i = 0; i < threads && i < 64; i++) {
		ray_target_read(t, thread[i].registers.rsp, buffer, 4096);
		ray_target_module_at(t, thread[i].registers.rip, &vaddr);
	}
}

/* What `maps` does. */
static void survey(struct ray_target *t, const struct ray_node *node)
{
	struct ray_maps_style style = { .verbose = true, .is_core = true, .width = 80 };
	ray_auto(ray_regions, r) = NULL;

	ray_error_free(ray_regions_create(t, node, &r));
	if (r && (!ray_maps_print_table(r, &style, nowhere) || !ray_maps_print_summary(r, &style, nowhere)))
		abort();
}

/* What `files` and `stack` do. */
static void look(struct ray_target *t)
{
	ray_auto(ray_files, files) = NULL;
	ray_auto(ray_uv, uv) = NULL;
	ray_auto(ray_stacks, stacks) = NULL;

	ray_error_free(ray_files_list(t, &files));
	ray_error_free(ray_uv_find(t, NULL, 0, &uv));
	ray_error_free(ray_stacks_take(t, false, &stacks));
}

/* Warnings are for people: each once, and few. */
static void check_warnings(struct ray_target *t)
{
	const char *const *w = ray_target_warnings(t);

	for (size_t i = 0; w[i]; i++) {
		for (size_t k = 0; k < i; k++) {
			if (!strcmp(w[i], w[k]))
				abort();
		}
	}
}

static void ask(struct ray_target *t)
{
	static const char *const notes[] = { "files", "threads", "maps", "process" };
	char *bytes = NULL;
	struct ray_error *err;
	struct ray_node node;
	size_t size;

	read_memory(t);
	for (size_t i = 0; i < RAY_COUNT(notes); i++)
		ray_target_note(t, notes[i]);
	ray_error_free(ray_target_args(t, &bytes, &size));
	free(bytes);
	bytes = NULL;
	ray_error_free(ray_target_env(t, &bytes, &size));
	free(bytes);
	ray_target_args_note(t);
	err = ray_node_identify(t, &node);
	survey(t, err ? NULL : &node);
	ray_error_free(err);
	look(t);
	ray_error_free(ray_target_refresh(t));
	check_warnings(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ray_auto(ray_target, t) = NULL;
	ray_auto_fd int fd = memfd_create("core", MFD_CLOEXEC);
	struct ray_target_options options = { .force = size % 2 };
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	options.name = path;
	ray_error_free(ray_target_open(&options, &t));
	if (t)
		ask(t);
	return 0;
}
