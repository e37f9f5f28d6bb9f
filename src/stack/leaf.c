/* leaf.c - see leaf.h. SPDX-License-Identifier: MIT */
#include "stack/leaf.h"

#include <string.h>

#include "stack/epilogue.h"
#include "v8/frame.h"
#include "v8/function.h"

enum {
	SEARCH_WORDS = 32,   /* how far above sp a return address is looked for */
	PROLOGUE_BYTES = 96, /* V8's prologues push rbp well before that */
	REG_RDI = 5,
	REG_R9 = 9,
	REG_R12 = 12,
};

/* call rel32, call r/m64 (2 to 7 bytes): enough to tell code from data. */
bool ray_leaf_is_return_address(struct ray_js *js, uint64_t address)
{
	const struct ray_module *m;
	uint8_t b[7];
	uint64_t vaddr;

	if (address < 0x1000 || ray_walk_region(js, address - 1, &m, &vaddr) == RAY_WALK_NOWHERE ||
	    ray_target_read(js->target, address - sizeof(b), b, sizeof(b)) != sizeof(b))
		return false;
	if (b[2] == 0xe8)
		return true;
	for (size_t length = 2; length <= sizeof(b); length++) {
		const uint8_t *i = b + sizeof(b) - length;

		if (i[0] == 0xff && (i[1] >> 3 & 7) == 2)
			return true;
	}
	return false;
}

/* The function that code belongs to, compared with the one whose frame stands at rbp. */
static bool is_code_of(struct ray_js *js, const struct ray_v8_code *code, const struct ray_v8_frame *frame)
{
	uint64_t array;

	if (frame->kind != RAY_V8_FRAME_FUNCTION)
		return false;
	/* A debugger runs a copy of the bytecode, which the frame knows and the function does not. */
	return (ray_v8_code_bytecode(&js->v8, code, &array) && array == frame->bytecode_array) ||
	       ray_v8_code_is_of(&js->v8, code, frame->shared);
}

static bool leads_into(struct ray_js *js, uint64_t word, const struct ray_v8_frame *frame)
{
	const struct ray_module *m;
	struct ray_v8_code code;
	uint64_t vaddr;

	return word >= 0x1000 && ray_walk_region(js, word - 1, &m, &vaddr) == RAY_WALK_JIT &&
	       ray_v8_code_find(&js->v8, word - 1, &code) && is_code_of(js, &code, frame);
}

/* The first return address above sp that leads into code of the frame's function. */
static bool find_return_address(struct ray_js *js, const struct ray_raw_frame *f, const struct ray_v8_frame *frame,
				struct ray_leaf *ret)
{
	uint64_t words[SEARCH_WORDS], sp = f->sp;
	size_t n = ray_target_read(js->target, sp, words, sizeof(words)) / 8;

	/* Behind fp are the return addresses of others: of the same function too, when it calls itself. */
	for (size_t i = 0; i < n && sp + i * 8 < f->fp; i++) {
		if (!leads_into(js, words[i], frame))
			continue;
		ret->frameless = true;
		ret->return_address = words[i];
		ret->caller_sp = sp + i * 8 + 8;
		return true;
	}
	return false;
}

/* The function that is being called is in rdi until its prologue has stored it. */
static uint64_t called_function(struct ray_js *js, const struct ray_v8_code *code, const struct ray_unwind_regs *regs)
{
	uint64_t function = regs->valid & 1u << REG_RDI ? regs->reg[REG_RDI] : 0, shared;

	return ray_v8_function_shared(&js->v8, function, &shared) && ray_v8_code_is_of(&js->v8, code, shared) ?
		       function :
		       0;
}

/* push rbp; mov rbp, rsp. Where pc stands before it, the return address is on top of the stack, or one
 * word deeper when rbp has been pushed. */
static bool in_prologue(struct ray_js *js, const struct ray_v8_code *code, const struct ray_raw_frame *f,
			struct ray_leaf *ret)
{
	static const uint8_t forms[2][4] = { { 0x55, 0x48, 0x8b, 0xec }, { 0x55, 0x48, 0x89, 0xe5 } };
	uint8_t b[PROLOGUE_BYTES];
	uint64_t at = f->pc - code->start, address;
	size_t n;

	if (at >= PROLOGUE_BYTES)
		return false;
	n = ray_target_read(js->target, code->start, b, sizeof(b));
	for (size_t i = 0; i + 4 <= n; i++) {
		if (memcmp(b + i, forms[0], 4) && memcmp(b + i, forms[1], 4))
			continue;
		if (at > i + 1)
			return false;
		ret->caller_sp = f->sp + (at == i + 1 ? 16 : 8);
		if (!ray_target_read(js->target, ret->caller_sp - 8, &address, 8) ||
		    !ray_leaf_is_return_address(js, address))
			return false;
		ret->return_address = address;
		ret->frameless = ret->entering = true;
		return true;
	}
	return false;
}

/* Between leave and ret. */
static bool in_epilogue(struct ray_js *js, const struct ray_unwind_regs *regs, struct ray_leaf *ret)
{
	struct ray_reader memory = ray_target_reader(js->target);
	uint64_t address, sp;

	if (!ray_epilogue_find(&memory, regs, &address, &sp) || !ray_leaf_is_return_address(js, address))
		return false;
	ret->frameless = true;
	ret->return_address = address;
	ret->caller_sp = sp;
	return true;
}

/* Slots below the stack pointer are not written yet, and hold what an older frame left there. (They are still good where the frame is taken down:
 * mov rsp, rbp; pop rbp.) */
static bool is_building(struct ray_js *js, const struct ray_raw_frame *f, const struct ray_v8_frame *frame)
{
	static const uint8_t pop_rbp = 0x5d;
	uint8_t next;

	if (f->sp > f->fp || f->sp <= f->fp + (uint64_t)(int64_t)ray_v8_get(js->layout, RAY_V8_FP_FUNCTION))
		return false;
	if (f->sp <= f->fp + (uint64_t)(int64_t)ray_v8_get(js->layout, RAY_V8_FP_CONTEXT))
		return frame->kind != RAY_V8_FRAME_TYPED; /* its type is all that such a frame has */
	return ray_target_read(js->target, f->pc, &next, 1) == 1 && next != pop_rbp;
}

/* Which function it will be is in rdi until then, for code that makes the frames of functions. */
static void inspect_building(struct ray_js *js, const struct ray_raw_frame *f, const struct ray_unwind_regs *regs,
			     struct ray_leaf *ret)
{
	struct ray_v8_code code;
	uint64_t shared;

	ret->building = ret->entering = true;
	if (f->region == RAY_WALK_JIT)
		ret->entered = ray_v8_code_find(&js->v8, f->pc, &code) ? called_function(js, &code, regs) : 0;
	else if (regs->valid & 1u << REG_RDI && ray_leaf_is_entry(js, f->pc) &&
		 ray_v8_function_shared(&js->v8, regs->reg[REG_RDI], &shared))
		ret->entered = regs->reg[REG_RDI];
}

static void inspect_jit(struct ray_js *js, const struct ray_raw_frame *f, const struct ray_v8_frame *frame,
			const struct ray_unwind_regs *regs, struct ray_leaf *ret)
{
	struct ray_v8_code code;

	if (!ray_v8_code_find(&js->v8, f->pc, &code) || code.tier == RAY_TIER_NONE)
		return; /* wasm, regexp: they keep frames */
	if (in_prologue(js, &code, f, ret)) {
		ret->entered = called_function(js, &code, regs);
		return;
	}
	if (!in_epilogue(js, regs, ret) && !is_code_of(js, &code, frame))
		find_return_address(js, f, frame, ret);
}

/* V8 keeps the bytecode array in r12 and the offset in r9 while a bytecode's handler runs; the slot in the
 * frame is only written before calls. */
static int32_t offset_in_registers(struct ray_js *js, const struct ray_v8_frame *frame,
				   const struct ray_unwind_regs *regs)
{
	int64_t first = ray_v8_get(js->layout, RAY_V8_BYTECODE_DATA) - 1;
	int32_t length;

	if (!(regs->valid & 1u << REG_R12) || regs->reg[REG_R12] != frame->bytecode_array ||
	    !ray_v8_smi_field(&js->v8, frame->bytecode_array, RAY_V8_BYTECODE_LENGTH, &length) ||
	    regs->reg[REG_R9] < (uint64_t)first || regs->reg[REG_R9] - (uint64_t)first >= (uint64_t)length)
		return -1;
	return (int32_t)(regs->reg[REG_R9] - (uint64_t)first);
}

static bool is_handler(struct ray_js *js, uint64_t pc)
{
	static const char suffix[] = "Handler";
	const struct ray_module *m;
	struct ray_symbol s;
	uint64_t vaddr;
	size_t n;

	if (ray_walk_region(js, pc, &m, &vaddr) != RAY_WALK_BUILTIN)
		return false;
	if (js->node.stripped)
		return true;
	if (!ray_elf_symbol_at(m->elf, vaddr, &s))
		return false;
	n = strlen(s.name);
	return n > sizeof(suffix) && !strcmp(s.name + n - (sizeof(suffix) - 1), suffix);
}

bool ray_leaf_is_entry(struct ray_js *js, uint64_t pc)
{
	static const char *const names[] = { "InterpreterEntryTrampoline", "BaselineOutOfLinePrologue" };
	const struct ray_module *m;
	struct ray_symbol s;
	uint64_t vaddr;
	const char *name;

	if (ray_walk_region(js, pc, &m, &vaddr) != RAY_WALK_BUILTIN || !ray_elf_symbol_at(m->elf, vaddr, &s))
		return false;
	name = ray_js_builtin_name(s.name);
	for (size_t i = 0; name && i < RAY_COUNT(names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

static void inspect_builtin(struct ray_js *js, const struct ray_raw_frame *f, const struct ray_v8_frame *frame,
			    const struct ray_unwind_regs *regs, struct ray_leaf *ret)
{
	uint64_t script;

	/* Otherwise typed frames and functions without a script are the builtin's own. */
	if (in_epilogue(js, regs, ret) || frame->kind != RAY_V8_FRAME_FUNCTION ||
	    !ray_v8_shared_script(&js->v8, frame->shared, &script))
		return;
	if (find_return_address(js, f, frame, ret))
		return;
	if (!frame->bytecode_array || !is_handler(js, f->pc))
		return;
	ret->bytecode_offset = offset_in_registers(js, frame, regs);
	ret->stale = !(regs->valid & 1u << REG_R12);
}

void ray_leaf_inspect(struct ray_js *js, const struct ray_raw_frame *f, const struct ray_unwind_regs *regs,
		      struct ray_leaf *ret)
{
	struct ray_v8_frame frame;

	*ret = (struct ray_leaf){ .bytecode_offset = -1 };
	if (!f->fp)
		return;
	ray_v8_frame_read(&js->v8, f->fp, &frame);
	if (is_building(js, f, &frame))
		inspect_building(js, f, regs, ret);
	else if (f->region == RAY_WALK_JIT)
		inspect_jit(js, f, &frame, regs, ret);
	else
		inspect_builtin(js, f, &frame, regs, ret);
}

void ray_leaf_inspect_caller(struct ray_js *js, const struct ray_raw_frame *f, struct ray_leaf *ret)
{
	struct ray_v8_frame frame;

	*ret = (struct ray_leaf){ .bytecode_offset = -1 };
	if (!f->fp || f->region != RAY_WALK_BUILTIN)
		return;
	ray_v8_frame_read(&js->v8, f->fp, &frame);
	/* An offset is there if the function is interpreted: then it is its own frame, and pc is in the interpreter. */
	if (frame.kind == RAY_V8_FRAME_FUNCTION && frame.bytecode_offset < 0)
		find_return_address(js, f, &frame, ret);
}

/* Code is left by call [r13 + distance]. Other words of generated code's, such as the address of a Code of older V8s, would be searched for long. */
static bool is_behind_exit(struct ray_js *js, uint64_t word)
{
	static const uint8_t near[] = { 0x41, 0xff, 0x55 }, far[] = { 0x41, 0xff, 0x95 };
	uint8_t b[7];

	return word >= 0x1000 && ray_target_read(js->target, word - sizeof(b), b, sizeof(b)) == sizeof(b) &&
	       (!memcmp(b, far, sizeof(far)) || !memcmp(b + 3, near, sizeof(near)));
}

uint64_t ray_leaf_find_left(struct ray_js *js, uint64_t fp, const uint64_t *words, size_t count)
{
	struct ray_v8_frame frame;

	ray_v8_frame_read(&js->v8, fp, &frame);
	for (size_t i = 0; i < count && frame.kind == RAY_V8_FRAME_FUNCTION; i++)
		if (is_behind_exit(js, words[i]) && leads_into(js, words[i], &frame))
			return words[i];
	return 0;
}
