/* fake_core.h - builds small ELF files and cores in memory, for tests. SPDX-License-Identifier: MIT
 *
 * A fake core has one thread per id, the program mapped from a file (its first page dumped, the rest
 * not), anonymous memory, and a stack with arguments and environment as the kernel makes it. */
#ifndef RAY_TESTS_FAKE_CORE_H
#define RAY_TESTS_FAKE_CORE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/procfs.h>

#include "base/text.h"

enum {
	FAKE_PAGE = 4096,
	FAKE_PROGRAM = 0x400000, /* where the program is mapped: two pages, of which the first is dumped */
	FAKE_DATA = 0x600000,	 /* one anonymous page of 'd' */
	FAKE_HOLE = 0x700000,	 /* one anonymous page that is not dumped */
	FAKE_PID = 4711,
};
static const uint64_t fake_stack = 0x7ffffff00000; /* two pages */

struct fake_core {
	const char *program;	 /* path for NT_FILE; NULL: no NT_FILE */
	const uint8_t *build_id; /* 20 bytes; NULL: the program has none */
	const int *tids;	 /* ends with 0 */
	const char *const *args, *const *env;
	const char *own_name, *own_text; /* noderay's own note; NULL: none */
	bool extended;			 /* number of program headers in the section header, as past 65534 */
	bool no_stack;
};

static const uint8_t fake_id[20] = "0123456789abcdefghi";

/* A program of two pages: headers and build-id in the first, 't's in the second. */
static inline void fake_program(struct ray_text *out, const uint8_t *build_id)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr load, note;
		Elf64_Nhdr note_header;
		char owner[4];
		uint8_t id[20];
	} p = {
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_EXEC,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_entry = FAKE_PROGRAM + FAKE_PAGE,
			    .e_phoff = sizeof(Elf64_Ehdr),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 2 },
		.load = { .p_type = PT_LOAD,
			  .p_flags = PF_R | PF_X,
			  .p_vaddr = FAKE_PROGRAM,
			  .p_filesz = 2 * FAKE_PAGE,
			  .p_memsz = 2 * FAKE_PAGE },
		.note = { .p_type = PT_NOTE, .p_flags = PF_R },
		.note_header = { 4, 20, NT_GNU_BUILD_ID },
		.owner = "GNU",
	};

	if (build_id)
		memcpy(p.id, build_id, sizeof(p.id));
	else
		p.note.p_type = PT_NULL;
	p.note.p_offset = sizeof(p.header) + sizeof(p.load) + sizeof(p.note);
	p.note.p_vaddr = FAKE_PROGRAM + p.note.p_offset;
	p.note.p_filesz = p.note.p_memsz = sizeof(p.note_header) + sizeof(p.owner) + sizeof(p.id);
	ray_text_add_bytes(out, &p, sizeof(p));
	while (out->length < FAKE_PAGE)
		ray_text_add_bytes(out, "", 1);
	while (out->length < 2 * FAKE_PAGE)
		ray_text_add_bytes(out, "t", 1);
}

static inline void fake_note(struct ray_text *out, const char *owner, uint32_t type, const void *bytes, size_t size)
{
	Elf64_Nhdr h = { (Elf64_Word)strlen(owner) + 1, (Elf64_Word)size, type };

	ray_text_add_bytes(out, &h, sizeof(h));
	ray_text_add_bytes(out, owner, h.n_namesz);
	while (out->length % 4)
		ray_text_add_bytes(out, "", 1);
	ray_text_add_bytes(out, bytes, size);
	while (out->length % 4)
		ray_text_add_bytes(out, "", 1);
}

/* The auxiliary vector; the path that was executed lies at the very end of the stack. */
static inline size_t fake_auxv(Elf64_auxv_t out[8])
{
	size_t n = 0;

	out[n++] = (Elf64_auxv_t){ AT_PHDR, { FAKE_PROGRAM + sizeof(Elf64_Ehdr) } };
	out[n++] = (Elf64_auxv_t){ AT_PHNUM, { 2 } };
	out[n++] = (Elf64_auxv_t){ AT_ENTRY, { FAKE_PROGRAM + FAKE_PAGE } };
	out[n++] = (Elf64_auxv_t){ AT_RANDOM, { fake_stack + 2 * FAKE_PAGE - 64 } };
	out[n++] = (Elf64_auxv_t){ AT_EXECFN, { fake_stack + 2 * FAKE_PAGE - 16 } };
	out[n] = (Elf64_auxv_t){ AT_NULL, { 0 } };
	return n;
}

/* Fills the two pages at fake_stack as the kernel does; argc is at the second page's start. */
static inline void fake_fill_stack(unsigned char stack[2 * FAKE_PAGE], const char *const *args, const char *const *env)
{
	uint64_t *word = (uint64_t *)(void *)(stack + FAKE_PAGE), *argc = word++;
	size_t at = 2 * FAKE_PAGE - 16, n, i, length = 0;
	Elf64_auxv_t auxv[8];

	memset(stack, 0, 2 * FAKE_PAGE);
	memcpy(stack + at, "/bin/fake", 10);
	for (i = 0; args[i]; i++)
		length += strlen(args[i]) + 1;
	for (i = 0; env[i]; i++)
		length += strlen(env[i]) + 1;
	at -= length;
	for (*argc = 0; args[*argc]; at += strlen(args[(*argc)++]) + 1) {
		strcpy((char *)stack + at, args[*argc]);
		*word++ = fake_stack + at;
	}
	*word++ = 0;
	for (i = 0; env[i]; at += strlen(env[i++]) + 1) {
		strcpy((char *)stack + at, env[i]);
		*word++ = fake_stack + at;
	}
	*word++ = 0;
	n = fake_auxv(auxv);
	memcpy(word, auxv, (n + 1) * sizeof(*auxv));
}

static inline void fake_notes(struct ray_text *out, const struct fake_core *f)
{
	struct elf_prpsinfo process = { .pr_pid = FAKE_PID, .pr_fname = "fake", .pr_psargs = "fake from the kernel" };
	Elf64_auxv_t auxv[8];
	ray_auto_text files = { 0 }, own = { 0 };
	size_t n = fake_auxv(auxv);

	for (size_t i = 0; f->tids[i]; i++) {
		struct elf_prstatus s = { .pr_pid = f->tids[i], .pr_cursig = i ? 0 : 6 };

		s.pr_reg[16] = 0x1000 + (elf_greg_t)i; /* rip */
		fake_note(out, "CORE", NT_PRSTATUS, &s, sizeof(s));
		if (!i)
			fake_note(out, "CORE", NT_PRPSINFO, &process, sizeof(process));
	}
	fake_note(out, "CORE", NT_AUXV, auxv, (n + 1) * sizeof(*auxv));
	if (f->program) {
		uint64_t words[] = { 1, FAKE_PAGE, FAKE_PROGRAM, FAKE_PROGRAM + 2 * FAKE_PAGE, 0 };

		ray_text_add_bytes(&files, words, sizeof(words));
		ray_text_add_bytes(&files, f->program, strlen(f->program) + 1);
		fake_note(out, "CORE", NT_FILE, files.bytes, files.length);
	}
	if (f->own_name) {
		ray_text_add_bytes(&own, f->own_name, strlen(f->own_name) + 1);
		ray_text_add(&own, f->own_text);
		fake_note(out, "noderay", 1, own.bytes, own.length);
	}
}

static inline void fake_core_build(struct ray_text *out, const struct fake_core *f)
{
	enum { SEGMENTS = 4, HEADERS = SEGMENTS + 1 };
	ray_auto_text notes = { 0 }, program = { 0 };
	unsigned char stack[2 * FAKE_PAGE], data[FAKE_PAGE];
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_CORE,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_phoff = sizeof(h),
			 .e_ehsize = sizeof(h),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = f->extended ? PN_XNUM : HEADERS };
	Elf64_Phdr p[HEADERS] = {
		{ .p_type = PT_NOTE },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_vaddr = FAKE_PROGRAM,
		  .p_filesz = FAKE_PAGE,
		  .p_memsz = 2 * FAKE_PAGE },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_W,
		  .p_vaddr = FAKE_DATA,
		  .p_filesz = FAKE_PAGE,
		  .p_memsz = FAKE_PAGE },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = FAKE_HOLE, .p_memsz = FAKE_PAGE },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_W,
		  .p_vaddr = fake_stack,
		  .p_filesz = f->no_stack ? 0 : 2 * FAKE_PAGE,
		  .p_memsz = 2 * FAKE_PAGE },
	};
	Elf64_Shdr section = { .sh_info = HEADERS };
	uint64_t at;

	fake_notes(&notes, f);
	fake_program(&program, f->build_id);
	memset(data, 'd', sizeof(data));
	fake_fill_stack(stack, f->args, f->env);
	p[0].p_offset = sizeof(h) + sizeof(p);
	p[0].p_filesz = notes.length;
	at = (p[0].p_offset + notes.length + FAKE_PAGE - 1) / FAKE_PAGE * FAKE_PAGE;
	for (size_t i = 1; i < HEADERS; at += p[i++].p_filesz)
		p[i].p_offset = at;
	h.e_shoff = f->extended ? at : 0;
	ray_text_add_bytes(out, &h, sizeof(h));
	ray_text_add_bytes(out, p, sizeof(p));
	ray_text_add_bytes(out, notes.bytes, notes.length);
	while (out->length % FAKE_PAGE)
		ray_text_add_bytes(out, "", 1);
	ray_text_add_bytes(out, program.bytes, FAKE_PAGE);
	ray_text_add_bytes(out, data, sizeof(data));
	ray_text_add_bytes(out, stack, p[4].p_filesz);
	if (f->extended)
		ray_text_add_bytes(out, &section, sizeof(section));
}

#endif
