/* fuzz_core.c - opens a core made of any bytes and asks it everything. SPDX-License-Identifier: MIT
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
#include "target/node.h"
#include "target/target.h"

/* The program that the seeds name: put there at the start. */
#define PROGRAM "/proc/self/fd/100"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

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
	return 0;
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

static void ask(struct ray_target *t)
{
	static const char *const notes[] = { "files", "threads", "maps", "process" };
	char *bytes = NULL;
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
	ray_target_warnings(t);
	ray_error_free(ray_node_identify(t, &node));
	ray_error_free(ray_target_refresh(t));
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
