/* node_codes.c - see node_codes.h. SPDX-License-Identifier: MIT */
#include "probe/node_codes.h"

#include <stdio.h>

/* By uv_fs_type: libuv's own names. */
static const char *const operations[RAY_NODE_OPERATIONS] = {
	[1] = "open",	   [2] = "close",    [3] = "read",	[4] = "write",	    [5] = "sendfile",  [6] = "stat",
	[7] = "lstat",	   [8] = "fstat",    [9] = "ftruncate", [10] = "utime",	    [11] = "futime",   [12] = "access",
	[13] = "chmod",	   [14] = "fchmod",  [15] = "fsync",	[16] = "fdatasync", [17] = "unlink",   [18] = "rmdir",
	[19] = "mkdir",	   [20] = "mkdtemp", [21] = "rename",	[22] = "scandir",   [23] = "link",     [24] = "symlink",
	[25] = "readlink", [26] = "chown",   [27] = "fchown",	[28] = "realpath",  [29] = "copyfile", [30] = "lchown",
	[31] = "opendir",  [32] = "readdir", [33] = "closedir", [34] = "statfs",    [35] = "mkstemp",  [36] = "lutime",
};

/* By enum ray_node_code. */
static const struct ray_node_want codes[RAY_NODE_CODES] = {
	[RAY_CODE_FS_WORK] = { { "uv__fs_work" } },
	[RAY_CODE_ADDRINFO_WORK] = { { "uv__getaddrinfo_work" } },
	[RAY_CODE_NAMEINFO_WORK] = { { "uv__getnameinfo_work" } },
	[RAY_CODE_QUEUE_WORK] = { { "uv__queue_work" } },
	[RAY_CODE_RANDOM_WORK] = { { "uv__random_work" } },
	/* The function that ThreadPoolWork::ScheduleWork()'s first lambda becomes: by gcc, by clang. */
	[RAY_CODE_JOB] = { { "_ZZN4node14ThreadPoolWork12ScheduleWorkEvENUlP9uv_work_sE_4_FUNES2_",
			     "_ZZN4node14ThreadPoolWork12ScheduleWorkEvENUlP9uv_work_sE_8__invokeES2_" } },
};

/* Where a function is in the process. 0: it has none. */
static uint64_t address_of(const struct ray_node_found *found)
{
	const struct ray_code_module *m = found->places[0].module;
	const struct ray_module *module;
	uint64_t vaddr, address;

	if (!found->count)
		return 0;
	module = ray_target_module_at(m->target, m->start, &vaddr);
	if (!module || !ray_target_module_address(m->target, module, found->places[0].vaddr, &address))
		return 0;
	return address;
}

struct ray_error *ray_node_codes(struct ray_catalogue *c, const struct ray_node_about *about, struct ray_watched *ret)
{
	struct ray_node_found found[RAY_NODE_CODES];
	struct ray_error *err = ray_node_find_all(c, about->pid, codes, RAY_NODE_CODES, found);

	if (err)
		return err;
	/* Behind the uv_work_t, since a release of node 18; the kernel side looks whether it is a name. */
	ret->at.job_type = about->major >= 18 ? 128 : 0;
	for (size_t i = 0; i < RAY_NODE_CODES; i++)
		ret->code[i] = address_of(&found[i]);
	for (size_t i = 0; i < RAY_NODE_OPERATIONS; i++)
		snprintf(ret->operations[i], sizeof(ret->operations[i]), "%s", operations[i] ? operations[i] : "");
	return NULL;
}
