/* node_prelude.c - the types of the node provider's arguments, as D sees them. SPDX-License-Identifier: MIT
 *
 * The node_native structures are those of kern/node.h, field by field (a test compares them); a script uses the types that
 * translators make of them. The first two are those of node's own probes of old, with their members. */
#include "probe/node_events.h"

/* clang-format off */
const char ray_node_prelude[] =
	"struct node_native_request { uint64_t id, start; uint32_t version, url_length; char method[24]; char host[128]; "
	"char user_agent[160]; char forwarded_for[64]; char url[1024]; };\n"
	"struct node_native_connection { uint64_t id; int32_t fd; uint32_t family, remote_port, local_port; uint64_t buffer_size; "
	"uint32_t is_tls, is_server; char remote_address[112]; char local_address[112]; };\n"
	"struct node_native_response { uint32_t status, aborted; uint64_t id, bytes, body_bytes, request_body_bytes, ttfb, latency, "
	"stream; uint64_t method[2]; };\n"
	"struct node_native_gc { char type[32]; char reason[48]; uint64_t before, after, duration; uint32_t reason_number, flags; "
	"uint64_t request; };\n"
	"struct node_native_loop { uint64_t loop, iteration, busy, idle, duration, request, timers, poll, check; char phase[32]; };\n"
	"struct node_native_callback { uint64_t handle; char kind[32]; char phase[32]; int32_t fd; uint32_t pad; uint64_t duration, request; };\n"
	"struct node_native_fs { uint64_t address; char operation[32]; int32_t fd; uint32_t is_sync; int64_t result; "
	"uint64_t wait, run, total, request, tid, work; char path[512]; char new_path[512]; };\n"
	"struct node_native_dns { uint64_t address; char kind[32]; char type[32]; int64_t result; uint64_t wait, run, total, request; "
	"uint32_t tid, is_pool; char host[256]; char service[64]; };\n"
	"struct node_native_work { uint64_t address; char kind[32]; char operation[32]; uint64_t wait, run, queued, running; int64_t result; "
	"uint64_t request, function, tid; };\n"
	"struct node_native_worker { uint64_t address, thread_id; int64_t code; };\n"
	"struct node_native_http2 { uint64_t session; int32_t stream; uint32_t is_server, status, code; uint64_t duration; };\n"

	"typedef struct node_http_request { string url; string method; string forwardedFor; string host; string userAgent; "
	"uint64_t id; uint64_t start; int version; int urlLength; uint64_t methodStart, methodRest; } node_http_request_t;\n"
	"translator node_http_request_t < struct node_native_request *R > { url = stringof(R->url); method = stringof(R->method); "
	"forwardedFor = stringof(R->forwarded_for); host = stringof(R->host); userAgent = stringof(R->user_agent); id = R->id; "
	"start = R->start; version = R->version; urlLength = R->url_length; "
	"methodStart = *(uint64_t *)R->method; methodRest = *(uint64_t *)(R->method + 8); };\n"

	"typedef struct node_connection { int fd; string remoteAddress; int remotePort; string localAddress; int localPort; "
	"uint64_t bufferSize; int isTls; int isServer; int family; uint64_t id; } node_connection_t;\n"
	"translator node_connection_t < struct node_native_connection *C > { fd = C->fd; remoteAddress = stringof(C->remote_address); "
	"remotePort = C->remote_port; localAddress = stringof(C->local_address); localPort = C->local_port; "
	"bufferSize = C->buffer_size; isTls = C->is_tls; isServer = C->is_server; family = C->family; id = C->id; };\n"

	"typedef struct node_http_response { int status; int aborted; uint64_t id, bytes, bodyBytes, requestBodyBytes, ttfb, latency, "
	"stream, methodStart, methodRest; } node_http_response_t;\n"
	"translator node_http_response_t < struct node_native_response *P > { status = P->status; aborted = P->aborted; id = P->id; "
	"bytes = P->bytes; bodyBytes = P->body_bytes; requestBodyBytes = P->request_body_bytes; ttfb = P->ttfb; "
	"latency = P->latency; stream = P->stream; methodStart = P->method[0]; methodRest = P->method[1]; };\n"

	"typedef struct node_gc { string type; string reason; uint64_t before, after, duration; int reasonNumber; int flags; "
	"uint64_t requestId; } node_gc_t;\n"
	"translator node_gc_t < struct node_native_gc *G > { type = stringof(G->type); reason = stringof(G->reason); before = G->before; "
	"after = G->after; duration = G->duration; reasonNumber = G->reason_number; flags = G->flags; requestId = G->request; };\n"

	"typedef struct node_loop { uintptr_t loop; uint64_t iteration, busy, idle, duration, requestId, timers, poll, check; string phase; } node_loop_t;\n"
	"translator node_loop_t < struct node_native_loop *L > { loop = L->loop; iteration = L->iteration; busy = L->busy; "
	"idle = L->idle; duration = L->duration; requestId = L->request; timers = L->timers; poll = L->poll; check = L->check; phase = stringof(L->phase); };\n"

	"typedef struct node_callback { uintptr_t handle; string kind; string phase; int fd; uint64_t duration, requestId; } node_callback_t;\n"
	"translator node_callback_t < struct node_native_callback *K > { handle = K->handle; kind = stringof(K->kind); phase = stringof(K->phase); fd = K->fd; "
	"duration = K->duration; requestId = K->request; };\n"

	"typedef struct node_fs { uintptr_t address; string operation; string path; string newPath; int fd; int isSync; int64_t result; "
	"uint64_t wait, run, total, requestId; int tid; uintptr_t work; } node_fs_t;\n"
	"translator node_fs_t < struct node_native_fs *F > { address = F->address; operation = stringof(F->operation); "
	"path = stringof(F->path); newPath = stringof(F->new_path); fd = F->fd; isSync = F->is_sync; result = F->result; "
	"wait = F->wait; run = F->run; total = F->total; requestId = F->request; tid = F->tid; work = F->work; };\n"

	"typedef struct node_dns { uintptr_t address; string kind; string type; string host; string service; int64_t result; "
	"uint64_t wait, run, total, requestId; int tid; int isPool; } node_dns_t;\n"
	"translator node_dns_t < struct node_native_dns *D > { address = D->address; kind = stringof(D->kind); type = stringof(D->type); "
	"host = stringof(D->host); service = stringof(D->service); result = D->result; wait = D->wait; run = D->run; "
	"total = D->total; requestId = D->request; tid = D->tid; isPool = D->is_pool; };\n"

	"typedef struct node_work { uintptr_t address; string kind; string operation; uint64_t wait, run, queued, running; int64_t result; "
	"uint64_t requestId; uintptr_t function; int tid; } node_work_t;\n"
	"translator node_work_t < struct node_native_work *W > { address = W->address; kind = stringof(W->kind); operation = stringof(W->operation); wait = W->wait; "
	"run = W->run; queued = W->queued; running = W->running; result = W->result; requestId = W->request; "
	"function = W->function; tid = W->tid; };\n"

	"typedef struct node_worker { uintptr_t address; uint64_t threadId; int64_t code; } node_worker_t;\n"
	"translator node_worker_t < struct node_native_worker *A > { address = A->address; threadId = A->thread_id; code = A->code; };\n"

	"typedef struct node_http2 { uintptr_t session; int stream; int isServer; int status; int code; uint64_t duration; } "
	"node_http2_t;\n"
	"translator node_http2_t < struct node_native_http2 *H > { session = H->session; stream = H->stream; isServer = H->is_server; "
	"status = H->status; code = H->code; duration = H->duration; };\n";
/* clang-format on */
