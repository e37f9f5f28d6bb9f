/* wire.h - what the kernel side and the user side agree on.
 * SPDX-License-Identifier: MIT
 *
 * The only header that BPF programs and user space share; fixed-width fields only.
 *
 * A firing works in a *slot*: an element of the array map `slots`, taken by a compare-and-swap on its `busy` word, so that a program that is interrupted or
 * preempted never shares memory with the one that came in between. Everything bigger than a register
 * lives there: arguments, temporaries, strings, keys, the record. Where in `memory` what lies is the engine's to decide (engine/plan.h).
 *
 * Addresses in D are plain 64-bit numbers. RAY_SCRATCH in the upper half marks an offset into the slot (string temporaries, alloca, copyin);
 * anything else is an address of the kernel or, below 2^47, of the current process. */
#ifndef RAY_KERN_WIRE_H
#define RAY_KERN_WIRE_H

#ifdef __bpf__
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
#define RAY_WIRE_TYPES 1
#else
#include <linux/types.h>
#endif

#include "kern/node.h"

#define RAY_SCRATCH 0x00d5c7a700000000ULL /* never an address: not canonical */
#define RAY_SCRATCH_MASK 0xffffffff00000000ULL

#define RAY_SPECULATION_NONE 0xffffffffU /* speculate() of an id that is none: what follows is dropped */

enum {
	RAY_ARGS = 20, /* arg0 to arg9, and as many of args[] as a tracepoint has */
	RAY_POINT_ARGS =
		RAY_ARGS, /* of a USDT probe, at most 12; from RAY_POINT_NAMED on by name (ray_catalogue_slot()) */
	RAY_POINT_NAMED = 12,
	RAY_SPILLS = 256,
	RAY_SLOTS_PER_CPU = 4,
	RAY_SHORT_KEY =
		48, /* bytes of a string that is short: 46 characters, NUL, and one that shows that nothing was cut */
	RAY_SCRATCH_GUARD = 64, /* bytes before alloca's area that nothing uses: p[-1] is a fault */
};

enum ray_fault {
	RAY_FAULT_NONE = 0,
	RAY_FAULT_BADADDR = 1, /* numbers of the reference: arg4 of ERROR */
	RAY_FAULT_BADALIGN = 2,
	RAY_FAULT_ILLOP = 3,
	RAY_FAULT_DIVZERO = 4,
	RAY_FAULT_NOSCRATCH = 5,
	RAY_FAULT_KPRIV = 6,
	RAY_FAULT_UPRIV = 7,
	RAY_FAULT_TUPOFLOW = 8,
	RAY_FAULT_BADSTACK = 9,
	RAY_FAULT_BADSIZE = 10,
	RAY_FAULT_BADINDEX = 11,
	RAY_FAULT_LIBRARY = 12,
};

struct ray_slot {
	__u32 busy;
	__u32 index;  /* its own, in the map: what runtime functions are given */
	__u32 probe;  /* ID */
	__u32 clause; /* the one that runs; epid - 1 */
	__u64 args[RAY_ARGS];
	__u64 timestamp;		 /* 0 until asked for */
	__u64 pid_tgid;			 /* 0 until asked for */
	__u32 error;			 /* errno of the system call that returns */
	__u32 fault;			 /* enum ray_fault; not 0: the clause ends */
	__u64 fault_value;		 /* the address, mostly */
	__u32 fault_pc;			 /* number of the instruction */
	__u32 fault_action;		 /* number of the statement, from 1 */
	__u32 speculation;		 /* id that the running clause records for; 0: none; or RAY_SPECULATION_NONE */
	__u32 scratch_used;		 /* bytes of alloca's area */
	__u64 user_pc, user_sp, user_fp; /* at a uprobe: what the walker starts from; 0: take the task's */
	__u64 kernel_pc, kernel_sp, kernel_fp; /* where a clock has interrupted the kernel; 0: it has not */
	__u32 ctx_kind;	 /* enum ray_ctx; written as 8 bytes for each firing, which forgets strtok's string too */
	__u32 strtok_at; /* 0: no string; else where in it the next call goes on, + 1 */
	/* Of a hook (kern/node.h): which handler, what it was called with, and what it remembers between its events. */
	__u64 hook;
	__u32 tgid;
	__u32 is_last; /* a handler has told all that there is to tell */
	/* What processes want of events that were told lately: a lookup in NODES costs as much as a parsed line. */
	struct ray_lately {
		__u64 key;     /* process, event */
		__u64 version; /* ray_state.nodes_version then, + 1 */
		struct ray_node_point point;
	} lately[RAY_LATELY];
	__u64 hook_args[RAY_HOOK_ARGS];
	__u64 cursor[RAY_CURSOR_WORDS];
	__u64 lent;    /* a struct ray_node_conn in the kernel that arguments lead to */
	__u64 lent_at; /* its number in NODE_NEAR, if it is there */
	__u64 spills[RAY_SPILLS];
	__u8 memory[];
};

enum ray_ctx { RAY_CTX_TEST_RUN, RAY_CTX_PERF, RAY_CTX_RAW_TP, RAY_CTX_TP, RAY_CTX_UPROBE, RAY_CTX_URETPROBE };

/* ---- how an argument is found at a site ---- */

enum ray_fetch_kind {
	RAY_FETCH_NONE,		/* 0 */
	RAY_FETCH_CONST,	/* value */
	RAY_FETCH_REG,		/* a register of the interrupted code */
	RAY_FETCH_MEM,		/* user memory at reg + value + (index register << scale) */
	RAY_FETCH_CONTEXT,	/* `size` bytes at offset `value` of the tracepoint's record */
	RAY_FETCH_CONTEXT_ADDR, /* address of that place (char arrays); __data_loc: flags & 2 */
	RAY_FETCH_RAW,		/* argument number `value` of the raw tracepoint, or of the system call */
	RAY_FETCH_RAW_FIELD,	/* kernel memory at raw argument `reg` + value */
	RAY_FETCH_TASK_FIELD,	/* kernel memory at the current task + value */
	RAY_FETCH_TASK,		/* address of the current task */
	RAY_FETCH_TID,		/* of the current thread; equals TGID in the first thread of a process */
	RAY_FETCH_TGID,
	RAY_FETCH_SIGNAL, /* the signal that is delivered: the one that ends the process, where its threads are told SIGKILL */
	RAY_FETCH_EXIT, /* how a task ended (CLD_EXITED...), from its exit code: a RAW_FIELD */
};

/* RAY_FETCH_RAW of a system call: its number, behind its six arguments; what one that returns was called with. */
enum { RAY_RAW_NUMBER = 6, RAY_RAW_CALLED = 8 };

struct ray_fetch {
	__u8 kind;
	__u8 reg;   /* offset / 8 of the register in struct pt_regs; 0xff: none (absolute) */
	__u8 index; /* likewise; 0xff: none */
	__u8 scale; /* shift */
	__u8 size;  /* bytes: 1 2 4 8 */
	__u8 flags; /* 1: signed; 2: __data_loc; 8: __rel_loc; 4: value is a RAY_LINK_* constant, an offset that only the kernel knows */
	__u16 pad;
	__s64 value;
};

/* Element of the map `points`, one per attached site; uprobe_multi's cookie is its number. */
struct ray_point {
	__u32 probe;
	__u32 tgid;	  /* fires only in this process; 0: any */
	__u64 clauses[2]; /* bit i: clause i of the program's list runs */
	__u32 fetch_count;
	__u32 pad;
	struct ray_fetch fetch[RAY_POINT_ARGS];
};

/* ---- records, in the ring buffer ---- */

enum ray_record_kind {
	RAY_RECORD_DATA = 1, /* a clause's data; body laid out by the engine */
	RAY_RECORD_ERROR,    /* struct ray_record_error */
	RAY_RECORD_STACK,    /* a user stack seen for the first time; struct ray_record_stack */
	RAY_RECORD_COMMIT,   /* speculation */
	RAY_RECORD_DISCARD,
	RAY_RECORD_EVENT, /* process came, execed, ended: struct ray_record_event */
};

struct ray_record {
	__u32 kind;
	__u32 clause;
	__u32 probe;
	__u32 cpu;
	__u32 speculation;
	__u32 tid;
	__u32 tgid;
	__u32 size; /* of all, with this head */
	__u64 time; /* bpf_ktime_get_ns */
};

/* In the place of a value that is sent as long as it is: where in the record its bytes are, behind all values, and how many. */
struct ray_packed {
	__u32 at, size;
};

/* What a record's head takes more than the reference's 16 bytes: its options about sizes (specsize, bufsize) mean the same data. */
enum { RAY_RECORD_HEAD_EXTRA = sizeof(struct ray_record) - 16 };

struct ray_record_error {
	struct ray_record head;
	__u32 fault, action, pc, pad;
	__u64 value;
};

struct ray_record_event {
	struct ray_record head;
	__u32 what; /* enum ray_event */
	__u32 pad;
	__u64 value;
};
enum ray_event { RAY_EVENT_FORK = 1, RAY_EVENT_EXEC, RAY_EVENT_EXIT, RAY_EVENT_MMAP };

enum { RAY_SOCKET_PATH = 108 };

/* What tracesock() tells of a socket: its two ends. */
struct ray_socket_name {
	__u16 family, type;
	__u16 local_port, remote_port; /* of the host's own order */
	__u8 local[16], remote[16];    /* 4 bytes of AF_INET */
	__u16 path_size, is_peer_path; /* of AF_UNIX: the peer's, where this end has none */
	char path[RAY_SOCKET_PATH];
};

/* ---- user stacks: walked in the kernel, named in user space ---- */

/* In records and keys: a user stack is its id; its contents came in a RAY_RECORD_STACK. */
struct ray_stack_ref {
	__u64 id; /* hash of the frames; 0: none could be had */
	__u32 tgid;
	__u32 frames; /* how many were asked for */
};

enum {
	RAY_STACK_FRAMES = 1024, /* the most that are walked */
	RAY_STACK_TOP = 32,	 /* words at the stack pointer */
	RAY_FRAME_WORDS = 8,	 /* of a frame of V8, from fp - RAY_FRAME_BELOW on */
	RAY_FRAME_BELOW = 40,
	RAY_FUNCTION_WORDS = 5, /* of a JSFunction */
	RAY_BELOW_WORDS = 16,
	RAY_BELOW_MAX = 4,  /* of them in one stack */
	RAY_WALK_REGS = 21, /* struct pt_regs of x86-64 */
};

enum ray_frame_flag {
	RAY_FRAME_HAS_WORDS = 1,
	RAY_FRAME_HAS_FUNCTION = 2,
	RAY_FRAME_HAS_CONTEXT = 4,
	RAY_FRAME_HAS_RECEIVER = 8,
	RAY_FRAME_IS_EXACT = 16,   /* pc is no return address */
	RAY_FRAME_IS_UNKNOWN = 32, /* pc lies in no range that was told to the walker */
	RAY_FRAME_HAS_BELOW = 64,
	/* V8 is replacing this frame, and pc is where the builtin that does so called C++. `below` has the address that the function left its code by among
	 * other words. fp leads to the frame's words, wherever they are now. */
	RAY_FRAME_IS_REPLACED = 128,
};

/* One frame, and the words of V8 that may have moved when user space looks for them. In a record it is only as long as its flags say: see
 * ray_walk_frame_size(). */
struct ray_walk_frame {
	__u64 pc, sp;
	__u32 flags; /* enum ray_frame_flag */
	__u32 inner; /* with HAS_FUNCTION: where the one before begins that has one, + 1; 0: there is none */
	/* From here on with HAS_WORDS. fp as it is while pc runs: the frame's own, if it has one. */
	__u64 fp;
	__u64 words
		[RAY_FRAME_WORDS]; /* bytecode offset, array, argc, function, context, link, return address, receiver */
	__u64 function[RAY_FUNCTION_WORDS]; /* the JSFunction's own first words */
	__u64 context_map, receiver_map;
	/* With HAS_BELOW: what lies below the frame of a function that called V8's builtins, from sp on. Those may have no frame of their own, only a
	 * return address there. */
	__u64 below[RAY_BELOW_WORDS];
};

enum {
	RAY_FRAME_SIZE_NATIVE = __builtin_offsetof(struct ray_walk_frame, fp),
	RAY_FRAME_SIZE_V8 = __builtin_offsetof(struct ray_walk_frame, below),
};

static inline __attribute__((always_inline)) __u32 ray_walk_frame_size(__u32 flags)
{
	return flags & RAY_FRAME_HAS_BELOW ? sizeof(struct ray_walk_frame) :
	       flags & RAY_FRAME_HAS_WORDS ? RAY_FRAME_SIZE_V8 :
					     RAY_FRAME_SIZE_NATIVE;
}

enum ray_walk_stop { RAY_STOP_ROOT, RAY_STOP_FULL, RAY_STOP_FAULT, RAY_STOP_BROKEN };

/* Behind it its frames, one after the other, each as long as it is. */
struct ray_record_stack {
	struct ray_record head;
	__u64 id;
	__u64 space; /* tells the address spaces of one tgid apart, before and after exec: where its stack starts */
	__u32 count; /* of frames */
	__u32 bytes; /* that they take */
	__u32 stop;  /* enum ray_walk_stop */
	__u32 top_count;
	__u64 regs[RAY_WALK_REGS];
	__u64 top[RAY_STACK_TOP];
};

enum { RAY_STACK_BYTES = RAY_STACK_FRAMES * RAY_FRAME_SIZE_V8 + RAY_BELOW_MAX * RAY_BELOW_WORDS * 8 };

/* Element of the map `stackids`: what tells stacks that were sent, with the epoch in which they were. A stack belongs into one element only, which may
 * forget it when others come. */
enum { RAY_STACKID_WAYS = 4 };

struct ray_stackid_set {
	__u64 sent[RAY_STACKID_WAYS];
};

enum { RAY_STACKID_SETS = 1 << 14 };

/* Size of the walker's own memory, one for each slot (kern/walk.bpf.h checks it). */
#define RAY_WALKER_SIZE (39232 + RAY_STACK_BYTES)

/* Alike for stacks of the kernel (kern/kstack.bpf.h); and of a row in the kernel's own tables. */
enum { RAY_KERNEL_WALK_SIZE = 18944, RAY_ORC_ROW_SIZE = 6 };

/* How V8's builtin that replaces frames keeps one that it has taken off the stack (stack/deopt.h): a Deoptimizer has a description of the frame, and that the
 * registers and the frame's words. */
struct ray_deopt_layout {
	__u32 input;   /* where in a Deoptimizer the address of the description is */
	__u32 fp;      /* where in the description rbp is; the frame's size is its first word */
	__u32 content; /* where the frame's words begin */
	__u32 from; /* while the frame is on the stack: where, above the saved registers, the address is that called the builtin */
};

enum { RAY_DEOPTS = 4 };

/* Value of the map `processes`, by tgid: what user space knows of one. */
struct ray_process {
	__u64 space;			/* only for this one */
	__u32 first_range, range_count; /* in `unwind_ranges`, by address */
	__u32 shared_at;		/* offset of a JSFunction's SharedFunctionInfo; 0: it is no node */
	__u32 version;			/* of the ranges: another one, other ranges */
	__u64 code_start, code_end;	/* from the first to the last mapping of generated code */
	struct ray_deopt_layout deopt;
	__u32 deopt_calls
		[2 *
		 RAY_DEOPTS]; /* the last byte of each call to C++, as a `start` of a row of the file that holds V8; 0: none */
};

enum { RAY_PAGE_SHIFT = 12 };

struct ray_unwind_range {
	__u64 start, end;
	__u64 delta;		    /* what to add to an address to get the `start` of a row */
	__u32 first_row, row_count; /* in `unwind_rows`, by start */
	__u32 first_page; /* there too: for each page of `start`s the number of the first row in it, and one more */
	__u32 page_count;
	__u32 is_v8; /* the file that holds V8: what it has no rows for is V8's own code, the builtins */
	__u32 pad;
};

enum ray_row_kind {
	RAY_ROW_NONE,	     /* from here on no rule is known */
	RAY_ROW_SP,	     /* canonical frame address = sp + cfa * 8 */
	RAY_ROW_FP,	     /* = fp + cfa * 8 */
	RAY_ROW_FP_DEREF,    /* = what stands at fp - cfa * 8 */
	RAY_ROW_PLT,	     /* = sp + 8, 16 from the 11th byte of each 16 on */
	RAY_ROW_END,	     /* outermost frame */
	RAY_ROW_SIGNAL,	     /* the kernel's frame below a signal handler */
	RAY_ROW_UNSUPPORTED, /* a rule that does not fit */
};

enum { RAY_ROW_FP_SAME = 0, RAY_ROW_FP_AT_FP = 254 /* at fp itself */, RAY_ROW_FP_LOST = 255 };

/* How to leave a frame, from `start` up to the next row's. The return address is at the canonical frame address - 8. */
struct ray_unwind_row {
	__u32 start;
	__u16 cfa;
	__u8 kind;  /* enum ray_row_kind */
	__u8 saved; /* the caller's fp is at the canonical frame address - saved * 8, or RAY_ROW_FP_* */
};

/* ---- the state of the whole run: the one element of the array map `state` (mmapable) ---- */

enum ray_activity { RAY_INACTIVE, RAY_ACTIVE, RAY_DRAINING /* exit() was called: only END runs */, RAY_STOPPED };

enum { RAY_TARGET_WORDS = 1 << 16 }; /* as many bits as there can be processes: the kernel's numbers end at 2^22 */

/* An executable, as the kernel numbers it. */
struct ray_program_key {
	__u64 inode;
	__u32 dev, pad;
};

enum { RAY_DROP_CPUS = 128 }; /* a power of two; more CPUs than that share */

struct ray_state {
	__u32 activity;
	__u32 exit_code;
	__u64 exit_count;
	__u32 own_tgid;
	__u32 nodes_version; /* goes up when what NODES holds has changed */
	__u64 doubts;	     /* goes up when other files may be behind descriptors (struct ray_node_conn: sure) */
	__u64 slot_drops;    /* firings that found no free slot */
	__u64 dynvar_drops;  /* no room for a new element of an associative array or self-> */
	__u64 spec_drops, spec_busy, spec_unavailable;
	__u64 stack_drops;
	__u64 stack_wake_at;		/* until then nobody need be woken for a stack: somebody looks */
	__u64 node_drops;		/* threads, connections, requests there was no room for */
	__u64 node_cut;			/* names and paths of events that were longer than their place */
	__u64 node_ids;			/* given to requests and connections so far */
	__u64 kin_taken;		/* elements of NODE_KIN */
	__u64 wall_offset;		/* walltimestamp - timestamp */
	__u64 process_changes;		/* of the map `processes`, so far: who keeps an entry of it looks again */
	__u64 kernel_differs;		/* a stack of the kernel was not what its own unwinder says */
	__u64 stack_epoch;		/* user space has forgotten all stacks that were sent in an earlier one */
	__u32 spec_state[64];		/* by id: 0 free, 1 active, 2 committing/discarding */
	__u64 drops[RAY_DROP_CPUS];	/* by CPU: records the ring had no room for */
	__u64 agg_drops[RAY_DROP_CPUS]; /* keys an aggregation had no room for */
};

/* ---- the runtime's work area in a slot: numbers, then strings of STRSIZE bytes (rounded up, and room for a word) ---- */

enum {
	RAY_WORK_WORDS = 256,
	RAY_WORK_STRINGS = 3, /* two for arguments, one that strtok() keeps */
};

/* Last argument of ray_fd_number(). */
enum ray_fd_number { RAY_FD_OFLAGS, RAY_FD_FLAGS = RAY_FD_OFLAGS, RAY_FD_OFFSET, RAY_FD_INODE };

/* Element of the map `probes`, by ID: where in the map `strings` the four parts of its name are. */
struct ray_name_offsets {
	__u32 at[4];
};

#define RAY_NAME_NUMBERED 0x80000000U /* of the first: the number of the process belongs behind it */

/* ---- constants and maps of the runtime: `RAY_CONST(x)` in a .bpf.c is an immediate that the linker replaces ---- */

#define RAY_MAGIC 0x4e6f646552617900ULL
#define RAY_MAGIC_MASK 0xffffffffffffff00ULL

/* clang-format off */
/* X(name): values below 128 are maps, given as file descriptors. */
#define RAY_LINK_MAPS(X) X(SLOTS) X(STATE) X(RING) X(POINTS) X(STRINGS) X(PROBES) X(STACKIDS) X(STACK_SCRATCH) X(UNWIND_ROWS) X(UNWIND_RANGES) X(PROCESSES) \
	X(NODES) X(NODE_THREADS) X(NODE_CONNS) X(NODE_NEAR) /* struct ray_node_near, by ray_near_index() */ X(NODE_REQUESTS) X(NODE_WORKS) X(NODE_H2) \
	X(TARGETS) /* one element, a bit for each tgid: processes that probes fire in, with -x follow */ \
	X(NODE_BITS) /* alike, for what is in NODES: asked first, as hooks at system calls are hit by all of the machine */ \
	X(KERNEL_WALK) X(NODE_KIN) X(PROGRAMS) /* files by struct ray_program_key: with -x follow=nodes, who runs them is followed */
#define RAY_LINK_CONSTS(X) \
	X(STRSIZE) X(SLOT_MASK) /* offsets into the slot are and-ed with it */ \
	X(BLOCK) /* largest copy at a masked offset */ X(WORK_AT) /* the runtime's own area */ X(SCRATCH_START) X(SCRATCH_SIZE) \
	X(NSPEC) X(RING_FLAGS) /* of records: whether each wakes who waits for it */ X(EVENT_AT) /* struct ray_node_area */ X(RECORD_AT) /* the record that a clause makes */ X(WATCHED) /* RAY_EVENT_BIT()s that anybody wants */ X(UNREAD) /* RAY_UNREAD_* */ \
	X(TASK_REAL_PARENT) X(TASK_GROUP_LEADER) X(MM_EXE_FILE) X(TASK_TGID) X(TASK_PID) X(TASK_FILES) X(TASK_FS) X(TASK_MM) X(TASK_COMM) X(TASK_EXIT_CODE) X(TASK_SIGNAL) X(SIGNAL_GROUP_CODE) X(TASK_RUNTIME) X(TASK_DS) X(TASK_ES) X(TASK_FSBASE) X(TASK_GSBASE) X(TASK_TRAP) \
	X(MM_ARG_START) X(MM_ARG_END) X(MM_START_STACK) X(MM_XOL_AREA) X(XOL_VADDR) X(TASK_UTASK) X(UTASK_RETURNS) X(RETURN_ADDRESS) X(RETURN_NEXT) \
	X(FILES_FDT) X(FDT_FD) X(FDT_MAX) X(FILE_PATH) X(FILE_FLAGS) X(FILE_POS) X(FILE_INODE) X(FILE_PRIVATE) X(INODE_SB) X(SB_DEV) X(INODE_INO) X(INODE_MODE) \
	X(PATH_DENTRY) X(PATH_MNT) X(FS_PWD) X(FS_ROOT) X(DENTRY_PARENT) X(DENTRY_NAME) X(DENTRY_INODE) X(DENTRY_SB) X(DENTRY_HASHED) \
	X(SB_TYPE) X(FSTYPE_NAME) X(MOUNT_MNT) X(MOUNT_PARENT) X(MOUNT_MOUNTPOINT) X(VFSMOUNT_ROOT) \
	X(SOCKET_SK) X(SOCKET_TYPE) X(SOCK_FAMILY) X(SOCK_NUM) X(SOCK_DPORT) X(SOCK_DADDR) X(SOCK_RCV_SADDR) X(SOCK_V6_DADDR) X(SOCK_V6_RCV_SADDR) \
	X(ORC_STARTS) X(ORC_ROWS) X(ORC_COUNT) X(ORC_INDEX) /* struct ray_kernel_orc */ X(TEXT_START) X(TEXT_END) X(HIJACK_GRAPH) X(HIJACK_RETURN) \
	X(UNIX_ADDR) X(UNIX_PEER) X(UNIX_ADDRESS_LEN) X(UNIX_ADDRESS_NAME)
/* clang-format on */

enum {
	RAY_LINK_MAP_FIRST = 0,
#define RAY_LINK_ENUM(name) RAY_LINK_##name,
	RAY_LINK_MAPS(RAY_LINK_ENUM) RAY_LINK_MAP_COUNT,
	RAY_LINK_CONST_FIRST = 127,
	RAY_LINK_CONSTS(RAY_LINK_ENUM)
#undef RAY_LINK_ENUM
		RAY_LINK_COUNT
};

#endif
