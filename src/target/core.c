/* core.c - a core file as a target: is it one, of this machine, and where is its memory?
 * SPDX-License-Identifier: MIT
 *
 * See core.h for how the work is split. Knows ELF cores of 64-bit x86 Linux, as the kernel, gdb,
 * lldb and noderay write them, plain or packed. */
#include "target/core.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/text.h"
#include "target/spool.h"

enum {
	MAX_HEADERS = 1 << 21,	 /* vm.max_map_count is rarely past a million */
	MAX_NOTE_SEGMENTS = 64,	 /* writers make one */
	NOTE_BUDGET = 256 << 20, /* bytes of notes walked; ten thousand threads take a fifth of it */
	MAX_SHARED = 4,		 /* times the file's size: what all segments together may take from it */
};

static const uint64_t user_end = 1ull << 56; /* with five levels of page tables */
static const uint64_t vsyscall = 0xffffffffff600000, vsyscall_size = 4096;

static const struct {
	unsigned machine;
	const char *name;
} machines[] = {
	{ EM_386, "32-bit x86" }, { EM_ARM, "32-bit ARM" },	 { EM_AARCH64, "64-bit ARM (aarch64)" },
	{ EM_PPC64, "ppc64" },	  { EM_S390, "s390" },		 { EM_RISCV, "RISC-V" },
	{ EM_MIPS, "MIPS" },	  { EM_LOONGARCH, "LoongArch" },
};

static struct ray_error *check_machine(const Elf64_Ehdr *h)
{
	if (h->e_ident[EI_DATA] != ELFDATA2LSB)
		return ray_error_new(RAY_UNREADABLE, "is an ELF file of a big-endian machine; noderay reads x86-64");
	for (size_t i = 0; i < RAY_COUNT(machines); i++) {
		if (h->e_machine == machines[i].machine)
			return ray_error_new(RAY_UNREADABLE, "is from %s; noderay reads cores of x86-64 only",
					     machines[i].name);
	}
	if (h->e_ident[EI_CLASS] == ELFCLASS32)
		return ray_error_new(RAY_UNREADABLE, "is from a 32-bit program; noderay reads 64-bit ones");
	if (h->e_machine != EM_X86_64)
		return ray_error_new(RAY_UNREADABLE, "is from a foreign machine (ELF machine %u); noderay reads x86-64",
				     h->e_machine);
	return NULL;
}

static struct ray_error *check_type(const Elf64_Ehdr *h)
{
	static const char *const types[] = { "an ELF file of no type", "an ELF object file", "an ELF executable",
					     "an ELF executable or library" };

	if (h->e_type == ET_CORE)
		return NULL;
	return ray_error_remedy(ray_error_new(RAY_UNREADABLE, "is %s, not a core",
					      h->e_type < RAY_COUNT(types) ? types[h->e_type] : "an ELF file"),
				"give a core file, or the pid of a running node");
}

static struct ray_error *check_not_elf(const unsigned char *bytes, size_t size)
{
	if (!size)
		return ray_error_remedy(ray_error_new(RAY_UNREADABLE, "is empty"),
					"was the disk full, or `ulimit -c` too low, when the core was written?");
	if (size >= 4 && !memcmp(bytes, "MDMP", 4))
		return ray_error_remedy(ray_error_new(RAY_UNREADABLE, "is a minidump, not an ELF core"),
					"take a core with `noderay core PID` or gcore");
	if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG))
		return ray_error_new(RAY_UNREADABLE, "is not a core file");
	if (size < sizeof(Elf64_Ehdr))
		return ray_error_new(RAY_UNREADABLE, "is cut inside its ELF header");
	return NULL;
}

/* e_type and e_machine lie at the same place in 32-bit headers. */
static struct ray_error *check_header(const unsigned char *bytes, size_t size)
{
	struct ray_error *err = check_not_elf(bytes, size);
	Elf64_Ehdr h;

	if (err)
		return err;
	memcpy(&h, bytes, sizeof(h));
	if (h.e_ident[EI_DATA] == ELFDATA2LSB) {
		err = check_type(&h);
		if (err)
			return err;
	}
	err = check_machine(&h);
	if (err)
		return err;
	if (h.e_ident[EI_OSABI] != ELFOSABI_NONE && h.e_ident[EI_OSABI] != ELFOSABI_LINUX)
		return ray_error_new(RAY_UNREADABLE, "is a core of another system than Linux (ELF OS ABI %u)",
				     h.e_ident[EI_OSABI]);
	if (h.e_phentsize != sizeof(Elf64_Phdr) || !h.e_phoff)
		return ray_error_new(RAY_UNREADABLE, "has a damaged ELF header: no program headers");
	return NULL;
}

/* O_NONBLOCK: a FIFO must not make us wait for a writer. */
static struct ray_error *open_regular(const char *path, int *ret)
{
	ray_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return ray_error_remedy(
			ray_error_new(RAY_FAILED, "no such process or file"),
			"a target is a PID, /proc/PID, PID/TID or a core file; `noderay ps` lists what runs");
	if (fd < 0 || fstat(fd, &st))
		return ray_error_errno(RAY_FAILED, errno, "cannot be opened");
	if (S_ISDIR(st.st_mode))
		return ray_error_new(RAY_UNREADABLE, "is a directory, not a core file");
	if (!S_ISREG(st.st_mode))
		return ray_error_new(RAY_UNREADABLE, "is not a regular file");
	*ret = fd;
	fd = -1;
	return NULL;
}

/* fd becomes that of the unpacked file. */
static struct ray_error *unpack(struct ray_target *t, const char *path, enum ray_packing packing, int *fd)
{
	const char *slash = strrchr(path, '/');
	struct ray_spool spool = { slash ? slash + 1 : path, check_header };
	ray_auto_memory char *trouble = NULL;
	struct ray_error *err;
	int unpacked = -1;

	if (packing > RAY_PACKED_XZ)
		return ray_error_remedy(ray_error_new(RAY_UNREADABLE, "is packed with %s, which noderay cannot read",
						      ray_packing_name(packing)),
					"unpack it first");
	err = ray_spool_unpack(&spool, *fd, packing, &unpacked, &trouble);
	if (err)
		return err;
	close(*fd);
	*fd = unpacked;
	if (trouble)
		ray_target_warn(t, "%s", trouble);
	return NULL;
}

static struct ray_error *open_bytes(struct ray_target *t, const char *path)
{
	unsigned char start[sizeof(Elf64_Ehdr)];
	enum ray_packing packing;
	struct ray_error *err;
	ray_auto_fd int fd = -1;
	ssize_t n;
	int given;

	err = open_regular(path, &fd);
	if (err)
		return err;
	n = pread(fd, start, sizeof(start), 0);
	if (n < 0)
		return ray_error_errno(RAY_FAILED, errno, "cannot be read");
	packing = ray_packing_of(start, (size_t)n);
	err = packing == RAY_PACKED_NOT ? check_header(start, (size_t)n) : unpack(t, path, packing, &fd);
	if (err)
		return err;
	given = fd;
	fd = -1;
	core_of(t)->bytes = ray_bytes_open(given);
	return core_of(t)->bytes ? NULL : &ray_enomem;
}

/* Past 65534 segments their number stands in the first section header, which the kernel writes at the
 * file's end. When that is cut off, the headers end where the notes, which follow them, begin. */
static uint64_t count_headers(struct core *c, const Elf64_Ehdr *h)
{
	Elf64_Shdr section;
	Elf64_Phdr first;

	if (h->e_phnum != PN_XNUM)
		return h->e_phnum;
	if (h->e_shoff && ray_bytes_read(c->bytes, h->e_shoff, &section, sizeof(section)) == sizeof(section) &&
	    section.sh_info)
		return section.sh_info;
	if (ray_bytes_read(c->bytes, h->e_phoff, &first, sizeof(first)) == sizeof(first) && first.p_type == PT_NOTE &&
	    first.p_offset > h->e_phoff)
		return (first.p_offset - h->e_phoff) / sizeof(first);
	return h->e_phnum;
}

/* Some writers say nothing of memory beyond what they wrote. */
static uint64_t claimed_size(const Elf64_Phdr *p)
{
	return p->p_memsz > p->p_filesz ? p->p_memsz : p->p_filesz;
}

/* How much of that a program can have had at this address. */
static uint64_t possible_size(const Elf64_Phdr *p)
{
	uint64_t limit = p->p_vaddr == vsyscall ? vsyscall + vsyscall_size : user_end;

	return p->p_vaddr >= limit ? 0 : core_min(claimed_size(p), limit - p->p_vaddr);
}

/* A damaged header may claim all of memory, and many of them the same bytes of the file. Whoever reads all
 * that the core holds must come to an end, so together they get a few times the file's size; the
 * first get it, because headers that are none (their number is damaged) come last. */
static bool add_segment(struct core *c, const Elf64_Phdr *p, uint64_t *budget)
{
	uint64_t size = ray_bytes_size(c->bytes), held;
	struct core_segment s = { .start = p->p_vaddr, .offset = p->p_offset };

	s.end = s.start + possible_size(p);
	s.promised = core_min(p->p_filesz, s.end - s.start);
	held = p->p_offset >= size ? 0 : core_min(s.promised, size - p->p_offset);
	s.dumped = core_min(held, *budget);
	*budget -= s.dumped;
	c->damaged_headers += s.end - s.start < claimed_size(p) || s.dumped < held;
	s.prot = (p->p_flags & PF_R ? PROT_READ : 0) | (p->p_flags & PF_W ? PROT_WRITE : 0) |
		 (p->p_flags & PF_X ? PROT_EXEC : 0);
	return s.end == s.start || ray_vec_push(&c->segments, s);
}

static int compare_segments(const void *a, const void *b)
{
	const struct core_segment *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Only damaged cores have overlaps: what starts later wins, so that each address has one place. */
static void cut_overlaps(struct core *c)
{
	size_t kept = 0;

	if (c->segments.n)
		qsort(c->segments.at, c->segments.n, sizeof(*c->segments.at), compare_segments);
	for (size_t i = 0; i < c->segments.n; i++) {
		struct core_segment s = c->segments.at[i];

		if (i + 1 < c->segments.n && c->segments.at[i + 1].start < s.end)
			s.end = c->segments.at[i + 1].start;
		s.promised = core_min(s.promised, s.end - s.start);
		s.dumped = core_min(s.dumped, s.promised);
		if (s.end == s.start)
			continue;
		c->lost += s.promised - s.dumped;
		c->segments.at[kept++] = s;
	}
	c->segments.n = kept;
}

struct budget {
	uint64_t memory, notes; /* bytes */
	size_t note_segments;
};

static struct ray_error *take_header(struct ray_target *t, const Elf64_Phdr *p, struct budget *left)
{
	struct core *c = core_of(t);

	if (p->p_type == PT_LOAD && !add_segment(c, p, &left->memory))
		return &ray_enomem;
	if (p->p_type != PT_NOTE)
		return NULL;
	if (left->note_segments) {
		left->note_segments--;
		return core_load_notes(t, p->p_offset, p->p_filesz, &left->notes);
	}
	c->damaged_headers++;
	return NULL;
}

static void warn_of_headers(struct ray_target *t, uint64_t found, uint64_t count)
{
	const struct core *c = core_of(t);

	if (found == MAX_HEADERS && found < count)
		ray_target_warn(t, "the core claims %llu program headers: only the first %llu are read",
				(unsigned long long)count, (unsigned long long)found);
	else if (found < count)
		ray_target_warn(t, "the core is cut: only %llu of its %llu program headers are there",
				(unsigned long long)found, (unsigned long long)count);
	if (c->damaged_headers)
		ray_target_warn(t, "the core is damaged: %zu of its %llu program headers make no sense",
				c->damaged_headers, (unsigned long long)count);
}

static struct ray_error *load_headers(struct ray_target *t)
{
	struct core *c = core_of(t);
	struct budget left = { MAX_SHARED * ray_bytes_size(c->bytes), NOTE_BUDGET, MAX_NOTE_SEGMENTS };
	struct ray_error *err = NULL;
	uint64_t count, i;
	Elf64_Ehdr h;
	Elf64_Phdr p;

	if (ray_bytes_read(c->bytes, 0, &h, sizeof(h)) != sizeof(h))
		return ray_error_new(RAY_UNREADABLE, "cannot be read");
	count = count_headers(c, &h);
	for (i = 0; i < core_min(count, MAX_HEADERS) && !err; i++) {
		if (h.e_phoff > UINT64_MAX - i * sizeof(p) ||
		    ray_bytes_read(c->bytes, h.e_phoff + i * sizeof(p), &p, sizeof(p)) != sizeof(p))
			break;
		err = take_header(t, &p, &left);
	}
	if (err)
		return err;
	if (!i)
		return ray_error_new(RAY_UNREADABLE, "is cut right after its ELF header");
	warn_of_headers(t, i, count);
	cut_overlaps(c);
	return core_unite_threads(t);
}

static const char *core_note(struct ray_target *t, const char *name)
{
	const struct core *c = core_of(t);

	for (size_t i = 0; i < c->notes.n; i++) {
		if (!strcmp(c->notes.at[i].name, name))
			return c->notes.at[i].text;
	}
	return NULL;
}

static void core_close(struct ray_target *t)
{
	struct core *c = core_of(t);

	if (!c)
		return;
	for (size_t i = 0; i < c->files.n; i++)
		ray_bytes_close(c->files.at[i].bytes);
	ray_bytes_close(c->bytes);
	ray_vec_free(&c->segments);
	ray_vec_free(&c->mappings);
	ray_vec_free(&c->files);
	ray_vec_free(&c->threads);
	ray_vec_free(&c->notes);
	free(c);
}

static const struct ray_target_ops core_ops = {
	.read = core_read,
	.load_maps = core_load_maps,
	.load_threads = core_load_threads,
	.args = core_args,
	.env = core_env,
	.auxv = core_load_auxv,
	.open_module = core_open_module,
	.note = core_note,
	.dumped_runs = core_dumped_runs,
	.close = core_close,
};

/* Which mappings are hit, the first few by name. */
static void warn_of_loss(struct ray_target *t)
{
	ray_auto_text hit = { 0 };
	struct core *c = core_of(t);
	size_t count = 0;

	for (size_t i = 0; i < c->segments.n; i++) {
		const struct core_segment *s = &c->segments.at[i];
		const struct core_mapping *m;

		if (s->dumped == s->promised || count++ >= 3)
			continue;
		m = core_find_mapping(c, s->start);
		ray_text_printf(&hit, "%s%#llx", count > 1 ? ", " : "", (unsigned long long)s->start);
		if (m)
			ray_text_printf(&hit, " %s", c->files.at[m->file].shown);
	}
	if (count)
		ray_target_warn(t, "the core is cut: %llu bytes are missing, in %zu mapping%s (%s%s)",
				(unsigned long long)c->lost, count, count == 1 ? "" : "s", ray_text_get(&hit),
				count > 3 ? ", ..." : "");
}

/* Every stack has been written to: when one is not in the core, coredump_filter has kept private memory out. */
static void find_private(struct ray_target *t)
{
	struct core *c = core_of(t);
	uint64_t stack = core_auxv(c, AT_RANDOM);
	const struct core_segment *s;

	if (!stack && c->threads.n)
		stack = c->threads.at[0].registers.rsp;
	s = stack ? core_find_segment(c, stack) : NULL;
	c->no_private = s && !s->promised;
	if (c->no_private)
		ray_target_warn(
			t, "the core holds no private memory (coredump_filter left it out): stacks and heap cannot "
			   "be read");
}

static void warn_of_gaps(struct ray_target *t)
{
	const struct core *c = core_of(t);

	if (!c->threads.n)
		ray_target_warn(t, "the core names no threads: there are no registers to start a stack from");
	if (!c->mappings.n)
		ray_target_warn(t, "the core names no files (it has no NT_FILE note)");
}

struct ray_error *ray_core_init(struct ray_target *t, const char *path)
{
	struct core *c = calloc(1, sizeof(*c));
	struct ray_error *err;

	if (!c)
		return &ray_enomem;
	t->data = c;
	t->ops = &core_ops;
	t->kind = RAY_TARGET_CORE;
	err = open_bytes(t, path);
	if (!err)
		err = load_headers(t);
	if (err)
		return err;
	err = core_check_files(t);
	if (err)
		return err;
	warn_of_loss(t);
	warn_of_gaps(t);
	find_private(t);
	return NULL;
}
