/* fuzz_sourcemap.c - any bytes as a script with a source map, or as a map. SPDX-License-Identifier: MIT
 *
 * The first byte tells which: a map beside a script, or a script that may hold its map. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/remap.h"
#include "profile/sourcemap.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct input {
	const char *bytes;
	size_t size;
	bool is_map;
};

static const char script[] =
	"function a(b) {\n  return b + 1\n}\nclass c { d(e) { return a(e) } }\nconst f = (g) => g;\n";

static bool copy(const char *from, size_t length, char **bytes_ret, size_t *size_ret)
{
	*bytes_ret = malloc(length + 1);
	if (!*bytes_ret)
		return false;
	memcpy(*bytes_ret, from, length);
	(*bytes_ret)[length] = '\0';
	*size_ret = length;
	return true;
}

static bool read_file(void *arg, const char *path, char **bytes_ret, size_t *size_ret)
{
	const struct input *input = arg;
	bool is_script = !strcmp(path, "/x.js");

	if (is_script == input->is_map)
		return is_script ? copy(script, sizeof(script) - 1, bytes_ret, size_ret) :
				   copy(input->bytes, input->size, bytes_ret, size_ret);
	return is_script && copy(input->bytes, input->size, bytes_ret, size_ret);
}

static bool count_one(void *arg, const struct ray_source_place *place)
{
	size_t *count = arg;

	return ++*count < 100 && place->at_line > 0;
}

static void ask(const char *bytes, size_t size)
{
	ray_auto(ray_source_map, map) = NULL;
	struct ray_error *err = ray_source_map_parse(bytes, size, &map);
	struct ray_source_place place;
	size_t count = 0;

	if (err) {
		ray_error_free(err);
		return;
	}
	for (int line = 0; line < 5; line++)
		for (int column = 0; column < 40; column += 3)
			if (ray_source_map_find(map, line, column, &place) && place.source && !place.line)
				abort();
	ray_source_map_each_back(map, 1, 1, INT32_MAX, count_one, &count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input input = { (const char *)bytes + 1, size ? size - 1 : 0, size && bytes[0] & 1 };
	struct ray_remap_options options = { read_file, &input };
	ray_auto(ray_remap, remap) = ray_remap_create(&options);
	ray_auto(ray_profile, profile) = ray_profile_create();
	ray_auto(ray_profile, told) = NULL;
	struct ray_profile_function f = {
		.kind = RAY_KIND_JS, .name = "c.d", .file = "/x.js", .line = 4, .column = 12
	};
	struct ray_profile_frame frame = { .line = 4, .column = 25 };

	if (!size || !remap || !profile)
		return 0;
	ask(input.bytes, input.size);
	frame.function = ray_profile_function(profile, &f);
	ray_profile_node(profile, 0, ray_profile_frame(profile, &frame));
	f.name = "a";
	f.line = 1;
	f.column = 11;
	frame.function = ray_profile_function(profile, &f);
	ray_profile_node(profile, 1, ray_profile_frame(profile, &frame));
	ray_error_free(ray_remap_profile(remap, profile, &told));
	if (told && ray_profile_check(told))
		abort();
	return 0;
}
