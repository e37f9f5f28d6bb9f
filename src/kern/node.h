/* node.h - what the two sides of the node provider agree on: events, hooks, and the state kept between them.
 * SPDX-License-Identifier: MIT
 *
 * A *hook* is a place where the kernel calls us: a system call that returns, a function of node that is entered or left. Its handler is the runtime
 * function ray_on_<name>(slot, step), in node_*.bpf.h. It is called with step 0, 1, 2... until it returns 0; anything else is the *event* that has just
 * happened, for which it has filled slot->args and the event area; the clauses of that probe run, and it is called again. slot->hook_args holds what the
 * hook itself was called with, slot->cursor is the handler's own between its calls.
 *
 * A part of wire.h. */
#include "kern/wire.h" /* the types; it includes this file behind them */

#ifndef RAY_KERN_NODE_H
#define RAY_KERN_NODE_H

/* X(enumerator, "probe") in the order of -l. At most 63: they are bits of a word. */
/* clang-format off */
#define RAY_NODE_EVENTS(X) \
	X(HTTP_SERVER_REQUEST, "http-server-request") \
	X(HTTP_SERVER_RESPONSE_START, "http-server-response-start") \
	X(HTTP_SERVER_RESPONSE, "http-server-response") \
	X(HTTP_SERVER_ABORT, "http-server-abort") \
	X(HTTP_CLIENT_REQUEST, "http-client-request") \
	X(HTTP_CLIENT_RESPONSE_START, "http-client-response-start") \
	X(HTTP_CLIENT_RESPONSE, "http-client-response") \
	X(HTTP_CLIENT_ABORT, "http-client-abort") \
	X(HTTP2_STREAM_OPEN, "http2-stream-open") \
	X(HTTP2_STREAM_CLOSE, "http2-stream-close") \
	X(NET_SERVER_CONNECTION, "net-server-connection") \
	X(NET_CLIENT_CONNECT, "net-client-connect") \
	X(NET_SOCKET_READ, "net-socket-read") \
	X(NET_SOCKET_WRITE, "net-socket-write") \
	X(NET_STREAM_END, "net-stream-end") \
	X(NET_STREAM_CLOSE, "net-stream-close") \
	X(TLS_READ, "tls-read") \
	X(TLS_WRITE, "tls-write") \
	X(GC_START, "gc-start") \
	X(GC_DONE, "gc-done") \
	X(LOOP_START, "loop-start") \
	X(LOOP_DONE, "loop-done") \
	X(LOOP_PHASE_START, "loop-phase-start") \
	X(LOOP_PHASE_DONE, "loop-phase-done") \
	X(CALLBACK_START, "callback-start") \
	X(CALLBACK_DONE, "callback-done") \
	X(TIMER_FIRE, "timer-fire") \
	X(FS_START, "fs-start") \
	X(FS_DONE, "fs-done") \
	X(DNS_START, "dns-start") \
	X(DNS_DONE, "dns-done") \
	X(WORK_SUBMIT, "work-submit") \
	X(WORK_START, "work-start") \
	X(WORK_DONE, "work-done") \
	X(WORKER_START, "worker-start") \
	X(WORKER_EXIT, "worker-exit") \
	X(EXCEPTION_THROW, "exception-throw") \
	X(PROCESS_EXIT, "process-exit")
/* clang-format on */

enum ray_node_event {
	RAY_EVENT_NONE,
#define RAY_EVENT_ENUM(name, text) RAY_EVENT_##name,
	RAY_NODE_EVENTS(RAY_EVENT_ENUM)
#undef RAY_EVENT_ENUM
		RAY_NODE_EVENT_COUNT
};

#define RAY_EVENT_BIT(name) (1ULL << RAY_EVENT_##name)

enum {
	RAY_LATELY = 8,	   /* a power of two */
	RAY_HOOK_ARGS = 8, /* six arguments, then the result, then the number of the system call */
	RAY_HOOK_RESULT = 6,
	RAY_HOOK_NUMBER = 7,
	RAY_CURSOR_WORDS = 8,
	RAY_NODE_NAME = 32, /* bytes of a short name: of an operation, a phase */
	RAY_NODE_REASONS = 40,
	RAY_NODE_REASON = 48,	/* bytes of the name of one */
	RAY_NODE_ADDRESS = 112, /* text of an address; a path of AF_UNIX fits */
	RAY_NODE_METHOD = 24,
	RAY_NODE_URL = 1024,
	RAY_NODE_HOST = 128,
	RAY_NODE_AGENT = 160,
	RAY_NODE_FORWARDED = 64,
	RAY_NODE_PATH = 512,
	RAY_NODE_WINDOW = 1024, /* bytes of a stream that are looked at at once */
};

/* ---- the event area: what args[] point to; D sees these structures through the translators of probe/node_prelude.c ---- */

struct ray_node_request {
	__u64 id;
	__u64 start;	  /* when its head was complete; ns */
	__u32 version;	  /* 10, 11, 20 */
	__u32 url_length; /* of all of it: more than url holds, if it was cut */
	char method[RAY_NODE_METHOD];
	char host[RAY_NODE_HOST];
	char user_agent[RAY_NODE_AGENT];
	char forwarded_for[RAY_NODE_FORWARDED];
	char url[RAY_NODE_URL];
};

struct ray_node_connection {
	__u64 id; /* counts from the start of the trace */
	__s32 fd;
	__u32 family; /* AF_INET, AF_INET6 (never a mapped IPv4 address), AF_UNIX; 0: unknown */
	__u32 remote_port, local_port;
	__u64 buffer_size; /* bytes written and not yet taken by the kernel, where known */
	__u32 is_tls, is_server;
	char remote_address[RAY_NODE_ADDRESS];
	char local_address[RAY_NODE_ADDRESS];
};

struct ray_node_response {
	__u32 status;
	__u32 aborted; /* the connection ended before the response did */
	__u64 id;      /* of the request */
	__u64 bytes;   /* of the response, head and framing included */
	__u64 body_bytes, request_body_bytes;
	__u64 ttfb;	 /* from the request's complete head to the response's first byte; ns */
	__u64 latency;	 /* to its last */
	__u64 stream;	 /* of HTTP/2 */
	__u64 method[2]; /* of the request: its first letters as numbers */
};

struct ray_node_gc {
	char type[RAY_NODE_NAME];
	char reason[RAY_NODE_REASON];
	__u64 before, after; /* bytes in use; 0: unknown */
	__u64 duration;	     /* ns */
	__u32 reason_number, flags;
	__u64 request;
};

struct ray_node_loop {
	__u64 loop; /* uv_loop_t * */
	__u64 iteration;
	__u64 busy, idle; /* ns, of the iteration */
	__u64 duration;	  /* of the phase */
	__u64 request;
	__u64 timers, poll, check; /* ns of the busy time: each with the short phase after it; 0: not known */
	char phase[RAY_NODE_NAME];
};

struct ray_node_callback {
	__u64 handle;
	char kind[RAY_NODE_NAME]; /* tcp, pipe, timer, async... */
	char phase[RAY_NODE_NAME];
	__s32 fd;
	__u32 pad;
	__u64 duration;
	__u64 request;
};

struct ray_node_fs {
	__u64 address; /* uv_fs_t * */
	char operation[RAY_NODE_NAME];
	__s32 fd;
	__u32 is_sync;
	__s64 result;
	__u64 wait, run, total; /* ns */
	__u64 request;
	__u64 tid;  /* of the thread that asked */
	__u64 work; /* uv__work * that it is part of; 0: of none */
	char path[RAY_NODE_PATH];
	char new_path[RAY_NODE_PATH];
};

struct ray_node_dns {
	__u64 address;
	char kind[RAY_NODE_NAME]; /* lookup, reverse, resolve */
	char type[RAY_NODE_NAME]; /* of resolve: A, MX... */
	__s64 result;		  /* 0; less: libuv's error; more: that of c-ares */
	__u64 wait, run, total;
	__u64 request;
	__u32 tid;
	__u32 is_pool; /* a thread of the pool does it */
	char host[256];
	char service[64];
};

struct ray_node_work {
	__u64 address;
	char kind[RAY_NODE_NAME];      /* fs, dns, crypto, zlib... where it can be told, else work */
	char operation[RAY_NODE_NAME]; /* of fs and dns: open, getaddrinfo */
	__u64 wait, run;
	__u64 queued;  /* works that wait now */
	__u64 running; /* and that run */
	__s64 result;
	__u64 request;
	__u64 function; /* what it runs */
	__u64 tid;	/* of the thread that submitted it */
};

struct ray_node_worker {
	__u64 address; /* node::worker::Worker * */
	__u64 thread_id;
	__s64 code;
};

struct ray_node_http2 {
	__u64 session;
	__s32 stream;
	__u32 is_server;
	__u32 status;
	__u32 code; /* of the close: NGHTTP2_NO_ERROR is 0 */
	__u64 duration;
};

/* Of a head; none: what nobody asks for. */
enum ray_node_text_kind {
	RAY_TEXT_NONE,
	RAY_TEXT_URL,
	RAY_TEXT_HOST,
	RAY_TEXT_AGENT,
	RAY_TEXT_LENGTH,
	RAY_TEXT_COUNT,
	RAY_TEXTS = 8
};

/* Texts of requests that no clause reads: they need not be kept. */
enum { RAY_UNREAD_HOST = 1, RAY_UNREAD_AGENT = 2, RAY_UNREAD_FORWARDED = 4 };

struct ray_node_area {
	struct ray_node_request request;
	struct ray_node_connection connection;
	struct ray_node_response response;
	union {
		struct ray_node_gc gc;
		struct ray_node_loop loop;
		struct ray_node_callback callback;
		struct ray_node_fs fs;
		struct ray_node_dns dns;
		struct ray_node_work work;
		struct ray_node_worker worker;
		struct ray_node_http2 http2;
		char text[512];
	};
	struct ray_node_window {
		__u32 at, end;
		__u64 event;
		__u64 now;    /* 0 until asked for */
		__u64 zero;   /* always; the verifier does not know */
		__u32 filled; /* bytes of the call that are here though it has not begun; then is_plain says whether */
		__u32 is_plain;	       /* head is what they begin with */
		struct ray_node_head { /* see node_http_quick.bpf.h */
			__u64 at;      /* behind what was understood */
			__u64 method;
			__u64 length; /* of the body */
			__u32 flags, status, version, pad;
			struct ray_node_text {
				__u32 at, size;
			} texts[RAY_TEXTS];
		} head;				   /* nothing of it is believed before its end was seen */
		__u8 bytes[RAY_NODE_WINDOW + 128]; /* searched by words, beyond its end */
	} window;
};

/* ---- state ---- */

/* Where the fields lie that handlers read in the process; 0 where not known. */
struct ray_node_offsets {
	__u16 stream_fd, handle_type, watcher_fd;
	__u16 fs_type, fs_cb, fs_result, fs_path, fs_new_path, fs_file, fs_work;
	__u16 addrinfo_work, addrinfo_host, addrinfo_service, addrinfo_result;
	__u16 nameinfo_work, nameinfo_result;
	__u16 timer_timeout, loop_time;
	__u16 request_type, fs_pointer, nameinfo_address, queue_work;
	__u16 random_work;
	__u16 job_type; /* of node's own works: from the uv_work_t to the name of what they do; 0 before node 20 */
	__u16 spare[8];
};

/* Functions that handlers tell apart by their address. */
enum ray_node_code {
	RAY_CODE_FS_WORK,	/* uv__fs_work */
	RAY_CODE_ADDRINFO_WORK, /* uv__getaddrinfo_work */
	RAY_CODE_NAMEINFO_WORK, /* uv__getnameinfo_work */
	RAY_CODE_QUEUE_WORK,	/* uv__queue_work */
	RAY_CODE_RANDOM_WORK,	/* uv__random_work */
	RAY_CODE_JOB,		/* what node gives uv_queue_work(): node::ThreadPoolWork's */
	RAY_NODE_CODES = 8
};

enum { RAY_NODE_OPERATIONS = 64, RAY_NODE_OPERATION = 16 };

/* Of V8's objects, what handlers read of them: names of v8/layout.h. */
/* clang-format off */
#define RAY_NODE_V8(X) \
	X(MAP_INSTANCE_TYPE) X(MAP_BIT_FIELD3) X(MAP_DESCRIPTORS) X(MAP_INSTANCE_SIZE) X(MAP_INOBJECT_START) X(DESCRIPTORS_HEADER) \
	X(OWN_DESCRIPTORS_MASK) X(OWN_DESCRIPTORS_SHIFT) X(PROP_LOCATION_MASK) X(PROP_KIND_MASK) X(PROP_INDEX_MASK) X(PROP_INDEX_SHIFT) \
	X(PROPERTIES) X(ARRAY_DATA) X(DICTIONARY_SHIFT) X(DICTIONARY_PREFIX_START) X(DICTIONARY_PREFIX_SIZE) \
	X(STRING_LENGTH) X(SEQ_ONE_CHARS) X(SEQ_TWO_CHARS) X(CONS_FIRST) X(CONS_SECOND) \
	X(SLICED_PARENT) X(SLICED_OFFSET) X(THIN_ACTUAL) X(EXTERNAL_DATA) X(STRING_REPRESENTATION_MASK) X(STRING_ENCODING_MASK) \
	X(ONE_BYTE_TAG) X(CONS_TAG) X(EXTERNAL_TAG) X(SLICED_TAG) X(THIN_TAG) X(FIRST_NONSTRING)
/* clang-format on */

enum ray_node_v8 {
#define RAY_NODE_V8_ENUM(name) RAY_NODE_V8_##name,
	RAY_NODE_V8(RAY_NODE_V8_ENUM)
#undef RAY_NODE_V8_ENUM
		RAY_NODE_V8_COUNT
};

/* What runs when an event happens in one process. The first fields are those of struct ray_point, in its order. */
struct ray_node_point {
	__u32 probe; /* 0: nobody wants it here */
	__u32 pad;
	__u64 clauses[2];
};

/* What a process lacks (probe/watch.h: struct ray_hook). */
enum ray_watched_flag {
	RAY_WATCHED_NO_IO = 1, /* callbacks of descriptors cannot be told apart */
};

/* Element of the map `nodes`, by tgid: a process whose events are wanted. */
struct ray_watched {
	__u64 wanted;  /* RAY_EVENT_BIT()s */
	__u32 version; /* of node: 22023 for 22.23 */
	__u32 flags;   /* enum ray_watched_flag */
	struct ray_node_offsets at;
	__u64 code[RAY_NODE_CODES];  /* addresses in the process, by enum ray_node_code; 0: not known */
	__s32 v8[RAY_NODE_V8_COUNT]; /* by enum ray_node_v8; all 0: not known */
	struct ray_node_point points[RAY_NODE_EVENT_COUNT];
	char reasons[RAY_NODE_REASONS][RAY_NODE_REASON];	  /* of collections, by number */
	char operations[RAY_NODE_OPERATIONS][RAY_NODE_OPERATION]; /* of files, by uv_fs_type; "" where there is none */
};

/* Element of `node_kin`: what a process will be watched with that becomes this program (kin.bpf.h). */
enum { RAY_KIN_COUNT = 64, RAY_KIN_HELD = 0xffffffff /* as tgid: user space changes it */ };

struct ray_kin {
	__u32 tgid; /* who has taken it; 0: nobody */
	__u32 dev;  /* of the executable, as the kernel writes it */
	__u64 inode;
	__u64 born; /* when it was taken; ns */
	struct ray_watched node;
};

struct ray_node_collection {
	__u64 start; /* ns; 0: none */
	__u64 sp;
	__u32 type, flags;
};

/* Element of `node_threads`, by tid. What a thread is in the middle of. Each part belongs to one file of handlers. */
struct ray_node_thread {
	/* node_socket.bpf.h: the socket that was read last, and the request that its bytes completed: what runs now, runs for it. Bytes that held more
	 * than one do not tell which: then it is 0. */
	__s32 io_fd;
	__u32 io_requests;
	__u64 request;
	/* node_tls.bpf.h: what SSL_read() and SSL_write() were called with. out: where the _ex forms put the number of bytes. */
	__u64 read_ssl, read_buffer, read_out;
	__u64 write_ssl, write_buffer, write_out;
	/* node_http2.bpf.h: the session that is being given a request */
	__u64 h2_session;
	/* node_worker.bpf.h: the worker whose thread it is; 0: none */
	__u64 worker, worker_id;
	__s32 worker_code;
	__u32 worker_flags;
	/* node_loop.bpf.h: the event loop that the thread runs. Times are ns. */
	__u64 loop; /* uv_loop_t *; 0: none of its functions was seen yet */
	__u64 loop_iteration;
	__u64 loop_done;	       /* when the last iteration ended; 0: none was seen to end */
	__u64 loop_wake;	       /* when this one began to work */
	__u64 loop_idle;	       /* how long it has slept */
	__u64 loop_poll;	       /* when it went to sleep; 0: it does not */
	__u64 loop_check, loop_timers; /* when these phases of this iteration began; 0: not yet */
	__s32 loop_fd;		       /* its epoll's */
	__u32 loop_flags;
	__s32 loop_result, loop_room,
		loop_timeout;			  /* of the last epoll_wait(): events, how many would have fitted, ms */
	__s32 loop_other_fd;			  /* another one that may be the loop's */
	__u32 loop_other_polls, loop_plain_polls; /* and why one may think so */
	__u32 phase;
	__u32 loop_by_function; /* polls are told by the C library's functions: not again by the system calls in them */
	__u64 phase_start, phase_sp;
	__u64 callback_start, callback_handle;
	__s32 callback_fd;
	__u32 callback_kind; /* 0: none runs */
	/* node_gc.bpf.h: the collection that runs, and the one that it interrupts */
	struct ray_node_collection gc, gc_outer;
	__u64 gc_sp; /* stack pointer in the outermost CollectGarbage(); 0: not in one */
	__u64 gc_entered, gc_before, gc_after;
	__u32 gc_reason, gc_flags, gc_sizes, gc_pad;
	/* node_work.bpf.h, node_fs.bpf.h, node_dns.bpf.h: the one that runs on this thread */
	__u64 work, work_start, work_request, work_tid;
	__u64 fs, fs_start, fs_sp, fs_submitted;
	__u32 fs_type, work_kind;
	__u64 ares_sp, cancel, ring;
	/* node_files.bpf.h: in one of the functions that use the C++ library, and in a system call of it since */
	__u64 files_sp, files_start;
	__s32 poll_fd, poll_room, poll_timeout; /* what the function was called with */
	__u32 poll_pad;
	__u64 spare[5];
};

/* Key of `node_works`: something in a process that has an address, and which of our tables it is in. */
struct ray_node_work_key {
	__u32 tgid;
	__u32 kind; /* enum ray_work_table */
	__u64 address;
};

enum ray_work_table {
	RAY_TABLE_WORK = 1, /* by the address of its uv__work */
	RAY_TABLE_POOL,	    /* by 0: the pool of a process */
	RAY_TABLE_ARES,	    /* a question of c-ares, by what its answer is told with */
	RAY_TABLE_PATH, /* of a file that is being closed, by the uv__work; of a directory that is read, by its uv_dir_t */
};

struct ray_node_work_state {
	__u64 submitted;
	__u64 request;
	__u64 function;
	__u32 kind;		  /* enum ray_work_kind, of the handlers */
	__u32 is_told;		  /* that it was asked for; 2: and its waiting has been told */
	__u64 tid;		  /* who asked */
	__u64 queued, running;	  /* of the pool */
	char text[RAY_NODE_PATH]; /* a path, or the name that is looked up */
};

/* A request of HTTP/1 whose response is not complete. The only one on a connection is kept there; others are elements of `node_requests`, by
 * RAY_NODE_REQUEST_KEY(id of the connection, number in it). */
struct ray_node_pending {
	__u64 body;	 /* bytes of its body, once all came */
	__u64 forwarded; /* length of forwarded_for */
	struct ray_node_request request;
	__u64 spare[8]; /* where the verifier thinks that the URL may go on */
};

#define RAY_NODE_REQUEST_KEY(connection, number) ((__u64)(connection) << 24 | ((number)&0xffffff))

/* Key of `node_conns`: a socket of a process, or one end of TLS. */
struct ray_node_conn_key {
	__u32 tgid;
	__u32 is_tls;
	__u64 id; /* fd, or SSL * */
};

/* One direction of a connection: where the parser stands (node_http.bpf.h). */
struct ray_node_stream {
	__u8 state;    /* enum ray_http_state */
	__u8 next;     /* the state after this line */
	__u8 after;    /* the state after this message */
	__u8 field;    /* enum ray_http_field */
	__u16 carried; /* bytes in carry */
	__u16 flags;   /* RAY_HTTP_IS_*, of the message */
	__u32 status;
	__u32 version;
	__u64 left;	   /* bytes of the body, or of the chunk, still to come; while its number is read, that */
	__u64 bytes, body; /* of the message so far */
	__u64 start;	   /* when its first byte came */
	__u64 number;	   /* of the request that it is, or answers; 0: none */
	__u64 length;	   /* of the token that is read */
	/* A line of the cache ends here: plain messages need no more. */
	__u64 word;	/* the last bytes of the token */
	__u8 carry[32]; /* the start of a line that came in pieces */
	__u64 spare[3];
};

/* Element of `node_conns`. */
/* What a plain request needs lies together, in few lines of the cache: hundreds of connections take turns. */
struct ray_node_conn {
	__u64 file;	   /* struct file *: another one behind the same fd is another connection */
	__u64 sure;	   /* ray_state.doubts when it was last looked whether it still is that file */
	__u64 flags;	   /* RAY_CONN_* */
	__u64 first, next; /* of the requests on their way: the oldest's number, and the next one's */
	__u64 own_number;  /* of the one that is in own; 0: none */
	/* In node_near a line of the cache ends here. */
	struct ray_node_stream in, out;
	struct ray_node_pending own;
	struct ray_node_connection connection;
	__u64 connect_start; /* of a connect() that has not succeeded yet */
	/* Of a socket: what speaks over it, which its close ends. node_tls.bpf.h, node_http2.bpf.h */
	__u64 ssl;	  /* SSL *: the key of another element; 0: none */
	__u64 h2_session; /* nghttp2_session *; 0: none */
};

/* Element of `node_near`: most connections have a place of their own there, which is found without a hash. `node_conns` holds those whose
 * place is another's. */
enum { RAY_NEAR = 512, RAY_NEAR_TAKEN = 0xffffffff /* as tgid: somebody moves in */ };

struct ray_node_near {
	struct ray_node_conn_key key; /* tgid 0: free */
	struct ray_node_conn conn;
};

_Static_assert(sizeof(struct ray_node_near) % 64 == 0, "elements begin where a line of the cache does");

static inline __attribute__((always_inline)) __u32 ray_near_index(const struct ray_node_conn_key *key)
{
	return (__u32)(key->id ^ key->id >> 9 ^ key->id >> 18 ^ (__u64)key->tgid * 37) & (RAY_NEAR - 1);
}

/* Key of `node_h2`: a stream of HTTP/2; stream 0 is the session itself. */
struct ray_h2_key {
	__u32 tgid;
	__u32 stream;
	__u64 session; /* nghttp2_session * */
};

enum ray_h2_flag {
	RAY_H2_SERVER = 1,
	RAY_H2_OPENED = 2,  /* its head is complete, and was told */
	RAY_H2_STARTED = 4, /* the response has begun */
	RAY_H2_DONE = 8,    /* and ended, or is known never to */
	RAY_H2_SURE = 16,   /* of a session: its socket was learnt from what came in */
};

/* Element of `node_h2`. */
struct ray_h2_state {
	/* Open streams of a session, as they came; 0 ends it. Of the session: the newest of them. */
	__u32 newer, older;
	__u32 flags;	  /* enum ray_h2_flag */
	__s32 fd;	  /* of a session: its socket; -1: not known */
	__u64 connection; /* and the id of that, since descriptors are used again */
	/* Of a stream only. */
	struct ray_node_response response;
	struct ray_node_request request;
};

#endif
