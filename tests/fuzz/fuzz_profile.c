/* fuzz_profile.c - profiles of every format that can be read, from random bytes. SPDX-License-Identifier: MIT
 *
 * The first byte chooses the format; what can be read is written again in another one, which the second byte chooses, so that writers see
 * what no recorder makes. NODERAY_SEEDS=DIRECTORY writes a small file of each format there, and ends. */
#include <stdio.h>
#include <string.h>

#include "profile/diff.h"
#include "profile/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static size_t format_count(void)
{
	size_t n = 0;

	while (ray_profile_format_at(n))
		n++;
	return n;
}

static void write_again(const struct ray_profile *p, uint8_t which)
{
	const struct ray_profile_format *format = ray_profile_format_at(which % format_count());
	FILE *out = fopen("/dev/null", "w");

	if (!out)
		return;
	ray_error_free(format->write(p, out));
	fclose(out);
}

static void compare(const struct ray_profile *p)
{
	ray_auto(ray_profile_diff, d) = NULL;
	ray_auto_memory struct ray_profile_diff_row *rows = NULL;
	size_t count;

	ray_error_free(ray_profile_diff_create(p, p, &d));
	if (d && !ray_profile_diff_rank(d, &rows, &count))
		rows = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ray_profile_format *format;
	ray_auto_memory char *bytes = NULL;
	ray_auto(ray_profile, p) = NULL;
	ray_auto(ray_error, err) = NULL;

	if (size < 2)
		return 0;
	format = ray_profile_format_at(data[0] % format_count());
	bytes = malloc(size - 1);
	if (!bytes || !format->read)
		return 0;
	memcpy(bytes, data + 2, size - 2);
	bytes[size - 2] = '\0';
	(void)format->looks_like(bytes, size - 2);
	err = format->read(bytes, size - 2, &p);
	if (!err && !ray_profile_check(p) && !p->failed) {
		write_again(p, data[1]);
		compare(p);
	}
	return 0;
}

static const char stacks[] = "main-7/7;a (/a.js:1:2)_[j];b_[j];c_[k] 3\nmain-7/8;a (/a.js:1:2)_[j] 1\n";

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *directory = getenv("NODERAY_SEEDS");
	ray_auto(ray_profile, p) = NULL;
	(void)argc;
	(void)argv;

	if (!directory)
		return 0;
	ray_error_free(ray_profile_parse(stacks, strlen(stacks), &p));
	for (size_t i = 0; p && i < format_count(); i++) {
		ray_auto_file FILE *out = NULL;
		char path[4096];

		snprintf(path, sizeof(path), "%s/seed-%zu", directory, i);
		out = fopen(path, "w");
		if (!out)
			exit(1);
		putc((int)i, out);
		putc((int)i + 1, out);
		ray_error_free(ray_profile_format_at(i)->write(p, out));
	}
	exit(0);
}
