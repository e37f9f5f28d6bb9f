/* flow.h - what the code of one function calls, touches and hands over.
 * SPDX-License-Identifier: MIT
 *
 * Goes through the instructions in the order of their addresses and follows constants in registers: where ways meet, only that is known which all of them
 * agree on. So what is reported as known is known on every way that leads there, but for jumps through tables, whose
 * ends are not looked for. x86-64 only; pure: foreign bytes in, steps out; takes time in proportion to the size. */
#ifndef RAY_PROBE_FLOW_H
#define RAY_PROBE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ray_flow_kind {
	RAY_FLOW_CALL,	   /* of target */
	RAY_FLOW_LEAVE,	   /* jump to target, outside of the function: the last call of many a function */
	RAY_FLOW_INDIRECT, /* call or jump through a register, or through memory: then displacement */
	RAY_FLOW_TABLE,	   /* jump through a table at target, by an index */
	RAY_FLOW_TOUCH, /* memory at displacement from some pointer (not from rsp) is read or written, or its address taken */
	RAY_FLOW_STORE,	   /* target, a constant, is put there; a TOUCH of it comes first */
	RAY_FLOW_LOAD,	   /* memory at target, an address within the file, is read or written: size bytes */
	RAY_FLOW_CONSTANT, /* target is put into a register: the address of something, perhaps */
};

enum { RAY_FLOW_ARGS = 6 };

struct ray_flow_step {
	enum ray_flow_kind kind;
	uint64_t at; /* vaddr of the instruction */
	uint64_t target;
	int64_t displacement;
	bool has_displacement; /* INDIRECT */
	size_t size;	       /* LOAD */
	/* CALL, LEAVE: what is known of the arguments. */
	uint64_t args[RAY_FLOW_ARGS];
	bool is_known[RAY_FLOW_ARGS];
};

/* Stops when each() returns false, and at bytes that are no instruction: then the result is false. */
bool ray_flow_walk(const uint8_t *code, size_t size, uint64_t vaddr,
		   bool (*each)(const struct ray_flow_step *step, void *arg), void *arg);

#endif
