/* runtime.bpf.c - the functions that generated programs call in the kernel.
 * SPDX-License-Identifier: MIT
 *
 * One translation unit, so that all of it shares one BTF; its parts are the *.bpf.h files. Each function that generated code calls is global (verified once,
 * on its own, whatever the number of calls) and takes numbers only: the slot's index first, then offsets into the slot's memory,
 * addresses as D sees them (kern/wire.h) or plain values. engine/link.c copies those a program needs, and puts maps and constants in.
 * Knows nothing of D, probes or node. */
#include "kern/base.bpf.h"
#include "kern/file.bpf.h"
#include "kern/fire.bpf.h"
#include "kern/json.bpf.h"
#include "kern/kin.bpf.h"
#include "kern/kstack.bpf.h"
#include "kern/memory.bpf.h"
#include "kern/network.bpf.h"
#include "kern/node.bpf.h"
#include "kern/node_exception.bpf.h"
#include "kern/node_callback.bpf.h"
#include "kern/node_gc.bpf.h"
#include "kern/node_http2.bpf.h"
#include "kern/node_loop.bpf.h"
#include "kern/node_process.bpf.h"
#include "kern/node_pool.bpf.h"
#include "kern/node_tls.bpf.h"
#include "kern/node_worker.bpf.h"
#include "kern/node_socket.bpf.h"
#include "kern/number.bpf.h"
#include "kern/path.bpf.h"
#include "kern/progeny.bpf.h"
#include "kern/record.bpf.h"
#include "kern/search.bpf.h"
#include "kern/socket.bpf.h"
#include "kern/speculation.bpf.h"
#include "kern/string.bpf.h"
#include "kern/task.bpf.h"
#include "kern/ustack.bpf.h"
#include "kern/walk.bpf.h"
