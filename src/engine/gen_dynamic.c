/* gen_dynamic.c - self-> variables and associative arrays: elements of hash maps, or of what a task keeps.
 * SPDX-License-Identifier: MIT
 *
 * The key is the variable (so that variables of one shape share a map), the thread for self->, then the tuple.
 * Assigning 0 removes an element; one that is not there reads as 0. When a map is full, the loss is counted. */
#include "engine/gen.h"

static void build_key(struct ray_gen *g, const struct ray_place *p)
{
	const struct ray_variable_plan *v = p->variable;

	for (size_t i = 0; i < v->key.field_count && p->element && i < p->element->arg_count; i++)
		ray_gen_field_store(g, &v->key.fields[i], p->element->args[i], p->keys_d + i,
				    g->plan->key_at + v->key.fields[i].offset);
	if (v->variable->scope == RAY_SCOPE_THREAD) {
		ray_piece_call_runtime(g->c, "ray_thread");
		ray_gen_slot_store(g, BPF_DW, g->plan->key_at + 8, R0);
	}
	ray_piece_load_u64(g->c, R1, (uint64_t)(v->variable->scope + 1) << 32 | v->variable->id);
	ray_gen_slot_store(g, BPF_DW, g->plan->key_at, R1);
}

/* R1 the map, R2 the key. */
static void load_map_and_key(struct ray_gen *g, const struct ray_place *p)
{
	ray_piece_load_map(g->c, R1, g->plan->classes.at[p->variable->class_index].map);
	ray_gen_slot_pointer(g, R2, g->plan->key_at);
}

static void look_up(struct ray_gen *g, const struct ray_place *p)
{
	load_map_and_key(g, p);
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_map_lookup_elem));
}

/* R0 the variable in the current task's own memory, or 0. Once found it is kept for the rest of the firing. */
static void find_in_task(struct ray_gen *g, const struct ray_place *p, bool is_made)
{
	uint32_t none = ray_piece_label(g->c), known = ray_piece_label(g->c);

	ray_gen_emit(g, RAY_LOAD(BPF_DW, R0, BPF_REG_10, RAY_STACK_TASK));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JNE, R0, 0), known);
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_get_current_task_btf));
	ray_gen_emit(g, RAY_MOV_REG(R2, R0));
	ray_piece_load_map(g->c, R1, g->plan->task_map);
	ray_gen_emit(g, RAY_MOV_IMM(R3, 0));
	ray_gen_emit(g, RAY_MOV_IMM(R4, is_made ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0));
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_task_storage_get));
	ray_gen_emit(g, RAY_STORE(BPF_DW, BPF_REG_10, R0, RAY_STACK_TASK));
	ray_piece_place(g->c, known);
	if (!p->variable->offset)
		return;
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R0, 0), none);
	ray_gen_emit(g, RAY_ALU_IMM(BPF_ADD, R0, p->variable->offset));
	ray_piece_place(g->c, none);
}

/* Without memory for it the clause ends, and the drop is counted. */
static void make_in_task(struct ray_gen *g, const struct ray_place *p)
{
	uint32_t fine = ray_piece_label(g->c);

	find_in_task(g, p, true);
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JNE, R0, 0), fine);
	ray_gen_count(g, offsetof(struct ray_state, dynvar_drops));
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, g->out);
	ray_piece_place(g->c, fine);
}

/* 0 is what is there already, where nothing is. */
static void store_in_task(struct ray_gen *g, const struct ray_place *p, unsigned d)
{
	uint32_t remove = ray_piece_label(g->c), end = ray_piece_label(g->c);

	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, ray_gen_get(g, d, R1), 0), remove);
	make_in_task(g, p);
	ray_gen_emit(g, RAY_STORE(BPF_DW, R0, ray_gen_get(g, d, R1), 0));
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, end);
	ray_piece_place(g->c, remove);
	find_in_task(g, p, false);
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R0, 0), end);
	ray_gen_emit(g, RAY_STORE_IMM(BPF_DW, R0, 0, 0));
	ray_piece_place(g->c, end);
}

void ray_gen_dynamic_find(struct ray_gen *g, const struct ray_place *p)
{
	if (p->variable->is_in_task) {
		find_in_task(g, p, false);
		return;
	}
	build_key(g, p);
	look_up(g, p);
}

/* A new element from what the slot holds at offset. Without room for it the clause ends, and the drop is counted:
 * what follows relies on it. */
static void insert(struct ray_gen *g, const struct ray_place *p, uint32_t offset)
{
	uint32_t fine = ray_piece_label(g->c);

	load_map_and_key(g, p);
	ray_gen_slot_pointer(g, R3, offset);
	ray_gen_emit(g, RAY_MOV_IMM(R4, BPF_ANY));
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_map_update_elem));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R0, 0), fine);
	ray_gen_count(g, offsetof(struct ray_state, dynvar_drops));
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, g->out);
	ray_piece_place(g->c, fine);
}

void ray_gen_dynamic_make(struct ray_gen *g, const struct ray_place *p)
{
	uint32_t there;

	if (p->variable->is_in_task) {
		make_in_task(g, p);
		return;
	}
	there = ray_piece_label(g->c);
	ray_gen_dynamic_find(g, p);
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JNE, R0, 0), there);
	insert(g, p, g->plan->zeros_at);
	look_up(g, p);
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R0, 0), g->out);
	ray_piece_place(g->c, there);
}

/* R0 is the element, or 0. */
static void update_number(struct ray_gen *g, const struct ray_place *p, unsigned d, uint32_t end)
{
	uint32_t absent = ray_piece_label(g->c);

	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R0, 0), absent);
	ray_gen_emit(g, RAY_STORE(BPF_DW, R0, ray_gen_get(g, d, R1), 0));
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, end);
	ray_piece_place(g->c, absent);
	ray_gen_slot_store(g, BPF_DW, g->plan->value_at, ray_gen_get(g, d, R1));
	insert(g, p, g->plan->value_at);
}

/* The value is in the value buffer already. */
static void update_data(struct ray_gen *g, const struct ray_place *p, uint32_t end)
{
	uint32_t absent = ray_piece_label(g->c);

	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R0, 0), absent);
	ray_gen_emit(g, RAY_MOV_REG(R1, R0));
	ray_piece_load_u64(g->c, R2, p->variable->size);
	ray_gen_slot_pointer(g, R3, g->plan->value_at);
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_probe_read_kernel));
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, end);
	ray_piece_place(g->c, absent);
	insert(g, p, g->plan->value_at);
}

/* The data whose address is at position d, into the value buffer; a NULL is left to be deleted. */
static void fetch_data(struct ray_gen *g, const struct ray_place *p, unsigned d)
{
	bool is_string = ray_type_is_string(p->type);
	uint32_t null = ray_piece_label(g->c);

	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, ray_gen_get(g, d, R1), 0), null);
	ray_gen_get_into(g, d, R3);
	ray_piece_load_u64(g->c, R2, g->plan->value_at);
	ray_piece_load_u64(g->c, R4, is_string ? p->variable->size : ray_type_size(p->type));
	ray_gen_call(g, is_string ? "ray_str_store" : "ray_copy");
	ray_gen_check_fault(g);
	ray_piece_place(g->c, null);
}

void ray_gen_dynamic_store(struct ray_gen *g, const struct ray_place *p, unsigned d)
{
	uint32_t remove, end;
	bool is_data = ray_type_is_by_reference(p->type);

	if (p->variable->is_in_task) {
		store_in_task(g, p, d);
		return;
	}
	remove = ray_piece_label(g->c);
	end = ray_piece_label(g->c);
	if (is_data)
		fetch_data(g, p, d);
	ray_gen_dynamic_find(g, p);
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, ray_gen_get(g, d, R1), 0), remove);
	if (is_data)
		update_data(g, p, end);
	else
		update_number(g, p, d, end);
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, end);
	ray_piece_place(g->c, remove);
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R0, 0), end);
	load_map_and_key(g, p);
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_map_delete_elem));
	ray_piece_place(g->c, end);
}
