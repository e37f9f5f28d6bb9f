/* maps.c - the maps of a run, each only when some code uses it.
 * SPDX-License-Identifier: MIT
 *
 * Array maps are mapped to be filled: one element per system call would take longer than the rest of the start. Hashes grow as they are
 * filled (BPF_F_NO_PREALLOC), so a generous limit costs nothing. Knows no stacks: their maps are stacks.c's. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "engine/internal.h"
#include "engine/kin.h"
#include "engine/link.h"
#include "engine/maps.h"

enum {
	AGG_KEYS_MIN = 262144, /* elements (a key on a CPU) that fit whatever their size, with the default aggsize */
	AGG_SIZE_DEFAULT = 4 << 20,
	RING_CPUS_MIN = 4, /* bufsize is per CPU in DTrace; one ring serves all */
	RING_CPUS_MAX = 16,
	RING_MAX = 1 << 30,
	RING_LITERAL = 1 << 20,	   /* a bufsize below this was asked for to be small */
	RING_ONCE_MIN = 256 << 10, /* for programs whose probes fire once */
	DTRACE_HEAD = 24,	   /* of a record of DTrace: bufsize is compared with what it would need */
	DTRACE_RECORD_MIN = 64,	   /* that of a fault */
	NAMES_SPARE = 4096,	   /* probes that come after the start */
	STRINGS_SPARE = 1 << 18,
	POINTS_SPARE = 1024,
};

static struct ray_error *create(enum bpf_map_type type, const char *name, uint32_t key_size, uint32_t value_size,
				uint32_t entries, uint32_t flags, int *ret)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);
	int fd = bpf_map_create(type, name, key_size, value_size, entries, &opts);

	if (fd >= 0) {
		*ret = fd;
		return NULL;
	}
	if (errno == EPERM || errno == EACCES)
		return ray_load_denied("cannot create BPF maps");
	return ray_error_errno(RAY_FAILED, errno, "cannot create the BPF map %s (%u elements of %u + %u bytes)", name,
			       entries, key_size, value_size);
}

struct ray_error *ray_map_array_create(const char *name, uint32_t value_size, uint32_t entries, int *ret)
{
	return create(BPF_MAP_TYPE_ARRAY, name, 4, value_size, entries, BPF_F_MMAPABLE, ret);
}

struct ray_error *ray_map_array_open(int fd, size_t size, void **ret)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return ray_error_errno(RAY_FAILED, errno, "cannot map a BPF map of %zu bytes", size);
	*ret = p;
	return NULL;
}

uint32_t ray_map_capacity(int fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &size) == 0 ? info.max_entries : 0;
}

/* ---- waiting for programs ---- */

struct ray_error *ray_barrier_create(struct ray_barrier *ret)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	struct ray_error *err = ray_map_array_create("barrier", 8, 1, &ret->inner);

	if (err)
		return err;
	opts.inner_map_fd = (uint32_t)ret->inner;
	ret->outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "barriers", 4, 4, 1, &opts);
	if (ret->outer < 0)
		return ray_error_errno(RAY_FAILED, errno, "cannot create the BPF map barriers");
	return NULL;
}

struct ray_error *ray_barrier_wait(const struct ray_barrier *b)
{
	uint32_t index = 0;

	if (bpf_map_update_elem(b->outer, &index, &b->inner, BPF_ANY))
		return ray_error_errno(RAY_FAILED, errno, "cannot wait for BPF programs to end");
	return NULL;
}

void ray_barrier_close(struct ray_barrier *b)
{
	if (b->outer >= 0)
		close(b->outer);
	if (b->inner >= 0)
		close(b->inner);
	b->outer = b->inner = -1;
}

/* ---- the runtime's ---- */

static struct ray_error *create_slots(struct ray_trace *t)
{
	const struct ray_plan *plan = t->plan;
	struct ray_slot_shape shape;
	struct ray_error *err;
	void *slots;

	ray_slot_shape(plan, &shape);
	err = ray_map_array_create("slots", shape.value_size, t->slot_count, &t->maps[RAY_LINK_SLOTS]);
	if (!err)
		err = ray_map_array_open(t->maps[RAY_LINK_SLOTS], (size_t)shape.value_size * t->slot_count, &slots);
	if (err)
		return err;
	for (uint32_t i = 0; i < t->slot_count; i++) {
		char *at = (char *)slots + (size_t)i * shape.value_size;

		((struct ray_slot *)at)->index = i;
		if (plan->strings_size)
			memcpy(at + plan->strings_at, plan->string_bytes, plan->strings_size);
	}
	munmap(slots, (size_t)shape.value_size * t->slot_count);
	return NULL;
}

/* From the kernel's monotonic clock to the time of day. */
static uint64_t wall_offset(void)
{
	struct timespec wall, monotonic;

	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	return (uint64_t)(wall.tv_sec - monotonic.tv_sec) * 1000000000 + (uint64_t)(wall.tv_nsec - monotonic.tv_nsec);
}

static struct ray_error *create_state(struct ray_trace *t)
{
	struct ray_error *err = ray_map_array_create("state", sizeof(struct ray_state), 1, &t->maps[RAY_LINK_STATE]);
	void *state;

	if (!err)
		err = ray_map_array_open(t->maps[RAY_LINK_STATE], sizeof(struct ray_state), &state);
	if (!err) {
		t->state = state;
		t->state->own_tgid = (uint32_t)getpid();
		t->state->wall_offset = wall_offset();
	}
	return err;
}

static struct ray_error *too_small(void)
{
	return ray_error_new(RAY_FAILED, "could not enable tracing: Enabling exceeds size of buffer");
}

/* BEGIN and END alone send a known number of records. */
static bool fires_once(const struct ray_trace *t)
{
	for (size_t i = 0; i < t->entries.n; i++)
		if (t->entries.at[i]->kind != RAY_SITE_BEGIN && t->entries.at[i]->kind != RAY_SITE_END)
			return false;
	return true;
}

static uint64_t ring_want(const struct ray_trace *t)
{
	uint64_t cpus = t->slot_count / RAY_SLOTS_PER_CPU, once = RING_ONCE_MIN;
	uint64_t want = t->options.bufsize;

	if (want < RING_LITERAL)
		return want;
	want *= cpus < RING_CPUS_MIN ? RING_CPUS_MIN : cpus > RING_CPUS_MAX ? RING_CPUS_MAX : cpus;
	for (size_t i = 0; i < t->program->clauses.n; i++)
		once += 2 * ((uint64_t)t->plan->clauses[i].record_size + sizeof(struct ray_record_error));
	return fires_once(t) && once < want && !t->wants_stacks ? once : want;
}

/* One ring for all CPUs keeps the order. */
static struct ray_error *create_ring(struct ray_trace *t)
{
	uint64_t want = ring_want(t), need = DTRACE_RECORD_MIN, size = 4096;

	if (t->plan->record_size > sizeof(struct ray_record) + need - DTRACE_HEAD)
		need = t->plan->record_size - sizeof(struct ray_record) + DTRACE_HEAD;
	if (t->options.bufsize < need)
		return too_small();
	while (size < want && size < RING_MAX)
		size *= 2;
	t->ring_size = (uint32_t)size;
	return create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, t->ring_size, 0, &t->maps[RAY_LINK_RING]);
}

/* A bit for each process. */
static struct ray_error *create_bits(struct ray_trace *t, const char *name, uint32_t number, uint64_t **ret)
{
	struct ray_error *err;
	void *words;

	err = ray_map_array_create(name, RAY_TARGET_WORDS * 8, 1, &t->maps[number]);
	if (!err)
		err = ray_map_array_open(t->maps[number], RAY_TARGET_WORDS * 8, &words);
	if (!err)
		*ret = words;
	return err;
}

static struct ray_error *create_points(struct ray_trace *t)
{
	uint32_t count = (uint32_t)t->points.n + POINTS_SPARE;
	struct ray_error *err;
	void *points;

	err = ray_map_array_create("points", sizeof(struct ray_point), count, &t->maps[RAY_LINK_POINTS]);
	if (!err)
		err = ray_map_array_open(t->maps[RAY_LINK_POINTS], sizeof(struct ray_point) * count, &points);
	if (err)
		return err;
	if (t->points.n)
		memcpy(points, t->points.at, t->points.n * sizeof(struct ray_point));
	munmap(points, sizeof(struct ray_point) * count);
	return NULL;
}

/* ---- the program's own ---- */

/* What one key counts for. A string counts as long as it may be, however short its room could be made. */
static uint64_t key_cost(const struct ray_trace *t, const struct ray_agg_plan *agg)
{
	uint64_t size = agg->element_size;

	for (size_t i = 0; i < agg->key.field_count; i++) {
		const struct ray_field *f = &agg->key.fields[i];

		size += f->kind == RAY_VALUE_STRING ? t->options.strsize + 1 : f->size;
	}
	return size;
}

static struct ray_error *create_aggregation(struct ray_trace *t, const struct ray_agg_plan *agg)
{
	uint64_t entries = t->options.aggsize / key_cost(t, agg);
	int *fd = &t->own_maps[agg->map - RAY_MAP_OWN];
	struct ray_error *err;

	if (*fd >= 0)
		return NULL; /* another one's, too */
	if (!entries)
		return too_small();
	if (t->options.aggsize >= AGG_SIZE_DEFAULT && entries < AGG_KEYS_MIN)
		entries = AGG_KEYS_MIN;
	if (!agg->key.field_count && !agg->is_shared)
		entries = t->slot_count / RAY_SLOTS_PER_CPU;
	if (agg->has_epochs) /* elements of two epochs coexist while one ends */
		entries *= 2;
	if (entries > UINT32_MAX / 2)
		entries = UINT32_MAX / 2;
	err = create(BPF_MAP_TYPE_HASH, "aggregation", agg->key.size, agg->element_size, (uint32_t)entries,
		     BPF_F_NO_PREALLOC, fd);
	if (!err && agg->near_size)
		err = ray_map_array_create("near", agg->near_size, t->slot_count / RAY_SLOTS_PER_CPU << agg->near_bits,
					   &t->own_maps[agg->near_map - RAY_MAP_OWN]);
	if (err || !agg->short_size)
		return err;
	return create(BPF_MAP_TYPE_HASH, "aggregation", agg->short_size, agg->element_size, (uint32_t)entries,
		      BPF_F_NO_PREALLOC, &t->own_maps[agg->short_map - RAY_MAP_OWN]);
}

/* What one element of the class counts for, as in DTrace: its value, and a tuple with what tells variables apart. */
static uint64_t element_cost(const struct ray_plan *plan, uint32_t class_index)
{
	static const enum ray_scope scopes[] = { RAY_SCOPE_GLOBAL, RAY_SCOPE_THREAD };
	uint64_t least = UINT32_MAX;

	for (size_t k = 0; k < RAY_COUNT(scopes); k++) {
		for (size_t i = 0; i < plan->program->variables[scopes[k]].n; i++) {
			const struct ray_variable_plan *v = &plan->variables[scopes[k]][i];
			uint64_t cost;

			if (!v->key.size || v->class_index != class_index)
				continue;
			cost = v->variable->type ? ray_type_resolve(v->variable->type)->size : v->size;
			if (v->variable->is_assoc)
				cost += 8;
			for (size_t j = 0; j < v->key.field_count; j++)
				cost += v->key.fields[j].size;
			if (!cost)
				cost = 1;
			least = cost < least ? cost : least;
		}
	}
	return least;
}

static struct ray_error *create_class(struct ray_trace *t, uint32_t index)
{
	const struct ray_dynvar_class *class = &t->plan->classes.at[index];
	uint64_t entries = t->options.dynvarsize / element_cost(t->plan, index);

	if (!entries)
		return too_small();
	if (entries > UINT32_MAX / 2)
		entries = UINT32_MAX / 2;
	return create(BPF_MAP_TYPE_HASH, "variables", class->key_size, class->value_size, (uint32_t)entries,
		      BPF_F_NO_PREALLOC, &t->own_maps[class->map - RAY_MAP_OWN]);
}

/* The kernel wants to know what a task's own memory holds: bytes. */
static struct ray_error *describe_task(uint32_t size, struct btf **btf_ret, uint32_t *key_ret, uint32_t *value_ret)
{
	struct btf *btf = btf__new_empty();
	int key = btf ? btf__add_int(btf, "int", 4, BTF_INT_SIGNED) : -ENOMEM;
	int byte = key > 0 ? btf__add_int(btf, "char", 1, BTF_INT_CHAR) : key;
	int value = byte > 0 ? btf__add_array(btf, key, byte, size) : byte;
	int failed = value > 0 ? btf__load_into_kernel(btf) : value;

	*btf_ret = btf;
	*key_ret = (uint32_t)key;
	*value_ret = (uint32_t)value;
	if (failed == -EPERM || failed == -EACCES)
		return ray_load_denied("cannot create BPF maps");
	return failed ? ray_error_errno(RAY_FAILED, -failed, "cannot describe what threads keep") : NULL;
}

static struct ray_error *create_task(struct ray_trace *t)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	uint32_t size = t->plan->task_size;
	struct btf *btf = NULL;
	struct ray_error *err;
	int fd = -1;

	err = describe_task(size, &btf, &opts.btf_key_type_id, &opts.btf_value_type_id);
	if (!err) {
		opts.btf_fd = (uint32_t)btf__fd(btf);
		fd = bpf_map_create(BPF_MAP_TYPE_TASK_STORAGE, "threads", 4, size, 0, &opts);
		t->own_maps[t->plan->task_map - RAY_MAP_OWN] = fd;
		if (fd < 0)
			err = ray_error_errno(RAY_FAILED, errno,
					      "cannot create the BPF map of what threads keep (%u bytes)", size);
	}
	btf__free(btf);
	return err;
}

static struct ray_error *create_epochs(struct ray_trace *t)
{
	const struct ray_plan *plan = t->plan;
	int *fd = &t->own_maps[plan->epochs_map - RAY_MAP_OWN];
	struct ray_error *err = ray_map_array_create("epochs", plan->epochs_size, 1, fd);
	void *epochs;

	if (!err)
		err = ray_map_array_open(*fd, plan->epochs_size, &epochs);
	if (err)
		return err;
	t->epochs = epochs;
	for (size_t i = 0; i < t->program->aggregations.n; i++)
		if (plan->aggregations[i].has_epochs)
			t->epochs[plan->aggregations[i].epoch_at / sizeof(*t->epochs)] =
				ray_agg_owner(&plan->aggregations[i], 0);
	return ray_barrier_create(&t->barrier);
}

static struct ray_error *create_own(struct ray_trace *t)
{
	const struct ray_plan *plan = t->plan;
	struct ray_error *err = NULL;

	t->own_maps = malloc((plan->map_count + 1) * sizeof(*t->own_maps));
	if (!t->own_maps)
		return &ray_enomem;
	for (uint32_t i = 0; i < plan->map_count; i++)
		t->own_maps[i] = -1;
	if (plan->globals_size)
		err = ray_map_array_create("globals", plan->globals_size, 1,
					   &t->own_maps[plan->globals_map - RAY_MAP_OWN]);
	if (!err && plan->task_size)
		err = create_task(t);
	if (!err && plan->epochs_size)
		err = create_epochs(t);
	for (size_t i = 0; i < t->program->aggregations.n && !err; i++)
		if (plan->aggregations[i].value_size)
			err = create_aggregation(t, &plan->aggregations[i]);
	for (uint32_t i = 0; i < plan->classes.n && !err; i++)
		err = create_class(t, i);
	return err;
}

struct ray_error *ray_maps_used(struct ray_trace *t, bool used[RAY_LINK_MAP_COUNT])
{
	const struct ray_object *object;
	struct ray_error *err = ray_trace_object(t, &object);

	for (size_t i = 0; i < t->entries.n && !err; i++) {
		struct ray_linked l = { 0 };

		err = ray_link_collect(object, &t->entries.at[i]->code, &l);
		if (!err)
			ray_link_used_maps(object, &l, used);
		ray_linked_deinit(&l);
	}
	return err;
}

/* What handlers of hooks remember. Room is taken as it is needed. */
static struct ray_error *create_watch(struct ray_trace *t, const bool used[RAY_LINK_MAP_COUNT])
{
	static const struct {
		uint32_t number;
		const char *name;
		uint32_t key_size, value_size, entries;
	} rows[] = {
		{ RAY_LINK_PROGRAMS, "programs", sizeof(struct ray_program_key), 4, 1024 },
		{ RAY_LINK_NODES, "nodes", 4, sizeof(struct ray_watched), 4096 },
		{ RAY_LINK_NODE_THREADS, "node_threads", 4, sizeof(struct ray_node_thread), 65536 },
		{ RAY_LINK_NODE_CONNS, "node_conns", sizeof(struct ray_node_conn_key), sizeof(struct ray_node_conn),
		  262144 },
		{ RAY_LINK_NODE_REQUESTS, "node_requests", 8, sizeof(struct ray_node_pending), 262144 },
		{ RAY_LINK_NODE_H2, "node_h2", sizeof(struct ray_h2_key), sizeof(struct ray_h2_state), 262144 },
		{ RAY_LINK_NODE_WORKS, "node_works", sizeof(struct ray_node_work_key),
		  sizeof(struct ray_node_work_state), 262144 },
	};
	struct ray_error *err = NULL;

	if (used[RAY_LINK_NODE_NEAR])
		err = ray_map_array_create("node_near", sizeof(struct ray_node_near), RAY_NEAR,
					   &t->maps[RAY_LINK_NODE_NEAR]);
	for (size_t i = 0; i < RAY_COUNT(rows) && !err; i++)
		if (used[rows[i].number])
			err = create(BPF_MAP_TYPE_HASH, rows[i].name, rows[i].key_size, rows[i].value_size,
				     rows[i].entries, BPF_F_NO_PREALLOC, &t->maps[rows[i].number]);
	return err;
}

struct ray_error *ray_maps_create(struct ray_trace *t)
{
	bool used[RAY_LINK_MAP_COUNT] = { 0 };
	int cpus = libbpf_num_possible_cpus();
	struct ray_error *err;

	if (cpus <= 0)
		return ray_error_errno(RAY_FAILED, -cpus, "cannot tell how many CPUs there are");
	t->slot_count = (uint32_t)cpus * RAY_SLOTS_PER_CPU;
	err = ray_maps_used(t, used);
	if (!err)
		err = create_slots(t);
	if (!err)
		err = create_state(t);
	if (!err) /* always: the consumer waits on it */
		err = create_ring(t);
	if (!err && used[RAY_LINK_POINTS])
		err = create_points(t);
	if (!err && used[RAY_LINK_TARGETS])
		err = create_bits(t, "targets", RAY_LINK_TARGETS, &t->targets);
	if (!err && used[RAY_LINK_NODE_BITS])
		err = create_bits(t, "node_bits", RAY_LINK_NODE_BITS, &t->node_bits);
	if (!err && used[RAY_LINK_NODE_KIN])
		err = ray_kin_create(t);
	if (!err && used[RAY_LINK_PROBES])
		err = ray_maps_create_names(t);
	if (!err && used[RAY_LINK_KERNEL_WALK])
		err = create(BPF_MAP_TYPE_ARRAY, "kernel_walk", 4, RAY_KERNEL_WALK_SIZE, t->slot_count, 0,
			     &t->maps[RAY_LINK_KERNEL_WALK]);
	if (!err)
		err = create_watch(t, used);
	if (!err)
		err = create_own(t);
	return err;
}
