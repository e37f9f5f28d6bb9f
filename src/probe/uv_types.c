/* uv_types.c - libuv's structures, as they lie in memory on 64-bit Linux, and its constants.
 * SPDX-License-Identifier: MIT
 *
 * The members that scripts have a use for, and only those that lie at the same place in every libuv from node 12 to 26 (a test reads the DWARF of the
 * binaries). fd is not a member of libuv's own: it stands for io_watcher.fd. */
#include "probe/uv.h"

#define HANDLE "0 void *data;8 uv_loop_t *loop;16 uv_handle_type type;24 uv_close_cb close_cb;88 unsigned int flags"
#define STREAM                                                                                \
	HANDLE ";96 size_t write_queue_size;104 uv_alloc_cb alloc_cb;112 uv_read_cb read_cb;" \
	       "120 uv_connect_t *connect_req;128 uv_shutdown_t *shutdown_req;184 int fd;"    \
	       "224 uv_connection_cb connection_cb;232 int delayed_error;236 int accepted_fd"
#define REQUEST "0 void *data;8 uv_req_type type"

#define DERIVED(base_, name_, tag_, size_, members_)                                                  \
	{                                                                                             \
		.name = (name_), .tag = (tag_), .base = (base_), .size = (size_), .members = members_ \
	}
#define STRUCT(name_, tag_, size_, members_) DERIVED(NULL, name_, tag_, size_, members_)
#define OPAQUE(name_, size_)                                    \
	{                                                       \
		.name = (name_), .size = (size_), .members = "" \
	}
#define NAME(name_, is_)                     \
	{                                    \
		.name = (name_), .is = (is_) \
	}
#define FUNCTION(name_) NAME(name_, "uintptr_t")
#define ENUM(name_) NAME(name_, "int")

const struct ray_probe_type ray_uv_types[] = {
	/* Loops and handles. */
	STRUCT("uv_loop_t", "uv_loop_s", 848,
	       "0 void *data;8 unsigned int active_handles;32 unsigned int active_reqs;48 unsigned int stop_flag;"
	       "56 unsigned long flags;64 int backend_fd;112 unsigned int nwatchers;116 unsigned int nfds;"
	       "512 int async_wfd;528 unsigned int timers;536 uint64_t timer_counter;544 uint64_t time"),
	STRUCT("uv_handle_t", "uv_handle_s", 96, HANDLE),
	DERIVED("uv_handle_t", "uv_stream_t", "uv_stream_s", 248, STREAM),
	DERIVED("uv_stream_t", "uv_tcp_t", "uv_tcp_s", 248, STREAM),
	DERIVED("uv_stream_t", "uv_pipe_t", "uv_pipe_s", 264, STREAM ";248 int ipc;256 string *pipe_fname"),
	DERIVED("uv_stream_t", "uv_tty_t", "uv_tty_s", 312, STREAM ";308 int mode"),
	DERIVED("uv_handle_t", "uv_udp_t", "uv_udp_s", 216,
		HANDLE ";96 size_t send_queue_size;104 size_t send_queue_count;112 uv_alloc_cb alloc_cb;"
		       "120 uv_udp_recv_cb recv_cb;176 int fd"),
	DERIVED("uv_handle_t", "uv_timer_t", "uv_timer_s", 152,
		HANDLE ";96 uv_timer_cb timer_cb;128 uint64_t timeout;136 uint64_t repeat;144 uint64_t start_id"),
	DERIVED("uv_handle_t", "uv_poll_t", "uv_poll_s", 160, HANDLE ";96 uv_poll_cb poll_cb;152 int fd"),
	DERIVED("uv_handle_t", "uv_signal_t", "uv_signal_s", 152,
		HANDLE ";96 uv_signal_cb signal_cb;104 int signum;144 unsigned int caught_signals;"
		       "148 unsigned int dispatched_signals"),
	DERIVED("uv_handle_t", "uv_async_t", "uv_async_s", 128, HANDLE ";96 uv_async_cb async_cb;120 int pending"),
	DERIVED("uv_handle_t", "uv_process_t", "uv_process_s", 136,
		HANDLE ";96 uv_exit_cb exit_cb;104 int pid;128 int status"),
	DERIVED("uv_handle_t", "uv_fs_event_t", "uv_fs_event_s", 136,
		HANDLE ";96 string *path;104 uv_fs_event_cb cb;128 int wd"),
	DERIVED("uv_handle_t", "uv_fs_poll_t", "uv_fs_poll_s", 104, HANDLE),
	DERIVED("uv_handle_t", "uv_prepare_t", "uv_prepare_s", 120, HANDLE ";96 uv_prepare_cb prepare_cb"),
	DERIVED("uv_handle_t", "uv_check_t", "uv_check_s", 120, HANDLE ";96 uv_check_cb check_cb"),
	DERIVED("uv_handle_t", "uv_idle_t", "uv_idle_s", 120, HANDLE ";96 uv_idle_cb idle_cb"),
	/* Requests. */
	STRUCT("uv_req_t", "uv_req_s", 64, REQUEST),
	DERIVED("uv_req_t", "uv_fs_t", "uv_fs_s", 440,
		REQUEST ";64 uv_fs_type fs_type;72 uv_loop_t *loop;80 uv_fs_cb cb;88 ssize_t result;96 void *ptr;"
			"104 string *path;112 uv_stat_t statbuf;272 string *new_path;280 uv_file file;284 int flags;"
			"288 unsigned int mode;292 unsigned int nbufs;296 uv_buf_t *bufs;304 int64_t off;"
			"312 uv_uid_t uid;316 uv_gid_t gid"),
	DERIVED("uv_req_t", "uv_getaddrinfo_t", "uv_getaddrinfo_s", 160,
		REQUEST ";64 uv_loop_t *loop;112 uv_getaddrinfo_cb cb;120 struct addrinfo *hints;128 string *hostname;"
			"136 string *service;144 struct addrinfo *addrinfo;152 int retcode"),
	DERIVED("uv_req_t", "uv_getnameinfo_t", "uv_getnameinfo_s", 1320,
		REQUEST ";64 uv_loop_t *loop;112 uv_getnameinfo_cb getnameinfo_cb;120 uv_sockaddr_t storage;"
			"248 int flags;252 char host[1025];1277 char service[32];1312 int retcode"),
	DERIVED("uv_req_t", "uv_work_t", "uv_work_s", 128,
		REQUEST ";64 uv_loop_t *loop;72 uv_work_cb work_cb;80 uv_after_work_cb after_work_cb"),
	DERIVED("uv_req_t", "uv_write_t", "uv_write_s", 192,
		REQUEST ";64 uv_write_cb cb;72 uv_stream_t *send_handle;80 uv_stream_t *handle;"
			"104 unsigned int write_index;112 uv_buf_t *bufs;120 unsigned int nbufs;124 int error"),
	DERIVED("uv_req_t", "uv_connect_t", "uv_connect_s", 96, REQUEST ";64 uv_connect_cb cb;72 uv_stream_t *handle"),
	DERIVED("uv_req_t", "uv_shutdown_t", "uv_shutdown_s", 80,
		REQUEST ";64 uv_stream_t *handle;72 uv_shutdown_cb cb"),
	DERIVED("uv_req_t", "uv_udp_send_t", "uv_udp_send_s", 320,
		REQUEST ";64 uv_udp_t *handle;72 uv_udp_send_cb cb;96 uv_sockaddr_t addr;224 unsigned int nbufs;"
			"232 uv_buf_t *bufs;240 ssize_t status;248 uv_udp_send_cb send_cb"),
	DERIVED("uv_req_t", "uv_random_t", "uv_random_s", 144,
		REQUEST ";64 uv_loop_t *loop;72 int status;80 void *buf;88 size_t buflen;96 uv_random_cb cb"),
	/* What they are given. */
	STRUCT("uv_buf_t", "uv_buf_t", 16, "0 char *base;8 size_t len"),
	STRUCT("uv_process_options_t", "uv_process_options_s", 64,
	       "0 uv_exit_cb exit_cb;8 string *file;16 char **args;24 char **env;32 string *cwd;40 unsigned int flags;"
	       "44 int stdio_count;48 uv_stdio_container_t *stdio;56 uv_uid_t uid;60 uv_gid_t gid"),
	STRUCT("uv_stdio_container_t", "uv_stdio_container_s", 16, "0 int flags;8 uv_stream_t *stream;8 int fd"),
	STRUCT("uv_timespec_t", NULL, 16, "0 long tv_sec;8 long tv_nsec"),
	STRUCT("uv_timeval_t", NULL, 16, "0 long tv_sec;8 long tv_usec"),
	STRUCT("uv_timespec64_t", NULL, 16, "0 int64_t tv_sec;8 int32_t tv_nsec"),
	STRUCT("uv_timeval64_t", NULL, 16, "0 int64_t tv_sec;8 int32_t tv_usec"),
	STRUCT("uv_stat_t", NULL, 160,
	       "0 uint64_t st_dev;8 uint64_t st_mode;16 uint64_t st_nlink;24 uint64_t st_uid;32 uint64_t st_gid;"
	       "40 uint64_t st_rdev;48 uint64_t st_ino;56 uint64_t st_size;64 uint64_t st_blksize;"
	       "72 uint64_t st_blocks;96 uv_timespec_t st_atim;112 uv_timespec_t st_mtim;128 uv_timespec_t st_ctim;"
	       "144 uv_timespec_t st_birthtim"),
	STRUCT("uv_dirent_t", "uv_dirent_s", 16, "0 string *name;8 int type"),
	STRUCT("uv_dir_t", "uv_dir_s", 56, "0 uv_dirent_t *dirents;8 size_t nentries"),
	STRUCT("uv_env_item_t", "uv_env_item_s", 16, "0 string *name;8 string *value"),
	STRUCT("uv_passwd_t", "uv_passwd_s", 40,
	       "0 string *username;8 unsigned long uid;16 unsigned long gid;24 string *shell;32 string *homedir"),
	STRUCT("uv_group_t", "uv_group_s", 24, "0 string *groupname;8 unsigned long gid"),
	STRUCT("uv_utsname_t", "uv_utsname_s", 1024,
	       "0 char sysname[256];256 char release[256];512 char version[256];768 char machine[256]"),
	STRUCT("uv_cpu_info_t", "uv_cpu_info_s", 56, "0 string *model;8 int speed"),
	STRUCT("uv_interface_address_t", "uv_interface_address_s", 80,
	       "0 string *name;8 char phys_addr[6];16 int is_internal"),
	STRUCT("uv_rusage_t", NULL, 144,
	       "0 uv_timeval_t ru_utime;16 uv_timeval_t ru_stime;32 uint64_t ru_maxrss;64 uint64_t ru_minflt;"
	       "72 uint64_t ru_majflt;88 uint64_t ru_inblock;96 uint64_t ru_oublock;128 uint64_t ru_nvcsw;"
	       "136 uint64_t ru_nivcsw"),
	STRUCT("uv_metrics_t", "uv_metrics_s", 128,
	       "0 uint64_t loop_count;8 uint64_t events;16 uint64_t events_waiting"),
	STRUCT("uv_lib_t", NULL, 16, "0 void *handle;8 string *errmsg"),
	STRUCT("uv_thread_options_t", "uv_thread_options_s", 16, "0 unsigned int flags;8 size_t stack_size"),
	STRUCT("uv_addrinfo_t", "addrinfo", 48,
	       "0 int ai_flags;4 int ai_family;8 int ai_socktype;12 int ai_protocol;16 unsigned int ai_addrlen;"
	       "24 uv_sockaddr_t *ai_addr;32 string *ai_canonname;40 struct addrinfo *ai_next"),
	/* Any socket address: struct sockaddr and those that it stands for. */
	{ .name = "uv_sockaddr_t",
	  .tag = "uv_sockaddr",
	  .size = 128,
	  .members =
		  "0 uint16_t family;2 uint16_t sin_port;4 ipaddr_t sin_addr;8 in6_addr_t sin6_addr;2 char sun_path[108]",
	  .view_tag = "uv_sockaddr_view",
	  .view = "struct uv_sockaddr_view { string address; int port; };\n"
		  "translator struct uv_sockaddr_view < uv_sockaddr_t *S > {\n"
		  "address = !S ? \"\" : S->family == 2 ? inet_ntop(2, &S->sin_addr) :\n"
		  "S->family == 10 ? inet_ntop(10, &S->sin6_addr) : S->family == 1 ? stringof(S->sun_path) : \"\";\n"
		  "port = S && (S->family == 2 || S->family == 10) ? ntohs(S->sin_port) : 0;\n"
		  "};\n" },
	/* Locks: what is in them is the C library's. */
	OPAQUE("uv_mutex_t", 40),
	OPAQUE("uv_rwlock_t", 56),
	OPAQUE("uv_sem_t", 32),
	OPAQUE("uv_cond_t", 48),
	OPAQUE("uv_barrier_t", 32),
	OPAQUE("FILE", 216),
	/* Numbers. */
	NAME("uv_once_t", "int"),
	NAME("uv_key_t", "unsigned int"),
	NAME("uv_thread_t", "unsigned long"),
	NAME("uv_file", "int"),
	NAME("uv_os_fd_t", "int"),
	NAME("uv_os_sock_t", "int"),
	NAME("uv_pid_t", "int"),
	NAME("uv_uid_t", "unsigned int"),
	NAME("uv_gid_t", "unsigned int"),
	ENUM("uv_handle_type"),
	ENUM("uv_req_type"),
	ENUM("uv_fs_type"),
	ENUM("uv_run_mode"),
	ENUM("uv_loop_option"),
	ENUM("uv_membership"),
	ENUM("uv_tty_mode_t"),
	ENUM("uv_tty_vtermstate_t"),
	ENUM("uv_clock_id"),
	/* Addresses of functions: for ufunc() and usym(). */
	FUNCTION("uv_after_work_cb"),
	FUNCTION("uv_alloc_cb"),
	FUNCTION("uv_async_cb"),
	FUNCTION("uv_calloc_func"),
	FUNCTION("uv_check_cb"),
	FUNCTION("uv_close_cb"),
	FUNCTION("uv_connect_cb"),
	FUNCTION("uv_connection_cb"),
	FUNCTION("uv_exit_cb"),
	FUNCTION("uv_free_func"),
	FUNCTION("uv_fs_cb"),
	FUNCTION("uv_fs_event_cb"),
	FUNCTION("uv_fs_poll_cb"),
	FUNCTION("uv_getaddrinfo_cb"),
	FUNCTION("uv_getnameinfo_cb"),
	FUNCTION("uv_idle_cb"),
	FUNCTION("uv_malloc_func"),
	FUNCTION("uv_poll_cb"),
	FUNCTION("uv_prepare_cb"),
	FUNCTION("uv_random_cb"),
	FUNCTION("uv_read_cb"),
	FUNCTION("uv_realloc_func"),
	FUNCTION("uv_shutdown_cb"),
	FUNCTION("uv_signal_cb"),
	FUNCTION("uv_thread_cb"),
	FUNCTION("uv_timer_cb"),
	FUNCTION("uv_udp_recv_cb"),
	FUNCTION("uv_udp_send_cb"),
	FUNCTION("uv_walk_cb"),
	FUNCTION("uv_work_cb"),
	FUNCTION("uv_write_cb"),
	{ 0 },
};

#define NUMBER(name_, value_) \
	{                     \
		name_, value_ \
	}

/* clang-format off */
const struct ray_probe_constant ray_uv_constants[] = {
	/* Kinds of handles. */
	NUMBER("UV_UNKNOWN_HANDLE", 0), NUMBER("UV_ASYNC", 1), NUMBER("UV_CHECK", 2), NUMBER("UV_FS_EVENT", 3),
	NUMBER("UV_FS_POLL", 4), NUMBER("UV_HANDLE", 5), NUMBER("UV_IDLE", 6), NUMBER("UV_NAMED_PIPE", 7),
	NUMBER("UV_POLL", 8), NUMBER("UV_PREPARE", 9), NUMBER("UV_PROCESS", 10), NUMBER("UV_STREAM", 11),
	NUMBER("UV_TCP", 12), NUMBER("UV_TIMER", 13), NUMBER("UV_TTY", 14), NUMBER("UV_UDP", 15),
	NUMBER("UV_SIGNAL", 16), NUMBER("UV_FILE", 17),
	/* Kinds of requests. */
	NUMBER("UV_UNKNOWN_REQ", 0), NUMBER("UV_REQ", 1), NUMBER("UV_CONNECT", 2), NUMBER("UV_WRITE", 3),
	NUMBER("UV_SHUTDOWN", 4), NUMBER("UV_UDP_SEND", 5), NUMBER("UV_FS", 6), NUMBER("UV_WORK", 7),
	NUMBER("UV_GETADDRINFO", 8), NUMBER("UV_GETNAMEINFO", 9), NUMBER("UV_RANDOM", 10),
	/* Operations on files. */
	NUMBER("UV_FS_UNKNOWN", -1), NUMBER("UV_FS_CUSTOM", 0), NUMBER("UV_FS_OPEN", 1), NUMBER("UV_FS_CLOSE", 2),
	NUMBER("UV_FS_READ", 3), NUMBER("UV_FS_WRITE", 4), NUMBER("UV_FS_SENDFILE", 5), NUMBER("UV_FS_STAT", 6),
	NUMBER("UV_FS_LSTAT", 7), NUMBER("UV_FS_FSTAT", 8), NUMBER("UV_FS_FTRUNCATE", 9), NUMBER("UV_FS_UTIME", 10),
	NUMBER("UV_FS_FUTIME", 11), NUMBER("UV_FS_ACCESS", 12), NUMBER("UV_FS_CHMOD", 13), NUMBER("UV_FS_FCHMOD", 14),
	NUMBER("UV_FS_FSYNC", 15), NUMBER("UV_FS_FDATASYNC", 16), NUMBER("UV_FS_UNLINK", 17),
	NUMBER("UV_FS_RMDIR", 18), NUMBER("UV_FS_MKDIR", 19), NUMBER("UV_FS_MKDTEMP", 20), NUMBER("UV_FS_RENAME", 21),
	NUMBER("UV_FS_SCANDIR", 22), NUMBER("UV_FS_LINK", 23), NUMBER("UV_FS_SYMLINK", 24),
	NUMBER("UV_FS_READLINK", 25), NUMBER("UV_FS_CHOWN", 26), NUMBER("UV_FS_FCHOWN", 27),
	NUMBER("UV_FS_REALPATH", 28), NUMBER("UV_FS_COPYFILE", 29), NUMBER("UV_FS_LCHOWN", 30),
	NUMBER("UV_FS_OPENDIR", 31), NUMBER("UV_FS_READDIR", 32), NUMBER("UV_FS_CLOSEDIR", 33),
	NUMBER("UV_FS_STATFS", 34), NUMBER("UV_FS_MKSTEMP", 35), NUMBER("UV_FS_LUTIME", 36),
	/* How the loop is run; what is no errno. */
	NUMBER("UV_RUN_DEFAULT", 0), NUMBER("UV_RUN_ONCE", 1), NUMBER("UV_RUN_NOWAIT", 2), NUMBER("UV_EOF", -4095),
	{ 0 },
};
/* clang-format on */
