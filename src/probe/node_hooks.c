/* node_hooks.c - the table of hooks: which handler hangs where, for which events. See watch.h. SPDX-License-Identifier: MIT
 *
 * All knowledge of which function carries what in which node is here. Names are as mangled; * stands for the rest of one. */
#include "probe/watch.h"

#include <sys/syscall.h>

#include "base/error.h"

#define BIT(name) RAY_EVENT_BIT(name)

/* Of HTTP, whatever its version. */
#define HTTP_SERVER                                                                               \
	(BIT(HTTP_SERVER_REQUEST) | BIT(HTTP_SERVER_RESPONSE_START) | BIT(HTTP_SERVER_RESPONSE) | \
	 BIT(HTTP_SERVER_ABORT))
#define HTTP_CLIENT                                                                               \
	(BIT(HTTP_CLIENT_REQUEST) | BIT(HTTP_CLIENT_RESPONSE_START) | BIT(HTTP_CLIENT_RESPONSE) | \
	 BIT(HTTP_CLIENT_ABORT))
#define HTTP2 (BIT(HTTP2_STREAM_OPEN) | BIT(HTTP2_STREAM_CLOSE))

#define WORKER_LOSS "the code they end with"
#define TLS_LOSS "requests over TLS"
/* HTTP2: whether a connection is in clear. */
#define SSL_CALL(function, symbol, events, lost)                                                   \
	{                                                                                          \
		.handler = function, .kind = RAY_SITE_UPROBE, .needed_by = events,                 \
		.helps = HTTP_SERVER | HTTP_CLIENT | HTTP2 | TLS | CARRY, .loss = lost, .names = { \
			symbol                                                                     \
		}                                                                                  \
	}
#define SSL_RETURN(function, symbol, events, lost)                                                 \
	{                                                                                          \
		.handler = function, .kind = RAY_SITE_URETPROBE, .needed_by = events,              \
		.helps = HTTP_SERVER | HTTP_CLIENT | HTTP2 | TLS | CARRY, .loss = lost, .names = { \
			symbol                                                                     \
		}                                                                                  \
	}
#define H2_LOSS "requests of HTTP/2"

#define H2_RECEIVE "14OnFrameReceiveEP15nghttp2_sessionPK13nghttp2_framePv"
#define H2_DATA "19OnDataChunkReceivedEP15nghttp2_sessionhiPKhmPv"
#define HTTP2_CALLBACK(symbol) "_ZN4node5http212Http2Session" symbol

#define NET                                                                                                    \
	(BIT(NET_SERVER_CONNECTION) | BIT(NET_CLIENT_CONNECT) | BIT(NET_SOCKET_READ) | BIT(NET_SOCKET_WRITE) | \
	 BIT(NET_STREAM_END) | BIT(NET_STREAM_CLOSE))
#define TLS (BIT(TLS_READ) | BIT(TLS_WRITE))
/* Events that tell which request they belong to: whoever reads its head must be seen. */
#define CARRY (NET | FS | DNS | WORK_RUN | BIT(WORK_SUBMIT))

#define FS (BIT(FS_START) | BIT(FS_DONE))
#define DNS (BIT(DNS_START) | BIT(DNS_DONE))
#define WORK_RUN (BIT(WORK_START) | BIT(WORK_DONE))

/* Entry and return of a function. */
#define ENTRY(name, at) .handler = name, .kind = RAY_SITE_UPROBE, .names = { at }
#define RETURN(name, at) .handler = name, .kind = RAY_SITE_URETPROBE, .names = { at }
/* A function of node that uses the C++ library for files, and a system call that this does then. */
#define FILES(symbol, since, what)                                                              \
	{ ENTRY("ray_on_files", symbol), .helps = FS, .from = since, .loss = what },            \
	{                                                                                       \
		RETURN("ray_on_files_return", symbol), .helps = FS, .from = since, .loss = what \
	}
#define FILE_CALL(call)                                                                                                \
	{ .handler = "ray_on_file_call", .kind = RAY_SITE_SYSCALL_ENTER, .number = SYS_##call, .helps = FS },          \
	{                                                                                                              \
		.handler = "ray_on_file_call_return", .kind = RAY_SITE_SYSCALL_EXIT, .number = SYS_##call, .helps = FS \
	}
/* A function of libuv that gives an operation to io_uring. node 20 and the first of 22 use it if UV_USE_IO_URING=1 says so, later ones never for files. */
#define RING_LOSS "operations on files through io_uring"
#define RING(symbol)                                                                                       \
	{ ENTRY("ray_on_ring", symbol), .helps = FS, .from = 20, .to = 22, .loss = RING_LOSS },            \
	{                                                                                                  \
		RETURN("ray_on_ring_return", symbol), .helps = FS, .from = 20, .to = 22, .loss = RING_LOSS \
	}
/* What c-ares calls with the answer to one kind of question; its other arguments have changed. */
#define ANSWER(traits) "_ZN4node10cares_wrap9QueryWrapINS0_" traits "EE8Callback"
#define ANSWER_ROW(traits, what)                                                                         \
	{                                                                                                \
		ENTRY("ray_on_ares_answer", ANSWER(traits) "EPv*"), .helps = BIT(DNS_DONE), .loss = what \
	}

#define GC (BIT(GC_START) | BIT(GC_DONE))
#define LOOP (BIT(LOOP_START) | BIT(LOOP_DONE))
#define PHASE (BIT(LOOP_PHASE_START) | BIT(LOOP_PHASE_DONE))
#define CALLBACK (BIT(CALLBACK_START) | BIT(CALLBACK_DONE))
#define HEAP(symbol) "_ZN2v88internal4Heap" symbol
#define POLLS (LOOP | PHASE | CALLBACK | BIT(TIMER_FIRE))

/* A system call on sockets. */
#define SOCKET(call, needed, help)                                                                       \
	{                                                                                                \
		.handler = "ray_on_socket", .more = "ray_on_socket_more", .kind = RAY_SITE_SYSCALL_EXIT, \
		.number = SYS_##call, .needed_by = needed, .helps = help                                 \
	}
#define SOCKET_READ(call) \
	SOCKET(call, HTTP_SERVER | HTTP_CLIENT | BIT(NET_SOCKET_READ) | BIT(NET_STREAM_END), HTTP2 | TLS | CARRY)
#define SOCKET_WRITE(call) SOCKET(call, HTTP_SERVER | HTTP_CLIENT | BIT(NET_SOCKET_WRITE), 0)

/* The same as at the system call, without a look at every other one. */
#define POLL_FUNCTION(function, name, is_after)                                                    \
	{                                                                                          \
		.handler = function, .kind = RAY_SITE_UPROBE, .helps = POLLS, .is_stand_in = true, \
		.is_after_call = is_after, .names = {                                              \
			name                                                                       \
		}                                                                                  \
	}

/* clang-format off */
const struct ray_hook ray_hooks[] = {
	/* Sockets, and HTTP/1 on them */
	SOCKET_READ(read), SOCKET_READ(readv), SOCKET_READ(recvfrom), SOCKET_READ(recvmsg),
	SOCKET_WRITE(write), SOCKET_WRITE(writev), SOCKET_WRITE(sendto), SOCKET_WRITE(sendmsg),
	SOCKET(accept, BIT(NET_SERVER_CONNECTION), HTTP_SERVER | HTTP_CLIENT | HTTP2 | TLS | CARRY),
	SOCKET(accept4, BIT(NET_SERVER_CONNECTION), HTTP_SERVER | HTTP_CLIENT | HTTP2 | TLS | CARRY),
	SOCKET(connect, BIT(NET_CLIENT_CONNECT), HTTP_CLIENT | HTTP2 | TLS | NET),
	SOCKET(getsockopt, BIT(NET_CLIENT_CONNECT), HTTP_CLIENT | HTTP2 | TLS | NET),
	SOCKET(shutdown, HTTP_SERVER | HTTP_CLIENT | BIT(NET_STREAM_END), 0),
	SOCKET(close, HTTP_SERVER | HTTP_CLIENT | BIT(NET_STREAM_CLOSE), HTTP2 | TLS | CARRY),
	SOCKET(dup2, 0, HTTP_SERVER | HTTP_CLIENT | HTTP2 | TLS | CARRY),
	SOCKET(dup3, 0, HTTP_SERVER | HTTP_CLIENT | HTTP2 | TLS | CARRY),
	SOCKET(close_range, 0, HTTP_SERVER | HTTP_CLIENT | HTTP2 | TLS | CARRY),

	/* Collections. node 18 has the prologue and the epilogue in line: what is around them tells it, too. */
	{ .handler = "ray_on_gc_collect", .kind = RAY_SITE_UPROBE, .needed_by = GC, .names = { HEAP("14CollectGarbageE*") } },
	{ .handler = "ray_on_gc_collected", .kind = RAY_SITE_URETPROBE, .needed_by = GC, .names = { HEAP("14CollectGarbageE*") } },
	{ .handler = "ray_on_gc_prologue", .kind = RAY_SITE_UPROBE, .helps = GC, .names = { HEAP("23CallGCPrologueCallbacksE*") } },
	{ .handler = "ray_on_gc_epilogue", .kind = RAY_SITE_UPROBE, .helps = GC, .names = { HEAP("23CallGCEpilogueCallbacksE*") } },
	{ .handler = "ray_on_gc_scavenge", .kind = RAY_SITE_UPROBE, .helps = GC, .names = { HEAP("8ScavengeEv") } },
	{ .handler = "ray_on_gc_mark_compact", .kind = RAY_SITE_UPROBE, .helps = GC, .names = { HEAP("11MarkCompactEv") } },
	{ .handler = "ray_on_gc_minor", .kind = RAY_SITE_UPROBE, .helps = GC,
	  .names = { HEAP("14MinorMarkSweepEv"), HEAP("16MinorMarkCompactEv") } },
	{ .handler = "ray_on_gc_incremental", .kind = RAY_SITE_UPROBE, .helps = GC,
	  .names = { HEAP("41InvokeIncrementalMarkingPrologueCallbacksEv") } },
	{ .handler = "ray_on_gc_incremented", .kind = RAY_SITE_UPROBE, .helps = GC,
	  .names = { HEAP("41InvokeIncrementalMarkingEpilogueCallbacksEv") } },
	{ .handler = "ray_on_gc_weak", .kind = RAY_SITE_UPROBE, .helps = GC,
	  .names = { "_ZN2v88internal13GlobalHandles40InvokeSecondPassPhantomCallbacksFromTaskEv" } },
	{ .handler = "ray_on_gc_weakened", .kind = RAY_SITE_URETPROBE, .helps = GC,
	  .names = { "_ZN2v88internal13GlobalHandles40InvokeSecondPassPhantomCallbacksFromTaskEv" } },
	{ .handler = "ray_on_gc_reason", .kind = RAY_SITE_UPROBE, .helps = GC,
	  .names = { "_ZN2v88internal18IncrementalMarking5StartENS0_23GarbageCollectionReasonE" } },
	{ .handler = "ray_on_gc_reason", .kind = RAY_SITE_UPROBE, .helps = GC,
	  .names = { HEAP("39FinalizeIncrementalMarkingIncrementallyENS0_23GarbageCollectionReasonE") } },
	{ .handler = "ray_on_gc_start_reason", .kind = RAY_SITE_UPROBE, .helps = GC,
	  .names = { "_ZN2v88internal18IncrementalMarking5StartENS0_16GarbageCollectorENS0_23GarbageCollectionReasonE*" } },
	{ .handler = "ray_on_gc_size", .kind = RAY_SITE_URETPROBE, .helps = GC, .loss = "the heap's size before and after",
	  .names = { HEAP("13SizeOfObjectsEv") } },

	/* Event loops */
	{ .handler = "ray_on_poll", .kind = RAY_SITE_SYSCALL_ENTER, .number = SYS_epoll_wait, .needed_by = POLLS, .helps = CARRY, .has_stand_in = true },
	{ .handler = "ray_on_poll", .kind = RAY_SITE_SYSCALL_ENTER, .number = SYS_epoll_pwait, .needed_by = POLLS, .helps = CARRY, .has_stand_in = true },
	{ .handler = "ray_on_polled", .kind = RAY_SITE_SYSCALL_EXIT, .number = SYS_epoll_wait, .needed_by = POLLS, .has_stand_in = true },
	{ .handler = "ray_on_polled", .kind = RAY_SITE_SYSCALL_EXIT, .number = SYS_epoll_pwait, .needed_by = POLLS, .has_stand_in = true },
	POLL_FUNCTION("ray_on_poll", "epoll_wait", false), POLL_FUNCTION("ray_on_poll", "epoll_pwait", false),
	POLL_FUNCTION("ray_on_poll_return", "epoll_wait", true), POLL_FUNCTION("ray_on_poll_return", "epoll_pwait", true),
	/* What runs in them runs for no request. */
	{ .handler = "ray_on_turn", .kind = RAY_SITE_UPROBE, .helps = CARRY, .names = { "uv__run_timers" } },
	{ .handler = "ray_on_turn", .kind = RAY_SITE_UPROBE, .helps = CARRY, .names = { "uv__run_check" } },
	{ .handler = "ray_on_turn", .kind = RAY_SITE_UPROBE, .helps = CARRY, .names = { "uv__async_io" } },
	{ .handler = "ray_on_thread_exit", .kind = RAY_SITE_RAW_TRACEPOINT, .tracepoint = "sched_process_exit", .needed_by = POLLS | GC, .helps = FS | DNS | WORK_RUN },
	{ .handler = "ray_on_timers", .kind = RAY_SITE_UPROBE, .needed_by = PHASE, .helps = LOOP | CALLBACK, .loss = "the time of each phase",
	  .names = { "uv__run_timers" } },
	{ .handler = "ray_on_check", .kind = RAY_SITE_UPROBE, .needed_by = PHASE, .helps = LOOP | CALLBACK, .loss = "the time of each phase",
	  .names = { "uv__run_check" } },
	{ .handler = "ray_on_io_poll", .kind = RAY_SITE_UPROBE, .needed_by = PHASE, .names = { "uv__io_poll" } },
	{ .handler = "ray_on_idle", .kind = RAY_SITE_UPROBE, .helps = PHASE, .loss = "the phase idle", .names = { "uv__run_idle" } },
	{ .handler = "ray_on_prepare", .kind = RAY_SITE_UPROBE, .helps = PHASE, .loss = "the phase prepare", .names = { "uv__run_prepare" } },
	{ .handler = "ray_on_timers_done", .kind = RAY_SITE_URETPROBE, .needed_by = PHASE, .names = { "uv__run_timers" } },
	{ .handler = "ray_on_check_done", .kind = RAY_SITE_URETPROBE, .needed_by = PHASE, .names = { "uv__run_check" } },
	{ .handler = "ray_on_stream_io", .kind = RAY_SITE_UPROBE, .helps = CALLBACK, .loss = "which socket it was", .absent = RAY_WATCHED_NO_IO,
	  .names = { "uv__stream_io" } },
	{ .handler = "ray_on_stream_io", .kind = RAY_SITE_UPROBE, .helps = CALLBACK, .names = { "uv__server_io" } },
	{ .handler = "ray_on_async_io", .kind = RAY_SITE_UPROBE, .helps = CALLBACK, .names = { "uv__async_io" } },
	{ .handler = "ray_on_udp_io", .kind = RAY_SITE_UPROBE, .helps = CALLBACK, .names = { "uv__udp_io" } },
	{ .handler = "ray_on_poll_io", .kind = RAY_SITE_UPROBE, .helps = CALLBACK, .names = { "uv__poll_io" } },
	{ .handler = "ray_on_fs_event_io", .kind = RAY_SITE_UPROBE, .helps = CALLBACK, .names = { "uv__inotify_read" } },
	{ .handler = "ray_on_signal_io", .kind = RAY_SITE_UPROBE, .helps = CALLBACK, .names = { "uv__signal_event" } },
	{ .handler = "ray_on_run_timers", .kind = RAY_SITE_UPROBE, .needed_by = CALLBACK | BIT(TIMER_FIRE),
	  .names = { "_ZN4node11Environment9RunTimersEP10uv_timer_s" } },
	{ .handler = "ray_on_immediate", .kind = RAY_SITE_UPROBE, .needed_by = CALLBACK,
	  .names = { "_ZN4node11Environment14CheckImmediateEP10uv_check_s" } },
	{ .handler = "ray_on_handle_close", .kind = RAY_SITE_UPROBE, .helps = CALLBACK, .loss = "the phase closing",
	  .names = { "_ZN4node10HandleWrap7OnCloseEP11uv_handle_s" } },

	/* TLS: what the functions return counts, and their arguments are only known when they are entered */
	SSL_CALL("ray_on_ssl_read", "SSL_read", BIT(TLS_READ), TLS_LOSS), SSL_CALL("ray_on_ssl_read_ex", "SSL_read_ex", 0, NULL),
	SSL_CALL("ray_on_ssl_write", "SSL_write", BIT(TLS_WRITE), TLS_LOSS), SSL_CALL("ray_on_ssl_write_ex", "SSL_write_ex", 0, NULL),
	SSL_RETURN("ray_on_ssl_read_return", "SSL_read", BIT(TLS_READ), TLS_LOSS), SSL_RETURN("ray_on_ssl_read_return", "SSL_read_ex", 0, NULL),
	SSL_RETURN("ray_on_ssl_write_return", "SSL_write", BIT(TLS_WRITE), TLS_LOSS), SSL_RETURN("ray_on_ssl_write_return", "SSL_write_ex", 0, NULL),
	{ .handler = "ray_on_ssl_free", .kind = RAY_SITE_UPROBE, .helps = TLS | HTTP_SERVER | HTTP_CLIENT | CARRY, .loss = TLS_LOSS, .names = { "SSL_free" } },
	/* HTTP/2: callbacks that node gives to nghttp2, and what it calls there */
	{ .handler = "ray_on_h2_header", .kind = RAY_SITE_UPROBE, .needed_by = HTTP2, .helps = HTTP_SERVER | HTTP_CLIENT | CARRY, .loss = H2_LOSS,
	  .names = { HTTP2_CALLBACK("16OnHeaderCallbackEP15nghttp2_sessionPK13nghttp2_frameP13nghttp2_rcbufS8_hPv") } },
	{ .handler = "ray_on_h2_receive", .kind = RAY_SITE_UPROBE, .needed_by = HTTP2, .helps = HTTP_SERVER | HTTP_CLIENT | CARRY, .loss = H2_LOSS,
	  .names = { HTTP2_CALLBACK(H2_RECEIVE) } },
	{ .handler = "ray_on_h2_sent", .kind = RAY_SITE_UPROBE, .needed_by = HTTP2, .helps = HTTP_SERVER | HTTP_CLIENT | CARRY, .loss = H2_LOSS,
	  .names = { HTTP2_CALLBACK("11OnFrameSentEP15nghttp2_sessionPK13nghttp2_framePv") } },
	{ .handler = "ray_on_h2_close", .kind = RAY_SITE_UPROBE, .needed_by = HTTP2, .helps = HTTP_SERVER | HTTP_CLIENT | CARRY, .loss = H2_LOSS,
	  .names = { HTTP2_CALLBACK("13OnStreamCloseEP15nghttp2_sessionijPv") } },
	/* Which request runs: nobody else needs to know. */
	{ .handler = "ray_on_h2_data", .kind = RAY_SITE_UPROBE, .helps = CARRY, .names = { HTTP2_CALLBACK(H2_DATA) } },
	{ .handler = "ray_on_h2_dealt", .kind = RAY_SITE_URETPROBE, .helps = CARRY, .names = { HTTP2_CALLBACK(H2_DATA) } },
	{ .handler = "ray_on_h2_dealt", .kind = RAY_SITE_URETPROBE, .helps = CARRY, .names = { HTTP2_CALLBACK(H2_RECEIVE) } },
	{ .handler = "ray_on_h2_respond", .kind = RAY_SITE_UPROBE, .needed_by = HTTP2, .helps = HTTP_SERVER, .loss = H2_LOSS,
	  .names = { "nghttp2_submit_response" } },
	{ .handler = "ray_on_h2_request", .kind = RAY_SITE_UPROBE, .needed_by = HTTP2, .helps = HTTP_CLIENT, .loss = H2_LOSS,
	  .names = { "nghttp2_submit_request" } },
	{ .handler = "ray_on_h2_request_return", .kind = RAY_SITE_URETPROBE, .needed_by = HTTP2, .helps = HTTP_CLIENT, .loss = H2_LOSS,
	  .names = { "nghttp2_submit_request" } },
	{ .handler = "ray_on_h2_delete", .kind = RAY_SITE_UPROBE, .helps = HTTP2 | HTTP_SERVER | HTTP_CLIENT,
	  .loss = "streams that end with their session", .names = { "nghttp2_session_del" } },
	/* exceptions */
	{ .handler = "ray_on_throw", .kind = RAY_SITE_UPROBE, .needed_by = BIT(EXCEPTION_THROW),
	  .names = { "_ZN2v88internal7Isolate5ThrowENS0_6TaggedINS0_6ObjectEEEPNS0_15MessageLocationE",
		     "_ZN2v88internal7Isolate13ThrowInternalENS0_6ObjectEPNS0_15MessageLocationE" } },
	/* Those of C++: calls the other but in node 20, whose compiler has put that into it. */
	{ .handler = "ray_on_throw", .kind = RAY_SITE_UPROBE, .from = 20, .to = 20, .helps = BIT(EXCEPTION_THROW),
	  .loss = "exceptions that C++ throws", .names = { "_ZN2v88internal7Isolate13ScheduleThrowENS0_6ObjectE" } },
	/* threads */
	{ .handler = "ray_on_worker_run", .kind = RAY_SITE_UPROBE, .needed_by = BIT(WORKER_START) | BIT(WORKER_EXIT),
	  .names = { "_ZN4node6worker6Worker3RunEv" } },
	{ .handler = "ray_on_worker_run_return", .kind = RAY_SITE_URETPROBE, .needed_by = BIT(WORKER_EXIT), .names = { "_ZN4node6worker6Worker3RunEv" } },
	{ .handler = "ray_on_environment_exit", .kind = RAY_SITE_UPROBE, .helps = BIT(WORKER_EXIT), .loss = WORKER_LOSS,
	  .names = { "_ZN4node11Environment4ExitENS_8ExitCodeE", "_ZN4node11Environment4ExitEi" } },
	/* The first calls the second where it is there. */
	{ .handler = "ray_on_spin_return", .kind = RAY_SITE_URETPROBE, .helps = BIT(WORKER_EXIT), .loss = WORKER_LOSS,
	  .names = { "_ZN4node21SpinEventLoopInternalEPNS_11EnvironmentE", "_ZN4node13SpinEventLoopEPNS_11EnvironmentE" } },
	{ .handler = "ray_on_exit", .kind = RAY_SITE_SYSCALL_ENTER, .number = SYS_exit_group, .needed_by = BIT(PROCESS_EXIT) },

	/* Works of the pool, and what they are about. */
	{ ENTRY("ray_on_work_submit", "uv__work_submit"), .needed_by = BIT(WORK_SUBMIT), .helps = FS | DNS | WORK_RUN, .loss = "how long operations waited for a thread of the pool" },
	{ ENTRY("ray_on_queue_work", "uv_queue_work"), .needed_by = BIT(WORK_SUBMIT), .helps = FS | WORK_RUN, .loss = "how long works waited for a thread of the pool" },
	{ ENTRY("ray_on_queued_work", "uv__queue_work"), .needed_by = WORK_RUN, .helps = FS, .loss = "the request of some operations on files" },
	{ RETURN("ray_on_work_return", "uv__queue_work"), .needed_by = WORK_RUN, .helps = FS, .loss = "the request of some operations on files" },
	{ ENTRY("ray_on_fs_work", "uv__fs_work"), .needed_by = FS, .helps = WORK_RUN, .loss = "operations on files among the works" },
	{ RETURN("ray_on_fs_work_return", "uv__fs_work"), .needed_by = FS, .helps = WORK_RUN, .loss = "operations on files among the works" },
	{ ENTRY("ray_on_addrinfo_work", "uv__getaddrinfo_work"), .needed_by = DNS, .helps = WORK_RUN, .loss = "dns.lookup() among the works" },
	{ RETURN("ray_on_work_return", "uv__getaddrinfo_work"), .needed_by = DNS, .helps = WORK_RUN, .loss = "dns.lookup() among the works" },
	{ ENTRY("ray_on_nameinfo_work", "uv__getnameinfo_work"), .helps = DNS | WORK_RUN, .loss = "dns.lookupService()" },
	{ RETURN("ray_on_work_return", "uv__getnameinfo_work"), .helps = DNS | WORK_RUN, .loss = "dns.lookupService()" },
	{ ENTRY("ray_on_random_work", "uv__random_work"), .helps = WORK_RUN, .loss = "uv_random()" },
	{ RETURN("ray_on_work_return", "uv__random_work"), .helps = WORK_RUN, .loss = "uv_random()" },
	{ ENTRY("ray_on_cancel", "uv_cancel"), .helps = BIT(FS_DONE) | BIT(DNS_DONE) | BIT(WORK_DONE), .loss = "works that were cancelled" },
	{ RETURN("ray_on_cancel_return", "uv_cancel"), .helps = BIT(FS_DONE) | BIT(DNS_DONE) | BIT(WORK_DONE), .loss = "works that were cancelled" },

	RING("uv__iou_fs_open"), RING("uv__iou_fs_close"), RING("uv__iou_fs_read_or_write"), RING("uv__iou_fs_statx"),
	RING("uv__iou_fs_fsync_or_fdatasync"), RING("uv__iou_fs_link"), RING("uv__iou_fs_mkdir"), RING("uv__iou_fs_rename"),
	RING("uv__iou_fs_symlink"), RING("uv__iou_fs_unlink"),
	{ ENTRY("ray_on_ring_done", "_ZN4node24MakeLibuvRequestCallbackI7uv_fs_sPFvPS1_EE7WrapperES2_"), .helps = FS, .from = 20, .to = 22, .loss = RING_LOSS },

	/* What is not libuv's */
	FILES("_ZN4node2fsL6RmSyncE*", 24, "what fs.rmSync() and fs.cpSync() do"),
	FILES("_ZN4node2fsL13CpSyncCopyDirE*", 22, NULL),
	FILES("_ZN4node2fsL16CpSyncCheckPathsE*", 22, NULL),
	FILES("_ZN4node2fsL18CpSyncOverrideFileE*", 22, NULL),
	FILES("_ZN4node2fs8CpDirJob16DoThreadPoolWorkEv", 26, NULL),
	FILE_CALL(stat), FILE_CALL(lstat), FILE_CALL(sendfile), FILE_CALL(ftruncate), FILE_CALL(rename), FILE_CALL(mkdir), FILE_CALL(rmdir),
	FILE_CALL(link), FILE_CALL(unlink), FILE_CALL(symlink), FILE_CALL(readlink), FILE_CALL(chmod), FILE_CALL(fchmod), FILE_CALL(getdents64),
	FILE_CALL(openat), FILE_CALL(newfstatat), FILE_CALL(unlinkat), FILE_CALL(fchmodat), FILE_CALL(utimensat), FILE_CALL(copy_file_range),
	FILE_CALL(statx),

	/* Questions of c-ares. A node whose callbacks are of the new kind asks by the new function, and only then. */
	{ ENTRY("ray_on_ares_query", "ares_query"), .unless = { ANSWER("7ATraits") "EPv13ares_status_t*" }, .helps = DNS, .loss = "dns.resolve()" },
	{ RETURN("ray_on_ares_return", "ares_query"), .unless = { ANSWER("7ATraits") "EPv13ares_status_t*" }, .helps = DNS, .loss = "dns.resolve()" },
	{ ENTRY("ray_on_ares_query", "ares_query_dnsrec"), .unless = { ANSWER("7ATraits") "EPviiPhi" }, .helps = DNS, .loss = "dns.resolve()" },
	{ RETURN("ray_on_ares_return", "ares_query_dnsrec"), .unless = { ANSWER("7ATraits") "EPviiPhi" }, .helps = DNS, .loss = "dns.resolve()" },
	{ ENTRY("ray_on_ares_address", "ares_gethostbyaddr"), .helps = DNS, .loss = "dns.reverse()" },
	{ RETURN("ray_on_ares_return", "ares_gethostbyaddr"), .helps = DNS, .loss = "dns.reverse()" },
	ANSWER_ROW("7ATraits", "answers of dns.resolve4()"),
	ANSWER_ROW("10AaaaTraits", "answers of dns.resolve6()"),
	ANSWER_ROW("9AnyTraits", "answers of dns.resolveAny()"),
	ANSWER_ROW("9CaaTraits", "answers of dns.resolveCaa()"),
	ANSWER_ROW("11CnameTraits", "answers of dns.resolveCname()"),
	ANSWER_ROW("8MxTraits", "answers of dns.resolveMx()"),
	ANSWER_ROW("11NaptrTraits", "answers of dns.resolveNaptr()"),
	ANSWER_ROW("8NsTraits", "answers of dns.resolveNs()"),
	ANSWER_ROW("9PtrTraits", "answers of dns.resolvePtr()"),
	ANSWER_ROW("9SoaTraits", "answers of dns.resolveSoa()"),
	ANSWER_ROW("9SrvTraits", "answers of dns.resolveSrv()"),
	ANSWER_ROW("9TxtTraits", "answers of dns.resolveTxt()"),
	ANSWER_ROW("10TlsaTraits", NULL), /* only newer ones can ask for it */
	ANSWER_ROW("13ReverseTraits", "answers of dns.reverse()"),
};
/* clang-format on */

const size_t ray_hook_count = RAY_COUNT(ray_hooks);
