/* machine_try.h - asks the kernel by trying; for machine.c only. SPDX-License-Identifier: MIT */
#ifndef RAY_TARGET_MACHINE_TRY_H
#define RAY_TARGET_MACHINE_TRY_H

#include "target/machine.h"

/* NO: the kernel refuses. MAYBE: rights are missing for the attempt itself. */
enum ray_answer ray_try_ptrace(void);
enum ray_answer ray_try_perf(void);
enum ray_answer ray_try_bpf(void);
enum ray_answer ray_try_ring_buffer(void);
enum ray_answer ray_try_uprobe_multi(void);

#endif
