/* derived.c - providers that are a table over tracepoints and system calls. SPDX-License-Identifier: MIT */
#include "probe/derived.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct ray_error *ray_derived_match(struct ray_catalogue *c, const struct ray_provider *p,
				    const struct ray_derived *rows, size_t count, const struct ray_probe_spec *spec,
				    ray_probe_list *matches)
{
	for (size_t i = 0; i < count; i++) {
		struct ray_probe_names names = { p->name, "vmlinux", "", rows[i].name, p->first_id + i };
		struct ray_probe *probe;
		struct ray_error *err;

		if (!ray_probe_spec_has(spec, &names))
			continue;
		err = ray_catalogue_add(c, p, &names, matches, &probe);
		if (err)
			return err;
		probe->data = (void *)&rows[i];
	}
	return NULL;
}

struct ray_error *ray_derived_args(struct ray_catalogue *c, struct ray_probe *probe, struct ray_probe_args *ret)
{
	const struct ray_derived *row = probe->data;
	size_t count = 0;

	(void)c;
	while (count < RAY_DERIVED_ARGS && row->args[count].type)
		count++;
	*ret = (struct ray_probe_args){ .at = row->args, .count = count, .known = true };
	return NULL;
}

/* Every tracepoint has a type of this name. Searching for the text takes a millisecond or two; reading the types, twenty. */
bool ray_tracepoint_exists(const char *types, const char *name)
{
	ray_auto_fd int fd = open(types, O_RDONLY | O_CLOEXEC);
	ray_auto_memory char *wanted = NULL;
	ray_auto_memory char *bytes = NULL;
	struct stat st;
	size_t have = 0;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0)
		return false;
	if (asprintf(&wanted, "btf_trace_%s", name) < 0) {
		wanted = NULL;
		return false;
	}
	bytes = malloc(st.st_size);
	while (bytes && have < (size_t)st.st_size && (n = read(fd, bytes + have, st.st_size - have)) > 0)
		have += n;
	/* With its NUL: no longer name will do. */
	return bytes && memmem(bytes, have, wanted, strlen(wanted) + 1);
}

struct ray_error *ray_derived_sites(struct ray_catalogue *c, struct ray_probe *probe)
{
	const struct ray_derived *row = probe->data;
	size_t first = 0;
	size_t count = row->site_count;

	if (row->has_substitute) {
		first = !ray_tracepoint_exists("/sys/kernel/btf/vmlinux", row->sites[0].tracepoint.name);
		count = 1;
	}
	for (size_t i = 0; i < count; i++) {
		struct ray_site *site = ray_probe_site_add(c, probe);

		if (!site)
			return &ray_enomem;
		*site = row->sites[first + i];
	}
	return NULL;
}
