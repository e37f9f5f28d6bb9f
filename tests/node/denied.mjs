// denied.mjs - noderay as on a machine whose Yama forbids to read the memory of other processes, but not their
// files: Debian's kernel has no Yama, so a preloaded library refuses in its place. SPDX-License-Identifier: MIT
import fs from 'node:fs';
import path from 'node:path';
import { run, tmp } from './lib.mjs';

const source = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
int openat(int directory, const char *file, int flags, int mode)
{
	int (*real)(int, const char *, int, int) = dlsym(RTLD_NEXT, "openat");

	if (strcmp(file, "mem"))
		return real(directory, file, flags, mode);
	errno = EACCES;
	return -1;
}

long process_vm_readv(void)
{
	errno = EPERM;
	return -1;
}
`;

// As on a machine whose kernel.perf_event_paranoid is 3 (which only patched kernels know), or in a container's seccomp filter.
const perfSource = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
long syscall(long number, ...)
{
	long (*real)(long, ...) = dlsym(RTLD_NEXT, "syscall");
	long a[6];
	va_list list;

	if (number == SYS_perf_event_open) {
		errno = EACCES;
		return -1;
	}
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
`;

async function preload(source) {
	const directory = tmp();
	const library = path.join(directory, 'denied.so');
	fs.writeFileSync(path.join(directory, 'denied.c'), source);
	const { code } = await run('/usr/bin/cc', ['-w', '-shared', '-fPIC', '-o', library, path.join(directory, 'denied.c')]);
	return code === 0 ? { LD_PRELOAD: library, ASAN_OPTIONS: 'verify_asan_link_order=0:detect_leaks=0' } : null;
}

/** The environment for noderay(), or null when there is no compiler. */
export const memoryDenied = () => preload(source);
/** The same for noderay without perf events. */
export const perfDenied = () => preload(perfSource);
