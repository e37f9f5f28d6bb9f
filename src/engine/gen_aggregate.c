/* gen_aggregate.c - aggregations: find or make the key's element on this CPU, and update it.
 * SPDX-License-Identifier: MIT
 *
 * Elements are per CPU, but a program may be preempted by another, or continue on another CPU: all updates are
 * atomic. Additive functions never depend on the previous value, so user space can clear them by subtracting; min and
 * max mark with a word whether they hold a value. The key is built, epoch included, in the same run of the program
 * that updates the element: aggregate_epoch.c relies on that. */
#include "engine/gen.h"
#include "probe/provider.h"

#define SPREAD 0x9e3779b97f4a7c15ULL

/* On the clause's stack: ELEMENT, the element for the statement that follows with the same key; NUMBER, that of a place. */
enum { MARK = 0, WORDS = 8, SWAP_TRIES = 4, FRAME = BPF_REG_10, NUMBER = -8, ELEMENT = -24 };

static void look_up(struct ray_gen *g, uint32_t map, uint32_t found)
{
	ray_piece_load_map(g->c, R1, map);
	ray_gen_slot_pointer(g, R2, g->plan->key_at);
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_map_lookup_elem));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JNE, R0, 0), found);
}

/* R0: the element's address, at found; else there is no room for a new key. */
static void find_in(struct ray_gen *g, uint32_t map, uint32_t found)
{
	look_up(g, map, found);
	ray_piece_load_map(g->c, R1, map);
	ray_gen_slot_pointer(g, R2, g->plan->key_at);
	ray_gen_slot_pointer(g, R3, g->plan->zeros_at);
	ray_gen_emit(g, RAY_MOV_IMM(R4, BPF_NOEXIST));
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_map_update_elem));
	look_up(g, map, found);
}

/* A word of the key, behind the CPU's. */
static uint32_t key_word(const struct ray_gen *g, uint32_t i)
{
	return g->plan->key_at + 8 + 8 * i;
}

static int place_word(uint32_t i)
{
	return (int)(offsetof(struct ray_agg_place, key) + 8 * i);
}

/* A place that nobody has, at R0; on the way another may take it. R0: the place. */
static void take_place(struct ray_gen *g, const struct ray_agg_plan *a, uint32_t far)
{
	ray_gen_emit(g, RAY_MOV_REG(R4, R0));
	ray_gen_emit(g, RAY_MOV_IMM(R0, RAY_AGG_PLACE_FREE));
	ray_gen_emit(g, RAY_MOV_IMM(R3, RAY_AGG_PLACE_BUSY));
	ray_gen_emit(g, RAY_ATOMIC(BPF_DW, BPF_CMPXCHG, R4, R3, offsetof(struct ray_agg_place, state)));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JNE, R0, RAY_AGG_PLACE_FREE), far);
	for (uint32_t i = 0; i < a->near_words; i++) {
		ray_gen_slot_load(g, BPF_DW, R3, key_word(g, i));
		ray_gen_emit(g, RAY_STORE(BPF_DW, R4, R3, place_word(i)));
	}
	ray_gen_emit(g, RAY_STORE_IMM(BPF_DW, R4, offsetof(struct ray_agg_place, state), RAY_AGG_PLACE_TAKEN));
	ray_gen_emit(g, RAY_MOV_REG(R0, R4));
}

/* R3: the place that the key has among those of a CPU. Numbers are often near to each other, and should not meet then. */
static void choose_place(struct ray_gen *g, const struct ray_agg_plan *a)
{
	ray_gen_slot_load(g, BPF_DW, R3, key_word(g, 0));
	if (a->near_words == 1) {
		ray_gen_emit(g, RAY_MOV_REG(R1, R3));
		ray_gen_emit(g, RAY_ALU_IMM(BPF_RSH, R1, a->near_bits));
		ray_gen_emit(g, RAY_ALU_REG(BPF_XOR, R3, R1));
		ray_gen_emit(g, RAY_ALU_IMM(BPF_AND, R3, (1 << a->near_bits) - 1));
		return;
	}
	ray_piece_load_u64(g->c, R1, SPREAD);
	for (uint32_t i = 1; i < a->near_words; i++) {
		ray_gen_emit(g, RAY_ALU_REG(BPF_MUL, R3, R1));
		ray_gen_slot_load(g, BPF_DW, R2, key_word(g, i));
		ray_gen_emit(g, RAY_ALU_REG(BPF_ADD, R3, R2));
	}
	/* Differences in upper bits reach lower ones by the shift, lower ones upper ones by multiplication. */
	ray_gen_emit(g, RAY_MOV_REG(R2, R3));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_RSH, R2, 32));
	ray_gen_emit(g, RAY_ALU_REG(BPF_XOR, R3, R2));
	ray_gen_emit(g, RAY_ALU_REG(BPF_MUL, R3, R1));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_RSH, R3, 64 - (int)a->near_bits));
}

/* R0: the element's address, at found; goes on if another key has its place. */
static void find_near(struct ray_gen *g, const struct ray_agg_plan *a, uint32_t found)
{
	uint32_t far = ray_piece_label(g->c), taken = ray_piece_label(g->c), here = ray_piece_label(g->c);

	choose_place(g, a);
	ray_gen_slot_load(g, BPF_W, R0, g->plan->key_at);
	ray_gen_emit(g, RAY_ALU_IMM(BPF_LSH, R0, (int)a->near_bits));
	ray_gen_emit(g, RAY_ALU_REG(BPF_ADD, R0, R3));
	ray_gen_emit(g, RAY_STORE(BPF_W, FRAME, R0, NUMBER));
	ray_piece_load_map(g->c, R1, a->near_map);
	ray_gen_emit(g, RAY_MOV_REG(R2, FRAME));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_ADD, R2, NUMBER));
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_map_lookup_elem));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R0, 0), far);
	ray_gen_emit(g, RAY_LOAD(BPF_DW, R1, R0, offsetof(struct ray_agg_place, state)));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R1, RAY_AGG_PLACE_TAKEN), taken);
	take_place(g, a, far);
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, here);
	ray_piece_place(g->c, taken);
	for (uint32_t i = 0; i < a->near_words; i++) {
		ray_gen_slot_load(g, BPF_DW, R3, key_word(g, i));
		ray_gen_emit(g, RAY_LOAD(BPF_DW, R1, R0, place_word(i)));
		ray_piece_jump(g->c, RAY_JUMP_REG(BPF_JNE, R1, R3), far);
	}
	ray_piece_place(g->c, here);
	ray_gen_emit(g, RAY_ALU_IMM(BPF_ADD, R0, ray_agg_place_head(a)));
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, found);
	ray_piece_place(g->c, far);
}

/* R0: the element's address. R6 to R9 are kept. Goes to lost, counted, when there is no room for a new key. */
static void find_element(struct ray_gen *g, const struct ray_agg_plan *a, bool is_kept, uint32_t lost)
{
	uint32_t found = ray_piece_label(g->c), is_long = ray_piece_label(g->c), none = ray_piece_label(g->c);

	if (a->near_size && !a->short_size)
		find_near(g, a, found);
	if (a->short_size) {
		ray_gen_slot_load(g, BPF_DW, R1, g->plan->short_at);
		ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R1, 0), is_long);
		if (a->near_size)
			find_near(g, a, found);
		find_in(g, a->short_map, found);
		ray_piece_jump(g->c, RAY_JUMP_ALWAYS, none);
	}
	ray_piece_place(g->c, is_long);
	find_in(g, a->map, found);
	ray_piece_place(g->c, none);
	if (is_kept)
		ray_gen_emit(g, RAY_STORE_IMM(BPF_DW, FRAME, ELEMENT, 0));
	ray_gen_count_cpu(g, offsetof(struct ray_state, agg_drops));
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, lost);
	ray_piece_place(g->c, found);
	if (is_kept)
		ray_gen_emit(g, RAY_STORE(BPF_DW, FRAME, R0, ELEMENT));
}

/* R0: the element that the statement before has found; it has none if there was no room. */
static void take_element(struct ray_gen *g, uint32_t lost)
{
	uint32_t found = ray_piece_label(g->c);

	ray_gen_emit(g, RAY_LOAD(BPF_DW, R0, FRAME, ELEMENT));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JNE, R0, 0), found);
	ray_gen_count_cpu(g, offsetof(struct ray_state, agg_drops));
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, lost);
	ray_piece_place(g->c, found);
}

/* Whether arguments may lead to what the kernel keeps of a connection. */
static bool has_events(const struct ray_clause *clause)
{
	for (size_t i = 0; i < clause->probes.n; i++)
		if (clause->probes.at[i]->owner->has_events)
			return true;
	return false;
}

/* The string of a key that may be short, and whether it is. */
static void store_last(struct ray_gen *g, const struct ray_agg_plan *a, unsigned d)
{
	const struct ray_field *f = &a->key.fields[a->key.field_count - 1];

	ray_gen_get_into(g, d, R3);
	ray_piece_load_u64(g->c, R2, g->plan->key_at + f->offset);
	ray_piece_load_u64(g->c, R4, f->size);
	ray_gen_call(g, has_events(g->clause) ? "ray_lent_key" : "ray_str_key");
	ray_gen_slot_store(g, BPF_DW, g->plan->short_at, R0);
	ray_gen_check_fault(g);
}

/* All parts are evaluated before the first is stored: each may use the key's area for an array of its own. */
static void build_key(struct ray_gen *g, const struct ray_agg_plan *a, const struct ray_statement *s, unsigned d)
{
	const struct ray_key_plan *key = &a->key;
	bool is_steady = true;

	for (size_t i = 0; i < key->field_count; i++)
		is_steady &= ray_plan_is_steady(s->keys[i]);
	for (size_t i = 0; i < key->field_count; i++)
		if (!is_steady || !ray_gen_field_address(g, &key->fields[i], s->keys[i], d + i))
			ray_gen_field_evaluate(g, &key->fields[i], s->keys[i], d + i);
	for (size_t i = 0; i < key->field_count; i++)
		if (a->short_size && i + 1 == key->field_count)
			store_last(g, a, d + i);
		else
			ray_gen_field_store(g, &key->fields[i], s->keys[i], d + i,
					    g->plan->key_at + key->fields[i].offset);
	ray_gen_emit(g, RAY_CALL_HELPER(BPF_FUNC_get_smp_processor_id));
	ray_gen_slot_store(g, BPF_W, g->plan->key_at, R0);
	if (a->has_epochs) {
		ray_piece_load_map_value(g->c, R1, g->plan->epochs_map, a->epoch_at);
		ray_gen_emit(g, RAY_LOAD(BPF_W, R0, R1, 0));
		ray_gen_slot_store(g, BPF_W, g->plan->key_at + 4, R0);
	} else {
		ray_gen_emit(g, RAY_STORE_IMM(BPF_W, SLOT, g->plan->key_at + 4, ray_agg_owner(a, 0)));
	}
	g->temps = 0;
}

/* Whether the two statements, one after the other, fill parts of one element. */
static bool is_one_element(const struct ray_gen *g, const struct ray_statement *s, const struct ray_statement *next)
{
	const struct ray_agg_plan *a, *b;

	if (s->kind != RAY_STATEMENT_AGGREGATE || next->kind != RAY_STATEMENT_AGGREGATE)
		return false;
	a = &g->plan->aggregations[s->aggregation->id];
	b = &g->plan->aggregations[next->aggregation->id];
	return a->map == b->map && (a == b || a->has_mates) && ray_plan_has_same_key(s, next);
}

static bool continues(const struct ray_gen *g, const struct ray_statement *s)
{
	return s > g->clause->statements && is_one_element(g, s - 1, s);
}

static bool is_continued(const struct ray_gen *g, const struct ray_statement *s)
{
	return s + 1 < g->clause->statements + g->clause->statement_count && is_one_element(g, s, s + 1);
}

static void add_word(struct ray_gen *g, int word, uint8_t reg)
{
	ray_gen_emit(g, RAY_ATOMIC(BPF_DW, BPF_ADD, R0, reg, WORDS + 8 * word));
}

static void add_one(struct ray_gen *g, int word)
{
	ray_gen_emit(g, RAY_MOV_IMM(R1, 1));
	add_word(g, word, R1);
}

static void carry_if_less(struct ray_gen *g, uint8_t sum, uint8_t part, uint8_t upper)
{
	uint32_t none = ray_piece_label(g->c);

	ray_piece_jump(g->c, RAY_JUMP_REG(BPF_JGE, sum, part), none);
	ray_gen_emit(g, RAY_ALU_IMM(BPF_ADD, upper, 1));
	ray_piece_place(g->c, none);
}

/* R4, R2: lower and upper half of R6 squared. */
static void square(struct ray_gen *g)
{
	uint32_t positive = ray_piece_label(g->c);

	ray_gen_emit(g, RAY_MOV_REG(R1, R6));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JSGE, R1, 0), positive);
	ray_gen_emit(g, RAY_INSN(BPF_ALU64 | BPF_NEG, R1, 0, 0, 0));
	ray_piece_place(g->c, positive);
	ray_gen_emit(g, RAY_MOV_REG(R2, R1));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_RSH, R2, 32));
	ray_gen_emit(g, RAY_MOV32_REG(R1, R1));
	ray_gen_emit(g, RAY_MOV_REG(R3, R1));
	ray_gen_emit(g, RAY_ALU_REG(BPF_MUL, R3, R2)); /* lower * upper: counts twice, 32 bits up */
	ray_gen_emit(g, RAY_ALU_REG(BPF_MUL, R1, R1));
	ray_gen_emit(g, RAY_ALU_REG(BPF_MUL, R2, R2));
	ray_gen_emit(g, RAY_MOV_REG(R4, R3));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_LSH, R4, 33));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_RSH, R3, 31));
	ray_gen_emit(g, RAY_ALU_REG(BPF_ADD, R2, R3));
	ray_gen_emit(g, RAY_ALU_REG(BPF_ADD, R4, R1));
	carry_if_less(g, R4, R1, R2);
}

static void update_stddev(struct ray_gen *g)
{
	add_one(g, 0);
	add_word(g, 1, R6);
	square(g);
	ray_gen_emit(g, RAY_MOV_REG(R5, R4));
	ray_gen_emit(g, RAY_ATOMIC(BPF_DW, BPF_ADD | BPF_FETCH, R0, R5, WORDS + 8 * 2));
	ray_gen_emit(g, RAY_ALU_REG(BPF_ADD, R5, R4));
	carry_if_less(g, R5, R4, R2);
	add_word(g, 3, R2);
}

/* Compare and swap, a few times: who comes in between has a value of its own to compare. */
static void update_extreme(struct ray_gen *g, bool is_min, uint32_t end)
{
	uint32_t again = ray_piece_label(g->c), swap = ray_piece_label(g->c), done = ray_piece_label(g->c);

	ray_gen_emit(g, RAY_MOV_REG(R1, R0));
	ray_gen_emit(g, RAY_MOV_IMM(R4, SWAP_TRIES));
	ray_piece_place(g->c, again);
	ray_gen_emit(g, RAY_LOAD(BPF_DW, R0, R1, WORDS));
	ray_gen_emit(g, RAY_MOV_REG(R5, R0));
	ray_gen_emit(g, RAY_LOAD(BPF_DW, R2, R1, MARK));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, R2, 0), swap);
	ray_piece_jump(g->c, RAY_JUMP_REG(is_min ? BPF_JSGE : BPF_JSLE, R6, R0), end);
	ray_piece_place(g->c, swap);
	ray_gen_emit(g, RAY_ATOMIC(BPF_DW, BPF_CMPXCHG, R1, R6, WORDS));
	ray_piece_jump(g->c, RAY_JUMP_REG(BPF_JEQ, R0, R5), done);
	ray_gen_emit(g, RAY_ALU_IMM(BPF_SUB, R4, 1));
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JNE, R4, 0), again);
	ray_gen_count_cpu(g, offsetof(struct ray_state, agg_drops));
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, end);
	ray_piece_place(g->c, done);
	ray_gen_emit(g, RAY_STORE_IMM(BPF_DW, R1, MARK, 1));
}

/* R6: the number of the word. R7: the increment. */
static void update_bin(struct ray_gen *g, const struct ray_agg_plan *a, bool has_increment, uint32_t end)
{
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JGE, R6, a->words), end);
	ray_gen_emit(g, RAY_ALU_IMM(BPF_LSH, R6, 3));
	ray_gen_emit(g, RAY_ALU_REG(BPF_ADD, R0, R6));
	if (has_increment)
		add_word(g, 0, R7);
	else
		add_one(g, 0);
}

void ray_gen_aggregate(struct ray_gen *g, const struct ray_statement *s)
{
	const struct ray_agg_plan *a = &g->plan->aggregations[s->aggregation->id];
	enum ray_aggregator function = s->aggregation->function;
	uint32_t end = ray_piece_label(g->c);

	if (function != RAY_AGG_COUNT)
		ray_gen_expr(g, s->args[0], 0);
	if (s->has_increment)
		ray_gen_expr(g, s->args[s->arg_count - 1], 1);
	g->temps = 0;
	if (ray_gen_has_bins(s->aggregation))
		ray_gen_bin(g, s->aggregation);
	if (continues(g, s)) {
		take_element(g, end);
	} else {
		build_key(g, a, s, 2);
		find_element(g, a, is_continued(g, s), end);
	}
	if (a->value_at)
		ray_gen_emit(g, RAY_ALU_IMM(BPF_ADD, R0, a->value_at));
	if (a->has_mates && function != RAY_AGG_MIN && function != RAY_AGG_MAX)
		ray_gen_emit(g, RAY_STORE_IMM(BPF_DW, R0, MARK, 1));
	if (function == RAY_AGG_COUNT) {
		add_one(g, 0);
	} else if (function == RAY_AGG_SUM) {
		add_word(g, 0, R6);
	} else if (function == RAY_AGG_AVG) {
		add_one(g, 0);
		add_word(g, 1, R6);
	} else if (function == RAY_AGG_STDDEV) {
		update_stddev(g);
	} else if (function == RAY_AGG_MIN || function == RAY_AGG_MAX) {
		update_extreme(g, function == RAY_AGG_MIN, end);
	} else {
		update_bin(g, a, s->has_increment, end);
	}
	ray_piece_place(g->c, end);
}
