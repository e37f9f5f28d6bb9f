/* usdt.h - static probes in a file: the notes of .note.stapsdt, as <sys/sdt.h> writes them.
 * SPDX-License-Identifier: MIT
 *
 * Foreign bytes: a note that does not hold together is left out. Where an argument is comes out as a rule that the kernel side can
 * follow; what cannot be had (floats) reads as 0. Knows no process. */
#ifndef RAY_ELF_USDT_H
#define RAY_ELF_USDT_H

#include "elf/elf.h"
#include "kern/wire.h"

struct ray_usdt {
	const char *provider, *name; /* as the note has them: log__info */
	const char *arguments;	     /* "-4@%edi 8@8(%rsp)" */
	uint64_t vaddr;		     /* of the instruction */
	uint64_t semaphore;	     /* vaddr; 0 if none */
};

/* Calls each() for every static probe; strings live as long as it runs. False of it stops. */
void ray_usdt_each(struct ray_elf *e, bool (*each)(const struct ray_usdt *probe, void *arg), void *arg);

/* The first RAY_ARGS arguments; returns how many there are (none of the rest is counted). An argument that cannot be understood is RAY_FETCH_NONE. */
size_t ray_usdt_arguments(struct ray_elf *e, const struct ray_usdt *probe, struct ray_fetch fetch[RAY_ARGS]);

#endif
