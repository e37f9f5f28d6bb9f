/* attach_uprobe.c - hangs programs in at addresses of files. SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "engine/attach.h"
#include "engine/attach_multi.h"

/* A number from sysfs; -1 if the kernel has no such thing. */
static int number_read(const char *path)
{
	ray_auto_file FILE *f = fopen(path, "re");
	int value;

	return f && fscanf(f, "%d", &value) == 1 ? value : -1;
}

/* A process that nobody has waited for yet has a number, but no files any more. */
bool ray_site_is_gone(const struct ray_site *site)
{
	char root[32];

	if (site->uprobe.pid <= 0)
		return false;
	if (kill(site->uprobe.pid, 0) && errno == ESRCH)
		return true;
	snprintf(root, sizeof(root), "/proc/%d/root/.", site->uprobe.pid);
	return access(root, F_OK) && (errno == ENOENT || errno == ESRCH);
}

static struct ray_error *uprobe_attach(struct ray_trace *t, const struct ray_entry *e, const struct ray_site *site,
				       uint32_t point, int type)
{
	struct perf_event_attr attr = {
		.type = type,
		.config = (e->kind == RAY_SITE_URETPROBE) | site->uprobe.semaphore << 32,
		.uprobe_path = (uint64_t)(uintptr_t)site->uprobe.file,
		.probe_offset = site->uprobe.offset,
	};

	struct ray_error *err = ray_perf_attach(t, e, &attr, 0, point, site->uprobe.file);

	if (!err || !ray_site_is_gone(site))
		return err;
	ray_error_free(err);
	return NULL;
}

static struct ray_error *uprobe_type(int *ret)
{
	*ret = number_read("/sys/bus/event_source/devices/uprobe/type");
	return *ret < 0 ? ray_error_new(RAY_FAILED, "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)") : NULL;
}

struct ray_error *ray_uprobes_attach(struct ray_trace *t, struct ray_entry *e)
{
	struct ray_error *err;
	int type;

	if (!e->sites.n)
		return NULL;
	if (e->expected_attach_type == RAY_ATTACH_UPROBE_MULTI)
		return ray_uprobe_multi_attach(t, e);
	err = uprobe_type(&type);
	for (size_t i = 0; i < e->sites.n && !err; i++)
		err = uprobe_attach(t, e, e->sites.at[i], e->first_point + i, type);
	return err;
}

struct ray_error *ray_uprobe_add_late(struct ray_trace *t, struct ray_entry *e, const struct ray_site *site,
				      uint32_t point)
{
	return ray_vec_push(&t->late, (struct ray_late_site){ e, site, point }) &&
			       ray_vec_push(&t->late_points, (struct ray_late_point){ site->uprobe.pid, point }) ?
		       NULL :
		       &ray_enomem;
}

static struct ray_error *entry_attach_late(struct ray_trace *t, struct ray_entry *e)
{
	struct ray_error *err;
	int type;

	if (e->expected_attach_type == RAY_ATTACH_UPROBE_MULTI)
		return ray_uprobe_multi_attach_late(t, e);
	err = uprobe_type(&type);
	for (size_t i = 0; i < t->late.n && !err; i++)
		if (t->late.at[i].entry == e)
			err = uprobe_attach(t, e, t->late.at[i].site, t->late.at[i].point, type);
	return err;
}

struct ray_error *ray_uprobes_attach_late(struct ray_trace *t)
{
	struct ray_error *err = NULL;

	for (size_t i = 0; i < t->entries.n && t->late.n && !err; i++)
		if (t->entries.at[i]->kind == RAY_SITE_UPROBE || t->entries.at[i]->kind == RAY_SITE_URETPROBE)
			err = entry_attach_late(t, t->entries.at[i]);
	t->late.n = 0;
	return err;
}
