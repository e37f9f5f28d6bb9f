/* walk.c - see walk.h. SPDX-License-Identifier: MIT */
#include "stack/walk.h"

#include <string.h>
#include <sys/mman.h>

#include "elf/unwind.h"
#include "stack/leaf.h"
#include "v8/code.h"

enum { REG_RBP = RAY_UNWIND_RBP, REG_RSP = RAY_UNWIND_RSP, REG_PC = RAY_UNWIND_PC };

#define KNOWN(reg) (1u << (reg))

struct walker {
	struct ray_js *js;
	struct ray_reader memory;
	struct ray_walk *walk;
	struct ray_unwind_regs regs;
	bool exact; /* pc is no return address */
};

/* In a stripped file builtins have no symbols: code of node's file that no unwind row covers is taken
 * for one, and V8's frame layout then proves it. */
static bool is_builtin(struct ray_js *js, const struct ray_module *m, uint64_t vaddr)
{
	struct ray_symbol s;

	if (m != js->node.module)
		return false;
	if (js->node.stripped)
		return !ray_unwind_has_row(m->elf, vaddr);
	return ray_elf_symbol_at(m->elf, vaddr, &s) && ray_js_builtin_name(s.name);
}

enum ray_walk_region ray_walk_region(struct ray_js *js, uint64_t pc, const struct ray_module **module_ret,
				     uint64_t *vaddr_ret)
{
	const struct ray_map *map = ray_target_find_map(js->target, pc);

	*module_ret = NULL;
	if (!map || !(map->prot & PROT_EXEC))
		return RAY_WALK_NOWHERE;
	*module_ret = ray_target_module_at(js->target, pc, vaddr_ret);
	if (!*module_ret)
		return RAY_WALK_JIT;
	return (*module_ret)->elf && is_builtin(js, *module_ret, *vaddr_ret) ? RAY_WALK_BUILTIN : RAY_WALK_NATIVE;
}

uint64_t ray_walk_lookup_address(struct ray_js *js, uint64_t pc, bool exact)
{
	const struct ray_module *m;
	struct ray_symbol s;
	uint64_t vaddr;

	if (exact)
		return pc;
	if (ray_walk_region(js, pc, &m, &vaddr) == RAY_WALK_BUILTIN && ray_elf_symbol_at(m->elf, vaddr, &s) &&
	    s.value == vaddr)
		return pc;
	return pc - 1;
}

static struct ray_raw_frame *add_frame(struct walker *w, uint64_t at, enum ray_walk_region region)
{
	struct ray_raw_frame f = { .pc = w->regs.reg[REG_PC],
				   .at = at,
				   .fp = w->regs.valid & KNOWN(REG_RBP) ? w->regs.reg[REG_RBP] : 0,
				   .sp = w->regs.reg[REG_RSP],
				   .region = region,
				   .exact = w->exact,
				   .leaf_offset = -1 };

	return ray_vec_push(&w->walk->frames, f) ? &w->walk->frames.at[w->walk->frames.n - 1] : NULL;
}

static bool stop(struct walker *w, enum ray_walk_end end)
{
	w->walk->end = end;
	return false;
}

/* To the caller by the frame pointer: [fp] is the caller's, [fp + 8] the return address. */
static bool step_by_frame_pointer(struct walker *w)
{
	uint64_t fp = w->regs.reg[REG_RBP], link[2];

	if (!(w->regs.valid & KNOWN(REG_RBP)) || fp < w->regs.reg[REG_RSP] || fp & 7)
		return stop(w, RAY_WALK_BROKEN);
	if (!ray_read(&w->memory, fp, link, sizeof(link)))
		return stop(w, RAY_WALK_TRUNCATED);
	if (!link[1])
		return stop(w, RAY_WALK_ROOT);
	w->regs.reg[REG_RBP] = link[0];
	w->regs.reg[REG_RSP] = fp + 16;
	w->regs.reg[REG_PC] = link[1];
	w->regs.valid = KNOWN(REG_RBP) | KNOWN(REG_RSP) | KNOWN(REG_PC);
	w->exact = false;
	return true;
}

/* Without a frame pointer (only pc and sp are known): the first place above sp that holds a plausible
 * link, i.e. a higher frame pointer and a return address behind a call, twice in a row. */
static bool find_frame_pointer(struct walker *w)
{
	enum { WORDS = 512 };
	uint64_t sp = w->regs.reg[REG_RSP], words[WORDS], next[2];

	if (w->walk->guessed_fp || (w->regs.valid & KNOWN(REG_RBP)))
		return false;
	w->walk->guessed_fp = true;
	memset(words, 0, sizeof(words));
	if (w->memory.read(w->memory.arg, sp, words, sizeof(words)) < 16)
		return false;
	for (size_t i = 0; i + 1 < WORDS; i++) {
		if (words[i] <= sp + i * 8 || words[i] > sp + (1 << 20) || words[i] & 7 ||
		    !ray_leaf_is_return_address(w->js, words[i + 1]))
			continue;
		if (!ray_read(&w->memory, words[i], next, sizeof(next)) || !ray_leaf_is_return_address(w->js, next[1]))
			continue;
		w->regs.reg[REG_RBP] = sp + i * 8;
		w->regs.valid |= KNOWN(REG_RBP);
		return true;
	}
	return false;
}

static bool step_native(struct walker *w, const struct ray_module *m, uint64_t vaddr)
{
	uint64_t pc = w->regs.reg[REG_PC], back = w->exact ? 0 : 1;
	enum ray_unwind_result r = RAY_UNWIND_NO_ROW;
	bool signal_frame = false;

	if (m->elf)
		r = ray_unwind_step(m->elf, vaddr - back, pc - vaddr, &w->memory, &w->regs, &signal_frame);
	if (r == RAY_UNWIND_BAD && find_frame_pointer(w))
		r = ray_unwind_step(m->elf, vaddr - back, pc - vaddr, &w->memory, &w->regs, &signal_frame);
	if (r == RAY_UNWIND_OK) {
		w->exact = signal_frame;
		return true;
	}
	if (r == RAY_UNWIND_END)
		return stop(w, RAY_WALK_ROOT);
	return step_by_frame_pointer(w);
}

static bool step_v8(struct walker *w, struct ray_raw_frame *f)
{
	struct ray_leaf leaf;

	if (!w->js->layout)
		return step_by_frame_pointer(w);
	if (f->exact)
		ray_leaf_inspect(w->js, f, &w->regs, &leaf);
	else
		ray_leaf_inspect_caller(w->js, f, &leaf);
	f->leaf_offset = leaf.bytecode_offset;
	f->stale_offset = leaf.stale;
	f->building = leaf.building;
	f->entering = leaf.entering;
	f->entered = leaf.entered;
	if (!leaf.frameless)
		return step_by_frame_pointer(w);
	f->frameless = true;
	w->regs.reg[REG_PC] = leaf.return_address;
	w->regs.reg[REG_RSP] = leaf.caller_sp;
	w->regs.valid = KNOWN(REG_RBP) | KNOWN(REG_RSP) | KNOWN(REG_PC);
	w->exact = false;
	return true;
}

/* A call through a bad pointer leaves the pc nowhere; the return address is still on top of the stack. */
static bool step_from_nowhere(struct walker *w)
{
	uint64_t address;

	if (w->walk->frames.n > 1 || !ray_read_u64(&w->memory, w->regs.reg[REG_RSP], &address) ||
	    !ray_leaf_is_return_address(w->js, address))
		return stop(w, RAY_WALK_BROKEN);
	w->regs.reg[REG_PC] = address;
	w->regs.reg[REG_RSP] += 8;
	w->exact = false;
	return true;
}

/* While older V8 collects garbage, it takes the right to execute from the pages that it writes code to. */
static bool is_code_being_written(struct ray_js *js, uint64_t at)
{
	const struct ray_map *map = ray_target_find_map(js->target, at);
	struct ray_v8_code code;

	return js->layout && map && map->prot & PROT_WRITE && !map->path[0] && ray_v8_code_find(&js->v8, at, &code);
}

static bool step(struct walker *w)
{
	const struct ray_module *m;
	struct ray_raw_frame *f;
	enum ray_walk_region region;
	uint64_t vaddr = 0, pc = w->regs.reg[REG_PC], at = ray_walk_lookup_address(w->js, pc, w->exact);

	region = ray_walk_region(w->js, at, &m, &vaddr);
	vaddr += pc - at;
	if (region == RAY_WALK_NOWHERE && w->walk->frames.n && is_code_being_written(w->js, at))
		region = RAY_WALK_JIT;
	if (region == RAY_WALK_NOWHERE && w->walk->frames.n)
		return stop(w, RAY_WALK_BROKEN);
	/* V8's code keeps to frame pointers: what it has in hand is the first link above sp. */
	if (region == RAY_WALK_BUILTIN || region == RAY_WALK_JIT)
		find_frame_pointer(w);
	f = add_frame(w, at, region);
	if (!f)
		return stop(w, RAY_WALK_TRUNCATED);
	if (region == RAY_WALK_NATIVE)
		return step_native(w, m, vaddr);
	return region == RAY_WALK_NOWHERE ? step_from_nowhere(w) : step_v8(w, f);
}

static void set_registers(struct walker *w, const struct ray_thread *thread)
{
	const struct user_regs_struct *r = &thread->registers;
	const uint64_t in_dwarf_order[RAY_UNWIND_REGS] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
							   r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
							   r->r12, r->r13, r->r14, r->r15, r->rip };

	memcpy(w->regs.reg, in_dwarf_order, sizeof(in_dwarf_order));
	w->regs.valid = thread->only_pc_sp ? KNOWN(REG_RSP) | KNOWN(REG_PC) : KNOWN(RAY_UNWIND_REGS) - 1;
}

struct ray_error *ray_walk_thread(struct ray_js *js, const struct ray_thread *thread, struct ray_walk *ret)
{
	struct walker w = { .js = js, .memory = ray_target_reader(js->target), .walk = ret, .exact = true };

	memset(ret, 0, sizeof(*ret));
	ret->end = RAY_WALK_TRUNCATED;
	if (!thread->has_registers)
		return NULL;
	set_registers(&w, thread);
	while (ret->frames.n < RAY_WALK_MAX) {
		uint64_t sp = w.regs.reg[REG_RSP];
		size_t n = ret->frames.n;

		if (!step(&w))
			return NULL;
		/* The innermost may give back the same sp (a frameless call); no other may. */
		if (w.regs.reg[REG_RSP] < sp || (w.regs.reg[REG_RSP] == sp && n > 1)) {
			ret->end = RAY_WALK_BROKEN;
			return NULL;
		}
	}
	return NULL;
}

void ray_walk_deinit(struct ray_walk *w)
{
	ray_vec_free(&w->frames);
}
