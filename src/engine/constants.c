/* constants.c - the numbers that the linker puts into the runtime's code.
 * SPDX-License-Identifier: MIT
 *
 * Sizes come from the plan and the options; offsets in the kernel's structures from its BTF (kernel_btf.c), which is read only when a
 * linked function asks for one. */
#include <linux/bpf.h>

#include "engine/internal.h"
#include "engine/kernel_btf.h"

static uint32_t round_up(uint32_t value, uint32_t to)
{
	return (value + to - 1) / to * to;
}

static uint32_t largest(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

void ray_slot_shape(const struct ray_plan *plan, struct ray_slot_shape *ret)
{
	uint32_t string = round_up((uint32_t)plan->options->strsize + 1 + 8, 8);
	uint32_t end;

	ret->work_at = round_up(plan->slot_size, 8);
	end = ret->work_at + RAY_WORK_WORDS * 8 + RAY_WORK_STRINGS * string;
	for (ret->mask = 4096; ret->mask < end; ret->mask *= 2)
		;
	ret->mask--;
	ret->block = largest(string, plan->locals_size);
	ret->block = largest(ret->block, plan->key_size);
	ret->block = largest(ret->block, plan->value_size);
	ret->block = largest(ret->block, largest(plan->record_size, plan->record_room));
	ret->block = largest(ret->block, plan->event_size);
	ret->block = round_up(largest(ret->block, plan->scratch_size), 8);
	ret->value_size = ret->mask + 1 + ret->block;
}

static const struct {
	const char *type, *member;
} members[RAY_LINK_COUNT] = {
	[RAY_LINK_TASK_REAL_PARENT] = { "task_struct", "real_parent" },
	[RAY_LINK_TASK_TGID] = { "task_struct", "tgid" },
	[RAY_LINK_TASK_PID] = { "task_struct", "pid" },
	[RAY_LINK_TASK_FILES] = { "task_struct", "files" },
	[RAY_LINK_TASK_FS] = { "task_struct", "fs" },
	[RAY_LINK_TASK_MM] = { "task_struct", "mm" },
	[RAY_LINK_TASK_COMM] = { "task_struct", "comm" },
	[RAY_LINK_TASK_GROUP_LEADER] = { "task_struct", "group_leader" },
	[RAY_LINK_MM_EXE_FILE] = { "mm_struct", "exe_file" },
	[RAY_LINK_TASK_EXIT_CODE] = { "task_struct", "exit_code" },
	[RAY_LINK_TASK_SIGNAL] = { "task_struct", "signal" },
	[RAY_LINK_SIGNAL_GROUP_CODE] = { "signal_struct", "group_exit_code" },
	[RAY_LINK_TASK_DS] = { "task_struct", "thread.ds" },
	[RAY_LINK_TASK_ES] = { "task_struct", "thread.es" },
	[RAY_LINK_TASK_FSBASE] = { "task_struct", "thread.fsbase" },
	[RAY_LINK_TASK_GSBASE] = { "task_struct", "thread.gsbase" },
	[RAY_LINK_TASK_TRAP] = { "task_struct", "thread.trap_nr" },
	[RAY_LINK_TASK_RUNTIME] = { "task_struct", "se.sum_exec_runtime" },
	[RAY_LINK_MM_ARG_START] = { "mm_struct", "arg_start" },
	[RAY_LINK_MM_ARG_END] = { "mm_struct", "arg_end" },
	[RAY_LINK_MM_START_STACK] = { "mm_struct", "start_stack" },
	[RAY_LINK_MM_XOL_AREA] = { "mm_struct", "uprobes_state.xol_area" },
	[RAY_LINK_XOL_VADDR] = { "xol_area", "vaddr" },
	[RAY_LINK_TASK_UTASK] = { "task_struct", "utask" },
	[RAY_LINK_UTASK_RETURNS] = { "uprobe_task", "return_instances" },
	[RAY_LINK_RETURN_ADDRESS] = { "return_instance", "orig_ret_vaddr" },
	[RAY_LINK_RETURN_NEXT] = { "return_instance", "next" },
	[RAY_LINK_FILES_FDT] = { "files_struct", "fdt" },
	[RAY_LINK_FDT_FD] = { "fdtable", "fd" },
	[RAY_LINK_FDT_MAX] = { "fdtable", "max_fds" },
	[RAY_LINK_FILE_PATH] = { "file", "f_path" },
	[RAY_LINK_FILE_FLAGS] = { "file", "f_flags" },
	[RAY_LINK_FILE_POS] = { "file", "f_pos" },
	[RAY_LINK_FILE_INODE] = { "file", "f_inode" },
	[RAY_LINK_FILE_PRIVATE] = { "file", "private_data" },
	[RAY_LINK_INODE_SB] = { "inode", "i_sb" },
	[RAY_LINK_SB_DEV] = { "super_block", "s_dev" },
	[RAY_LINK_INODE_MODE] = { "inode", "i_mode" },
	[RAY_LINK_INODE_INO] = { "inode", "i_ino" },
	[RAY_LINK_PATH_DENTRY] = { "path", "dentry" },
	[RAY_LINK_PATH_MNT] = { "path", "mnt" },
	[RAY_LINK_FS_PWD] = { "fs_struct", "pwd" },
	[RAY_LINK_FS_ROOT] = { "fs_struct", "root" },
	[RAY_LINK_DENTRY_PARENT] = { "dentry", "d_parent" },
	[RAY_LINK_DENTRY_NAME] = { "dentry", "d_name.name" },
	[RAY_LINK_DENTRY_INODE] = { "dentry", "d_inode" },
	[RAY_LINK_DENTRY_SB] = { "dentry", "d_sb" },
	[RAY_LINK_DENTRY_HASHED] = { "dentry", "d_hash.pprev" },
	[RAY_LINK_SB_TYPE] = { "super_block", "s_type" },
	[RAY_LINK_FSTYPE_NAME] = { "file_system_type", "name" },
	[RAY_LINK_MOUNT_MNT] = { "mount", "mnt" },
	[RAY_LINK_MOUNT_PARENT] = { "mount", "mnt_parent" },
	[RAY_LINK_MOUNT_MOUNTPOINT] = { "mount", "mnt_mountpoint" },
	[RAY_LINK_VFSMOUNT_ROOT] = { "vfsmount", "mnt_root" },
	[RAY_LINK_SOCKET_SK] = { "socket", "sk" },
	[RAY_LINK_SOCKET_TYPE] = { "socket", "type" },
	[RAY_LINK_SOCK_FAMILY] = { "sock", "__sk_common.skc_family" },
	[RAY_LINK_SOCK_NUM] = { "sock", "__sk_common.skc_num" },
	[RAY_LINK_SOCK_DPORT] = { "sock", "__sk_common.skc_dport" },
	[RAY_LINK_SOCK_DADDR] = { "sock", "__sk_common.skc_daddr" },
	[RAY_LINK_SOCK_RCV_SADDR] = { "sock", "__sk_common.skc_rcv_saddr" },
	[RAY_LINK_SOCK_V6_DADDR] = { "sock", "__sk_common.skc_v6_daddr" },
	[RAY_LINK_SOCK_V6_RCV_SADDR] = { "sock", "__sk_common.skc_v6_rcv_saddr" },
	[RAY_LINK_UNIX_ADDR] = { "unix_sock", "addr" },
	[RAY_LINK_UNIX_PEER] = { "unix_sock", "peer" },
	[RAY_LINK_UNIX_ADDRESS_LEN] = { "unix_address", "len" },
	[RAY_LINK_UNIX_ADDRESS_NAME] = { "unix_address", "name" },
};

static struct ray_error *kernel_types(struct ray_trace *t)
{
	return t->kernel_btf ? NULL : ray_kernel_btf_create(NULL, &t->kernel_btf);
}

struct ray_error *ray_kernel_typedef(struct ray_trace *t, const char *name, uint32_t *ret)
{
	struct ray_error *err = kernel_types(t);

	return err ? err : ray_kernel_btf_typedef(t->kernel_btf, name, ret);
}

static struct ray_error *kernel_offset(struct ray_trace *t, const char *type, const char *member, uint64_t *ret)
{
	struct ray_error *err = kernel_types(t);
	uint32_t offset;

	if (!err)
		err = ray_kernel_btf_offset(t->kernel_btf, type, member, &offset);
	if (!err)
		*ret = offset;
	return err;
}

static struct ray_error *kernel_table(struct ray_trace *t, uint32_t number, uint64_t *ret)
{
	struct ray_error *err = kernel_types(t);
	const struct ray_kernel_orc *o = &t->kernel_orc;

	if (err)
		return err;
	if (!t->has_kernel_orc)
		ray_kernel_orc_find(t->kernel_btf, &t->kernel_orc);
	t->has_kernel_orc = true;
	*ret = number == RAY_LINK_ORC_STARTS   ? o->starts :
	       number == RAY_LINK_ORC_ROWS     ? o->rows :
	       number == RAY_LINK_ORC_COUNT    ? o->count :
	       number == RAY_LINK_ORC_INDEX    ? o->index :
	       number == RAY_LINK_TEXT_START   ? o->text_start :
	       number == RAY_LINK_TEXT_END     ? o->text_end :
	       number == RAY_LINK_HIJACK_GRAPH ? o->graph_hook :
						 o->return_hook;
	return NULL;
}

struct ray_error *ray_link_constant(struct ray_trace *t, uint32_t number, uint64_t *ret)
{
	struct ray_slot_shape shape;

	ray_slot_shape(t->plan, &shape);
	switch (number) {
	case RAY_LINK_STRSIZE:
		*ret = t->plan->options->strsize;
		return NULL;
	case RAY_LINK_SLOT_MASK:
		*ret = shape.mask;
		return NULL;
	case RAY_LINK_WORK_AT:
		*ret = shape.work_at;
		return NULL;
	case RAY_LINK_BLOCK:
		*ret = shape.block;
		return NULL;
	case RAY_LINK_SCRATCH_START:
		*ret = t->plan->scratch_at;
		return NULL;
	case RAY_LINK_SCRATCH_SIZE:
		*ret = t->plan->scratch_size;
		return NULL;
	case RAY_LINK_EVENT_AT:
		*ret = t->plan->event_at;
		return NULL;
	case RAY_LINK_RECORD_AT:
		*ret = t->plan->record_at;
		return NULL;
	case RAY_LINK_WATCHED:
		*ret = t->watched;
		return NULL;
	case RAY_LINK_UNREAD:
		*ret = t->unread;
		return NULL;
	case RAY_LINK_RING_FLAGS:
		*ret = t->settings.is_patient || !t->wants_stacks ? BPF_RB_NO_WAKEUP : 0;
		return NULL;
	case RAY_LINK_NSPEC:
		*ret = t->plan->options->nspec;
		return NULL;
	}
	if (number >= RAY_LINK_ORC_STARTS && number <= RAY_LINK_HIJACK_RETURN)
		return kernel_table(t, number, ret);
	if (number < RAY_LINK_COUNT && members[number].type)
		return kernel_offset(t, members[number].type, members[number].member, ret);
	return ray_error_new(RAY_FAILED, "the runtime asks for a constant (%u) that nobody gives", number);
}
