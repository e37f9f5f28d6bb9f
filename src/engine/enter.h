/* enter.h - the parts of an entry program: what enter*.c say to each other. SPDX-License-Identifier: MIT */
#ifndef RAY_ENGINE_ENTER_H
#define RAY_ENGINE_ENTER_H

#include "engine/internal.h"

/* Registers of an entry. The first two are those of a clause (gen.h), whose code may stand in the entry; it takes the others. */
enum { RAY_CTX_REG = BPF_REG_8, RAY_SLOT_REG = BPF_REG_9, RAY_POINT_REG = BPF_REG_6 };

/* Bytes of an entry's stack, below the frame pointer. */
enum {
	RAY_STACK_KEY = -8,
	RAY_STACK_TGID = -16,	/* in hooks, and where processes are followed */
	RAY_STACK_NUMBER = -32, /* of a system call that returns */
	RAY_STACK_POINT = -48,	/* while clauses run: theirs is what is above */
};

/* Offsets in the kernel's struct pt_regs of x86_64, which its own ABI fixes. */
enum {
	RAY_REGS_BP = 32,
	RAY_REGS_R10 = 56,
	RAY_REGS_R9 = 64,
	RAY_REGS_R8 = 72,
	RAY_REGS_AX = 80,
	RAY_REGS_CX = 88,
	RAY_REGS_DX = 96,
	RAY_REGS_SI = 104,
	RAY_REGS_DI = 112,
	RAY_REGS_ORIG_AX = 120,
	RAY_REGS_IP = 128,
	RAY_REGS_CS = 136,
	RAY_REGS_SP = 152,
	RAY_REGS_SIZE = 168,
};

enum { RAY_CS_USER32 = 0x23 }; /* code segment of 32-bit programs: their system calls have other numbers */

struct ray_entry_labels {
	uint32_t out;	  /* nothing is held */
	uint32_t release; /* the slot is */
};

/* One site, known when the code is written: no point needs to be looked up. */
bool ray_entry_is_single(const struct ray_entry *e);
/* follow.c: whether a clause, or any of them with NULL, may get more probes while it runs. */
bool ray_trace_may_grow(const struct ray_trace *t, const struct ray_clause *only);
/* enter.c: hangs in a probe that its clauses have got since the start. */
RAY_MUST_USE struct ray_error *ray_entries_add_late(struct ray_trace *t, struct ray_probe *probe);
/* A point for a site that comes late; one whose process has ended is used again. */
RAY_MUST_USE struct ray_error *ray_point_add_late(struct ray_trace *t, const struct ray_point *point, uint32_t *ret);
/* enter_code.c */
void ray_entry_emit(struct ray_trace *t, struct ray_entry *e);
void ray_entry_emit_fault(struct ray_trace *t, struct ray_piece *p);
/* R0 = map[key on the stack], or goto none. */
void ray_enter_lookup(struct ray_piece *p, uint32_t map, uint32_t none);
/* R0 = the registers that the process came into the kernel with. */
void ray_enter_call_regs(struct ray_piece *p);
/* To the label unless tracing is on. */
void ray_enter_activity(const struct ray_entry *e, struct ray_piece *p, uint32_t label);
void ray_enter_zero_locals(const struct ray_plan *plan, struct ray_piece *p);
/* The clauses of the entry that the point wants. */
void ray_enter_clauses(struct ray_trace *t, const struct ray_entry *e, struct ray_piece *p,
		       const struct ray_entry_labels *labels);
/* enter_args.c: where the code that was interrupted at a uprobe stands, for stacks. */
void ray_enter_user_regs(struct ray_piece *p);
/* enter_args.c: fills slot->args, and what the context alone tells. May jump to release: the site's conditions do not hold. */
void ray_entry_emit_args(const struct ray_entry *e, struct ray_piece *p, const struct ray_entry_labels *labels);
/* Arguments of a site that an entry must have: what the clauses use, and what the conditions compare. */
uint32_t ray_entry_args_needed(const struct ray_entry *e);

/* enter_fetch.c: slot->args[i] by its rule; by the value of a register; slot memory at `offset` = `size` bytes at the address in R3 (R0: not 0 if that failed). */
void ray_enter_fetch(struct ray_piece *p, int i, const struct ray_fetch *f);
void ray_enter_extend(struct ray_piece *p, uint8_t reg,
		      const struct ray_fetch *f); /* from the rule's size to 64 bits */
void ray_enter_store_arg(struct ray_piece *p, int i, uint8_t reg);
void ray_enter_read(struct ray_piece *p, int offset, int size, uint32_t helper);

#endif
