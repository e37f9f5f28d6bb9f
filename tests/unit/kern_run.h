/* kern_run.h - calls functions of the runtime in the kernel, from a unit test.
 * SPDX-License-Identifier: MIT
 *
 * One program per function: takes its arguments from the slot's spills, leaves the result there. Runs by BPF_PROG_TEST_RUN, so nothing is attached. Where
 * BPF programs may not be loaded the tests skip. */
#ifndef RAY_TESTS_KERN_RUN_H
#define RAY_TESTS_KERN_RUN_H

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/internal.h"

enum { KERN_STRSIZE = 256, KERN_TEMPS = 6, KERN_SCRATCH = 512 };

struct kern_run {
	struct ray_trace trace;
	struct ray_program program;
	struct ray_plan plan;
	struct ray_entry entry;
	char *slots;
	size_t slot_size;
	const char *loaded; /* the function that entry calls */
	char skip[256];	    /* why nothing can be run; "" */
};

static inline uint32_t kern_temp(int i)
{
	return (uint32_t)(sizeof(struct ray_slot) + (size_t)i * (KERN_STRSIZE + 8));
}

static inline struct ray_slot *kern_slot(struct kern_run *k)
{
	return (struct ray_slot *)k->slots;
}

static inline char *kern_memory(struct kern_run *k, uint64_t address)
{
	return k->slots + (uint32_t)address;
}

/* A string of ours in temporary i. */
static inline uint64_t kern_string(struct kern_run *k, int i, const char *text)
{
	char *to = kern_memory(k, kern_temp(i));
	size_t length = strlen(text);

	memset(to, 0, KERN_STRSIZE + 1);
	memcpy(to, text, length < KERN_STRSIZE ? length : KERN_STRSIZE);
	return RAY_SCRATCH | kern_temp(i);
}

/* Several functions: which one is said by spills[6]. */
static inline void kern_make_code(struct ray_piece *p, const char *const *functions, size_t count)
{
	const int16_t spills = offsetof(struct ray_slot, spills);
	uint32_t done = ray_piece_label(p);

	p->name = functions[0];
	ray_piece_emit(p, RAY_STORE_IMM(BPF_W, BPF_REG_10, -4, 0));
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_2, BPF_REG_10));
	ray_piece_emit(p, RAY_ALU_IMM(BPF_ADD, BPF_REG_2, -4));
	ray_piece_load_map(p, BPF_REG_1, RAY_LINK_SLOTS);
	ray_piece_emit(p, RAY_CALL_HELPER(BPF_FUNC_map_lookup_elem));
	ray_piece_emit(p, RAY_INSN(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 1, 0));
	ray_piece_emit(p, RAY_EXIT_INSN);
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_6, BPF_REG_0));
	/* Those that only calculate know no slot: all of their arguments are given. */
	for (int i = 0; i < 5; i++)
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_1 + i, BPF_REG_6, (int16_t)(spills + 8 + 8 * i)));
	/* The last is called whatever the number: the verifier does not like code that nothing reaches. */
	for (size_t i = 0; i < count; i++) {
		uint32_t next = ray_piece_label(p);

		if (i + 1 < count) {
			ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_0, BPF_REG_6, (int16_t)(spills + 48)));
			ray_piece_jump(p, RAY_JUMP_IMM(BPF_JNE, BPF_REG_0, (int32_t)i), next);
		}
		ray_piece_call_runtime(p, functions[i]);
		if (i + 1 < count)
			ray_piece_jump(p, RAY_JUMP_ALWAYS, done);
		ray_piece_place(p, next);
	}
	ray_piece_place(p, done);
	ray_piece_emit(p, RAY_STORE(BPF_DW, BPF_REG_6, BPF_REG_0, spills));
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_0, 0));
	ray_piece_emit(p, RAY_EXIT_INSN);
	ray_piece_finish(p);
}

static inline void kern_unload(struct kern_run *k)
{
	struct ray_trace *t = &k->trace;

	if (k->slots)
		munmap(k->slots, k->slot_size * t->slot_count);
	k->slots = NULL;
	if (k->entry.fd >= 0)
		close(k->entry.fd);
	k->entry.fd = -1;
	ray_piece_deinit(&k->entry.code);
	memset(&k->entry.code, 0, sizeof(k->entry.code));
	for (int i = 0; i < RAY_TRACE_MAPS; i++) {
		if (t->maps[i] >= 0)
			close(t->maps[i]);
		t->maps[i] = -1;
	}
	free(t->own_maps);
	t->own_maps = NULL;
	if (t->state)
		munmap((void *)t->state, sizeof(struct ray_state));
	t->state = NULL;
	k->loaded = NULL;
}

static inline bool kern_failed(struct kern_run *k, struct ray_error *err)
{
	if (!err)
		return false;
	snprintf(k->skip, sizeof(k->skip), "%s", ray_error_text(err));
	if (ray_error_code(err) != RAY_DENIED)
		fprintf(stderr, "%s\n%s\n", ray_error_text(err), ray_error_remedy_text(err));
	ray_error_free(err);
	return true;
}

/* Empty slots, and the program for these functions. false: k->skip says why, or it is a failure. */
static inline bool kern_load_all(struct kern_run *k, const char *const *functions, size_t count)
{
	struct ray_slot_shape shape;
	void *slots;

	kern_unload(k);
	kern_make_code(&k->entry.code, functions, count);
	if (kern_failed(k, ray_maps_create(&k->trace)) || kern_failed(k, ray_entry_load(&k->trace, &k->entry)))
		return false;
	ray_slot_shape(&k->plan, &shape);
	k->slot_size = shape.value_size;
	slots = mmap(NULL, k->slot_size * k->trace.slot_count, PROT_READ | PROT_WRITE, MAP_SHARED,
		     k->trace.maps[RAY_LINK_SLOTS], 0);
	if (slots == MAP_FAILED)
		return false;
	k->slots = slots;
	k->loaded = functions[0];
	return true;
}

static inline bool kern_load(struct kern_run *k, const char *function)
{
	return kern_load_all(k, &function, 1);
}

static inline void kern_init(struct kern_run *k)
{
	struct ray_trace *t = &k->trace;

	memset(k, 0, sizeof(*k));
	ray_trace_options_init(&t->options);
	t->options.strsize = KERN_STRSIZE;
	t->options.bufsize = 65536;
	t->options.nspec = 4;
	k->plan.options = &t->options;
	k->plan.program = &k->program;
	k->plan.record_at = kern_temp(KERN_TEMPS);
	k->plan.record_size = 512;
	k->plan.scratch_at = k->plan.record_at + k->plan.record_size + RAY_SCRATCH_GUARD;
	k->plan.scratch_size = KERN_SCRATCH;
	k->plan.slot_size = k->plan.scratch_at + k->plan.scratch_size;
	t->plan = &k->plan;
	t->program = &k->program;
	/* No probes: their names are asked for all the same. */
	if (kern_failed(k, ray_catalogue_create(&(struct ray_catalogue_options){ 0 }, &t->catalogue)))
		abort();
	for (int i = 0; i < RAY_TRACE_MAPS; i++)
		t->maps[i] = -1;
	k->entry.fd = -1;
	k->entry.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	ray_vec_push(&t->entries, &k->entry);
}

static inline void kern_deinit(struct kern_run *k)
{
	kern_unload(k);
	ray_load_close(&k->trace);
	ray_catalogue_free(k->trace.catalogue);
	ray_vec_free(&k->trace.entries);
	ray_trace_options_deinit(&k->trace.options);
}

static inline int64_t kern_call_plain(struct kern_run *k, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	struct ray_slot *s = kern_slot(k);

	s->tgid = (uint32_t)getpid();
	s->spills[0] = 0x5a5a5a5a5a5a5a5a;
	s->spills[1] = a;
	s->spills[2] = b;
	s->spills[3] = c;
	s->spills[4] = d;
	s->spills[5] = e;
	s->fault = 0;
	if (bpf_prog_test_run_opts(k->entry.fd, &opts))
		return INT64_MIN;
	return (int64_t)s->spills[0];
}

/* Calls the loaded function with (slot 0, a, b, c, d). */
static inline int64_t kern_call(struct kern_run *k, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return kern_call_plain(k, 0, a, b, c, d);
}

#endif
