/* elf.h - one ELF file: its symbols, build-id, bytes and address arithmetic.
 * SPDX-License-Identifier: MIT
 *
 * Built on libelf. Knows files, not processes: all addresses here are the file's own virtual
 * addresses ("vaddr"); src/target turns a process address into one, mapping by mapping, since V8
 * maps parts of the same file twice. Foreign bytes: every read is checked, nothing is trusted.
 * Tables are read when first asked for, so that opening a 150 MB node costs next to nothing. */
#ifndef RAY_ELF_ELF_H
#define RAY_ELF_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct ray_elf;

struct ray_symbol {
	const char *name; /* mangled; owned by the ray_elf */
	uint64_t value;	  /* vaddr; for TLS symbols the offset in the TLS segment */
	uint64_t size;
	unsigned char type; /* STT_* */
	unsigned char bind; /* STB_* */
};

RAY_MUST_USE struct ray_error *ray_elf_open(const char *path, struct ray_elf **ret);
/* Takes the fd over, also on failure. name is for messages only. */
RAY_MUST_USE struct ray_error *ray_elf_open_fd(int fd, const char *name, struct ray_elf **ret);
/* An image that lies in memory, such as the vdso; copies it. */
RAY_MUST_USE struct ray_error *ray_elf_open_image(const void *image, size_t size, const char *name,
						  struct ray_elf **ret);
void ray_elf_close(struct ray_elf *e);
RAY_DEFINE_AUTO(ray_elf, ray_elf_close)

const char *ray_elf_name(const struct ray_elf *e);
bool ray_elf_is_stripped(struct ray_elf *e); /* has no .symtab */
/* NULL if there is none. */
const uint8_t *ray_elf_build_id(struct ray_elf *e, size_t *size_ret);
/* Build-id as hex, "" if none. */
const char *ray_elf_build_id_text(struct ray_elf *e);

/* Finds a symbol by its exact (mangled) name, in .symtab or .dynsym. */
bool ray_elf_find_symbol(struct ray_elf *e, const char *name, struct ray_symbol *ret);
/* Like it, but in .dynsym by its hash table only: cheap, and enough to recognise a node. */
bool ray_elf_find_dynamic(struct ray_elf *e, const char *name, struct ray_symbol *ret);
/* Calls each() for every defined symbol of .symtab (.dynsym if stripped, and what a debug file of the same
 * build-id or .gnu_debugdata adds); stops when it returns false. */
void ray_elf_each_symbol(struct ray_elf *e, bool (*each)(const struct ray_symbol *s, void *arg), void *arg);
/* The function (or other sized or label symbol) that covers vaddr. False if none does. A label without a
 * size is given the one that it has up to the next symbol. Of aliases the one people know: poll, not __poll. */
bool ray_elf_symbol_at(struct ray_elf *e, uint64_t vaddr, struct ray_symbol *ret);

/* Copies bytes of the image as a program finds them when it starts, zeros of .bss too; returns how many could be had from vaddr on. */
size_t ray_elf_read(struct ray_elf *e, uint64_t vaddr, void *buffer, size_t size);
/* A variable as the program starts with it: zero where the file only sets memory aside (.bss). */
bool ray_elf_read_int(struct ray_elf *e, uint64_t vaddr, int32_t *ret);
/* A pointer in the image, as the file's own vaddr: in a library the dynamic linker puts it there when the program starts. */
bool ray_elf_read_pointer(struct ray_elf *e, uint64_t vaddr, uint64_t *ret);
/* Copies bytes at a file offset; returns how many. */
size_t ray_elf_read_file(struct ray_elf *e, uint64_t offset, void *buffer, size_t size);
/* The whole file, mapped; for searches. */
const void *ray_elf_bytes(struct ray_elf *e, size_t *size_ret);
/* Section contents by name (".rodata"); false if there is none or it has no bytes. */
bool ray_elf_section(struct ray_elf *e, const char *name, const void **bytes_ret, size_t *size_ret,
		     uint64_t *vaddr_ret);
bool ray_elf_offset_to_vaddr(struct ray_elf *e, uint64_t offset, uint64_t *ret);
bool ray_elf_vaddr_to_offset(struct ray_elf *e, uint64_t vaddr, uint64_t *ret);
/* Size of the TLS block, rounded up to its alignment; 0 if none. */
uint64_t ray_elf_tls_size(struct ray_elf *e);

#endif
