/* flow.c - see flow.h. SPDX-License-Identifier: MIT */
#include "probe/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/vec.h"
#include "probe/decode.h"

enum { REGISTERS = 16 };

/* What is known in front of an instruction that is jumped to. */
struct joint {
	size_t at;
	bool is_looped; /* from behind it */
	bool is_seen;	/* from somewhere that the walk has passed */
	uint32_t known;
	uint64_t values[REGISTERS];
};

struct walk {
	const uint8_t *code;
	size_t size;
	uint64_t vaddr;
	bool (*each)(const struct ray_flow_step *step, void *arg);
	void *arg;
	uint64_t values[REGISTERS];
	uint32_t known;		      /* bit i: values[i] is what the register holds */
	bool is_reached;	      /* from the instruction before */
	bool has_switch;	      /* a jump to somewhere unknown was passed */
	RAY_VEC(struct joint) joints; /* by address */
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* Number of a general register, whatever part of it is meant; -1 if it is another. */
static int number_of(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15 ? (int)(whole - ZYDIS_REGISTER_RAX) : -1;
}

static bool is_wide(const ZydisDecodedOperand *o)
{
	return o->size >= 32; /* writing 32 bits clears the upper half */
}

static bool branch_target(const struct walk *w, size_t at, uint64_t *ret)
{
	return w->insn.operand_count && w->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       w->operands[0].imm.is_relative &&
	       ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&w->insn, &w->operands[0], w->vaddr + at, ret));
}

static bool is_inside(const struct walk *w, uint64_t vaddr)
{
	return vaddr - w->vaddr < w->size;
}

static int by_address(const void *a, const void *b)
{
	const struct joint *left = a, *right = b;

	return (left->at > right->at) - (left->at < right->at);
}

static void joints_unite(struct walk *w)
{
	size_t n = 0;

	if (w->joints.n)
		qsort(w->joints.at, w->joints.n, sizeof(*w->joints.at), by_address);
	for (size_t i = 0; i < w->joints.n; i++) {
		if (!n || w->joints.at[n - 1].at != w->joints.at[i].at)
			w->joints.at[n++] = w->joints.at[i];
		else
			w->joints.at[n - 1].is_looped |= w->joints.at[i].is_looped;
	}
	w->joints.n = n;
}

/* Lists every place that something in the function jumps to. False when it cannot be read to its end. */
static bool find_joints(struct walk *w)
{
	struct joint joint = { 0 };
	uint64_t to;
	size_t at;

	for (at = 0; at < w->size; at += w->insn.length) {
		if (!ray_decode(w->code + at, w->size - at, &w->insn, w->operands))
			return false;
		if (w->insn.meta.category == ZYDIS_CATEGORY_CALL || !branch_target(w, at, &to) || !is_inside(w, to))
			continue;
		joint.at = to - w->vaddr;
		joint.is_looped = joint.at <= at;
		if (!ray_vec_push(&w->joints, joint))
			return false;
	}
	joints_unite(w);
	return true;
}

static struct joint *joint_at(const struct walk *w, size_t at)
{
	const struct joint key = { .at = at };

	return w->joints.n ? bsearch(&key, w->joints.at, w->joints.n, sizeof(key), by_address) : NULL;
}

/* Keeps of `known` what both say. */
static uint32_t common(uint32_t known, const uint64_t *values, uint32_t others, const uint64_t *other_values)
{
	known &= others;
	for (size_t i = 0; i < REGISTERS; i++)
		if (values[i] != other_values[i])
			known &= ~(1u << i);
	return known;
}

/* A jump to `to`, with what is known now. */
static void joint_enter(struct walk *w, uint64_t to)
{
	struct joint *joint = joint_at(w, to - w->vaddr);

	if (!joint)
		return;
	if (joint->is_seen) {
		joint->known = common(joint->known, joint->values, w->known, w->values);
		return;
	}
	joint->is_seen = true;
	joint->known = w->known;
	memcpy(joint->values, w->values, sizeof(joint->values));
}

/* Where ways meet, only that is known which is on all of them. Behind a jump nothing goes on: what stands there is padding, up to the next place that
 * is jumped to, or can only be reached through a table. */
static void joint_pass(struct walk *w, size_t at)
{
	struct joint *joint = joint_at(w, at);

	if (!joint)
		return;
	if (joint->is_looped || !joint->is_seen || w->has_switch) {
		w->known = 0;
	} else if (w->is_reached) {
		w->known = common(w->known, w->values, joint->known, joint->values);
	} else {
		w->known = joint->known;
		memcpy(w->values, joint->values, sizeof(w->values));
	}
	w->is_reached = true;
}

/* Behind a jump that is always taken. */
static void jump_pass(struct walk *w)
{
	w->is_reached = false;
	w->known = 0;
}

static bool emit(struct walk *w, struct ray_flow_step *step)
{
	static const ZydisRegister arguments[RAY_FLOW_ARGS] = { ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RSI,
								ZYDIS_REGISTER_RDX, ZYDIS_REGISTER_RCX,
								ZYDIS_REGISTER_R8,  ZYDIS_REGISTER_R9 };
	int reg;

	for (size_t i = 0; i < RAY_FLOW_ARGS; i++) {
		reg = number_of(arguments[i]);
		step->is_known[i] = w->known >> reg & 1;
		step->args[i] = step->is_known[i] ? w->values[reg] : 0;
	}
	return w->each(step, w->arg);
}

/* ---- values ---- */

/* What an operand that is read holds, if that is known. */
static bool value_of(const struct walk *w, const ZydisDecodedOperand *o, uint64_t *ret)
{
	int reg;

	if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		*ret = o->imm.is_signed ? (uint64_t)o->imm.value.s : o->imm.value.u;
		return true;
	}
	reg = o->type == ZYDIS_OPERAND_TYPE_REGISTER && is_wide(o) ? number_of(o->reg.value) : -1;
	if (reg < 0 || !(w->known >> reg & 1))
		return false;
	*ret = w->values[reg];
	return true;
}

/* The value that the instruction gives to its first operand. */
static bool result_of(const struct walk *w, size_t at, uint64_t *ret)
{
	const ZydisDecodedOperand *o = w->operands;

	switch (w->insn.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		if (!value_of(w, &o[1], ret))
			return false;
		if (o[0].size == 32)
			*ret = (uint32_t)*ret;
		return true;
	case ZYDIS_MNEMONIC_XOR:
		*ret = 0;
		return o[0].type == ZYDIS_OPERAND_TYPE_REGISTER && o[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		       o[0].reg.value == o[1].reg.value;
	case ZYDIS_MNEMONIC_LEA:
		return o[1].mem.base == ZYDIS_REGISTER_RIP &&
		       ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&w->insn, &o[1], w->vaddr + at, ret));
	default:
		return false;
	}
}

static void forget_written(struct walk *w)
{
	int reg;

	for (size_t i = 0; i < w->insn.operand_count; i++) {
		if (w->operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(w->operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		reg = number_of(w->operands[i].reg.value);
		if (reg >= 0)
			w->known &= ~(1u << reg);
	}
}

/* What a function may change in its caller's registers. */
static void forget_after_call(struct walk *w)
{
	static const ZydisRegister kept[] = { ZYDIS_REGISTER_RBX, ZYDIS_REGISTER_RBP, ZYDIS_REGISTER_R12,
					      ZYDIS_REGISTER_R13, ZYDIS_REGISTER_R14, ZYDIS_REGISTER_R15 };
	uint32_t mask = 0;

	for (size_t i = 0; i < RAY_COUNT(kept); i++)
		mask |= 1u << number_of(kept[i]);
	w->known &= mask;
}

static bool apply(struct walk *w, size_t at)
{
	struct ray_flow_step step = { .kind = RAY_FLOW_CONSTANT, .at = w->vaddr + at };
	bool has_value;
	int reg;

	if (!w->insn.operand_count)
		return true;
	reg = w->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && is_wide(&w->operands[0]) ?
		      number_of(w->operands[0].reg.value) :
		      -1;
	has_value = reg >= 0 && result_of(w, at, &step.target);
	forget_written(w);
	if (!has_value)
		return true;
	w->values[reg] = step.target;
	w->known |= 1u << reg;
	return emit(w, &step);
}

/* ---- steps ---- */

static bool is_field(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.base != ZYDIS_REGISTER_NONE &&
	       o->mem.base != ZYDIS_REGISTER_RIP && o->mem.base != ZYDIS_REGISTER_RSP;
}

static bool visit_memory(struct walk *w, size_t at)
{
	struct ray_flow_step step = { .at = w->vaddr + at };
	const ZydisDecodedOperand *o;

	for (size_t i = 0; i < w->insn.operand_count_visible; i++) {
		o = &w->operands[i];
		step.kind = RAY_FLOW_LOAD;
		step.size = o->size / 8;
		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type == ZYDIS_MEMOP_TYPE_MEM &&
		    o->mem.base == ZYDIS_REGISTER_RIP &&
		    ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&w->insn, o, w->vaddr + at, &step.target)) && !emit(w, &step))
			return false;
		if (!is_field(o))
			continue;
		step.kind = RAY_FLOW_TOUCH;
		step.displacement = o->mem.disp.has_displacement ? o->mem.disp.value : 0;
		if (!emit(w, &step))
			return false;
		step.kind = RAY_FLOW_STORE;
		if (!i && w->insn.mnemonic == ZYDIS_MNEMONIC_MOV && o->size == 64 &&
		    value_of(w, &w->operands[1], &step.target) && !emit(w, &step))
			return false;
	}
	return true;
}

static bool visit_indirect(struct walk *w, size_t at)
{
	struct ray_flow_step step = { .kind = RAY_FLOW_INDIRECT, .at = w->vaddr + at };
	const ZydisDecodedOperand *o = &w->operands[0];

	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		step.has_displacement = is_field(o);
		step.displacement = o->mem.disp.has_displacement ? o->mem.disp.value : 0;
		if (o->mem.base == ZYDIS_REGISTER_NONE && o->mem.index != ZYDIS_REGISTER_NONE) {
			step.kind = RAY_FLOW_TABLE;
			step.target = (uint64_t)step.displacement;
		}
	}
	return emit(w, &step);
}

static bool visit_branch(struct walk *w, size_t at)
{
	bool is_call = w->insn.meta.category == ZYDIS_CATEGORY_CALL;
	struct ray_flow_step step = { .kind = is_call ? RAY_FLOW_CALL : RAY_FLOW_LEAVE, .at = w->vaddr + at };

	if (!branch_target(w, at, &step.target)) {
		w->has_switch |= !is_call;
		return w->insn.meta.category == ZYDIS_CATEGORY_COND_BR || visit_indirect(w, at);
	}
	if (is_call || !is_inside(w, step.target))
		return emit(w, &step);
	joint_enter(w, step.target);
	return true;
}

static bool visit(struct walk *w, size_t at)
{
	switch (w->insn.meta.category) {
	case ZYDIS_CATEGORY_CALL:
		if (!visit_branch(w, at))
			return false;
		forget_after_call(w);
		return true;
	case ZYDIS_CATEGORY_UNCOND_BR:
		if (!visit_branch(w, at))
			return false;
		jump_pass(w);
		return true;
	case ZYDIS_CATEGORY_COND_BR:
		return visit_branch(w, at);
	case ZYDIS_CATEGORY_RET:
		jump_pass(w);
		return true;
	default:
		if (w->insn.mnemonic != ZYDIS_MNEMONIC_NOP && !visit_memory(w, at))
			return false;
		return apply(w, at);
	}
}

static bool walk(struct walk *w)
{
	if (!find_joints(w))
		return false;
	w->is_reached = true;
	for (size_t at = 0; at < w->size; at += w->insn.length) {
		joint_pass(w, at);
		if (!ray_decode(w->code + at, w->size - at, &w->insn, w->operands))
			return false;
		if (!visit(w, at))
			return true;
	}
	return true;
}

bool ray_flow_walk(const uint8_t *code, size_t size, uint64_t vaddr,
		   bool (*each)(const struct ray_flow_step *step, void *arg), void *arg)
{
	struct walk w = { .code = code, .size = size, .vaddr = vaddr, .each = each, .arg = arg };
	bool is_whole = walk(&w);

	ray_vec_free(&w.joints);
	return is_whole;
}
