/* notes.h - ELF notes: build-id, what a core tells of its threads, and later USDT probes.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_ELF_NOTES_H
#define RAY_ELF_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf.h"

/* Returns false to stop. owner is NUL-terminated, desc may be unaligned. */
typedef bool ray_note_fn(const char *owner, uint32_t type, const void *desc, size_t size, void *arg);

/* Walks the notes in bytes, as they stand in a PT_NOTE or SHT_NOTE; align is the segment's (4 or 8;
 * anything else counts as 4). False when the bytes end inside a note: those before it were reported. */
bool ray_note_each(const void *bytes, size_t size, size_t align, ray_note_fn *each, void *arg);

/* All notes of a file: those of its segments, or of its sections if no segment has any. */
void ray_elf_each_note(struct ray_elf *e, ray_note_fn *each, void *arg);

#endif
