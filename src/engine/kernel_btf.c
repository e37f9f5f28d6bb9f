/* kernel_btf.c - offsets of members, from raw BTF; see kernel_btf.h. SPDX-License-Identifier: MIT */
#include "engine/kernel_btf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/vec.h"

static const char running[] = "/sys/kernel/btf/vmlinux";
enum { SIZE_MAX_ = 256 << 20, DEPTH_MAX = 8 };

struct ray_kernel_btf {
	char *bytes;
	size_t size;
	bool is_mapped; /* else the bytes are on the heap */
	const char *strings;
	size_t strings_size;
	RAY_VEC(uint32_t) types;      /* by id: where in bytes; [0] is void */
	RAY_VEC(uint32_t) structures; /* those with members and a name: ids */
};

void ray_kernel_btf_free(struct ray_kernel_btf *b)
{
	if (!b)
		return;
	if (b->is_mapped)
		munmap(b->bytes, b->size);
	else
		free(b->bytes);
	ray_vec_free(&b->types);
	ray_vec_free(&b->structures);
	free(b);
}

/* Since Linux 6.16 the kernel's own can be mapped, which saves a copy of several MiB. Other files may shrink under us. */
static bool map_all(int fd, size_t size, struct ray_kernel_btf *b)
{
	void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (p == MAP_FAILED)
		return false;
	b->bytes = p;
	b->size = size;
	b->is_mapped = true;
	return true;
}

/* The file of sysfs tells its size; a read that brings less is an error, not a shorter table. */
static struct ray_error *read_all(const char *path, struct ray_kernel_btf *b)
{
	ray_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t got;

	if (fd < 0 && errno == ENOENT)
		return ray_error_remedy(ray_error_new(RAY_FAILED, "this kernel tells no types: there is no %s", path),
					"a kernel built with CONFIG_DEBUG_INFO_BTF=y has it");
	if (fd < 0 || fstat(fd, &st))
		return ray_error_errno(RAY_FAILED, errno, "%s", path);
	if (st.st_size < (off_t)sizeof(struct btf_header) || st.st_size > SIZE_MAX_)
		return ray_error_new(RAY_FAILED, "%s: a size of %lld bytes", path, (long long)st.st_size);
	if (path == running && map_all(fd, (size_t)st.st_size, b))
		return NULL;
	b->bytes = malloc((size_t)st.st_size);
	if (!b->bytes)
		return &ray_enomem;
	while (b->size < (size_t)st.st_size) {
		got = read(fd, b->bytes + b->size, (size_t)st.st_size - b->size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return ray_error_errno(RAY_FAILED, got ? errno : EIO, "%s", path);
		b->size += (size_t)got;
	}
	return NULL;
}

/* Bytes that follow struct btf_type; -1 for a kind that is not known: its size cannot be. */
static int64_t tail_size(const struct btf_type *type)
{
	uint64_t n = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return (int64_t)(n * sizeof(struct btf_member));
	case BTF_KIND_ENUM:
		return (int64_t)(n * sizeof(struct btf_enum));
	case BTF_KIND_ENUM64:
	case BTF_KIND_DATASEC:
		return (int64_t)(n * 12);
	case BTF_KIND_FUNC_PROTO:
		return (int64_t)(n * sizeof(struct btf_param));
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	}
	return -1;
}

static bool is_composite(const struct btf_type *type)
{
	return BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT || BTF_INFO_KIND(type->info) == BTF_KIND_UNION;
}

static struct ray_error *index_types(struct ray_kernel_btf *b)
{
	struct btf_header head;
	size_t at, end;

	memcpy(&head, b->bytes, sizeof(head));
	if (head.magic != BTF_MAGIC || head.hdr_len > b->size || head.type_off > b->size - head.hdr_len ||
	    head.type_len > b->size - head.hdr_len - head.type_off || head.str_off > b->size - head.hdr_len ||
	    head.str_len > b->size - head.hdr_len - head.str_off || !head.str_len || head.type_off % 4)
		return ray_error_new(RAY_FAILED, "the kernel's BTF has a head that does not hold");
	b->strings = b->bytes + head.hdr_len + head.str_off;
	b->strings_size = head.str_len;
	if (b->strings[b->strings_size - 1])
		return ray_error_new(RAY_FAILED, "the kernel's BTF has an unfinished string");
	if (!ray_vec_push(&b->types, 0))
		return &ray_enomem;
	at = head.hdr_len + head.type_off;
	end = at + head.type_len;
	while (end - at >= sizeof(struct btf_type)) {
		const struct btf_type *type = (const void *)(b->bytes + at);
		int64_t tail = tail_size(type);

		if (tail < 0 || (uint64_t)tail > end - at - sizeof(*type))
			return ray_error_new(RAY_FAILED, "the kernel's BTF has a type that is not understood (kind %u)",
					     BTF_INFO_KIND(type->info));
		if (tail && type->name_off && is_composite(type) && !ray_vec_push(&b->structures, (uint32_t)b->types.n))
			return &ray_enomem;
		if (!ray_vec_push(&b->types, (uint32_t)at))
			return &ray_enomem;
		at += sizeof(*type) + (size_t)tail;
	}
	return NULL;
}

struct ray_error *ray_kernel_btf_create(const char *path, struct ray_kernel_btf **ret)
{
	ray_auto(ray_kernel_btf, b) = calloc(1, sizeof(*b));
	struct ray_error *err;

	if (!b)
		return &ray_enomem;
	err = read_all(path ? path : running, b);
	if (!err)
		err = index_types(b);
	if (err)
		return err;
	*ret = ray_take(b);
	return NULL;
}

static const struct btf_type *type_get(const struct ray_kernel_btf *b, uint32_t id)
{
	return id && id < b->types.n ? (const void *)(b->bytes + b->types.at[id]) : NULL;
}

static const char *name_get(const struct ray_kernel_btf *b, uint32_t at)
{
	return at < b->strings_size ? b->strings + at : "";
}

/* Through typedefs and qualifiers to a structure; NULL when it is none. */
static const struct btf_type *composite_get(const struct ray_kernel_btf *b, uint32_t id)
{
	const struct btf_type *type = type_get(b, id);

	for (int i = 0; type && i < 2 * DEPTH_MAX; i++) {
		switch (BTF_INFO_KIND(type->info)) {
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
			return type;
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_TYPE_TAG:
			type = type_get(b, type->type);
			break;
		default:
			return NULL;
		}
	}
	return NULL;
}

static bool find_member(const struct ray_kernel_btf *b, const struct btf_type *type, const char *path, int depth,
			uint32_t *bits_ret)
{
	const struct btf_member *m = (const void *)(type + 1);
	size_t length = strcspn(path, ".");
	const struct btf_type *inner;
	uint32_t bits;

	for (uint32_t i = 0; depth < DEPTH_MAX && i < BTF_INFO_VLEN(type->info); i++) {
		const char *name = name_get(b, m[i].name_off);
		bool is_it = !strncmp(name, path, length) && !name[length];

		bits = BTF_INFO_KFLAG(type->info) ? BTF_MEMBER_BIT_OFFSET(m[i].offset) : m[i].offset;
		if (is_it && !path[length]) {
			*bits_ret += bits;
			return true;
		}
		if (!is_it && *name)
			continue;
		inner = composite_get(b, m[i].type);
		*bits_ret += bits;
		if (inner && find_member(b, inner, is_it ? path + length + 1 : path, depth + 1, bits_ret))
			return true;
		*bits_ret -= bits;
	}
	return false;
}

struct ray_error *ray_kernel_btf_typedef(const struct ray_kernel_btf *b, const char *name, uint32_t *ret)
{
	for (uint32_t id = 1; id < b->types.n; id++) {
		const struct btf_type *type = type_get(b, id);

		if (BTF_INFO_KIND(type->info) == BTF_KIND_TYPEDEF && !strcmp(name_get(b, type->name_off), name)) {
			*ret = id;
			return NULL;
		}
	}
	return ray_error_new(RAY_FAILED, "this kernel has no type %s", name);
}

struct ray_error *ray_kernel_btf_offset(const struct ray_kernel_btf *b, const char *type, const char *member,
					uint32_t *ret)
{
	for (size_t i = 0; i < b->structures.n; i++) {
		const struct btf_type *t = type_get(b, b->structures.at[i]);
		uint32_t bits = 0;

		if (strcmp(name_get(b, t->name_off), type) != 0)
			continue;
		if (find_member(b, t, member, 0, &bits)) {
			*ret = bits / 8;
			return NULL;
		}
	}
	return ray_error_new(RAY_FAILED, "this kernel's struct %s has no member %s", type, member);
}
