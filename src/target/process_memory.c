/* process_memory.c - reads the memory of a running process. SPDX-License-Identifier: MIT
 *
 * Through /proc/PID/mem: one descriptor that stays bound to the address space that was opened, so neither a
 * reused pid nor an exec can make us read somebody else. That file's mode asks for the owner's identity or
 * CAP_DAC_READ_SEARCH besides the right to look (CAP_SYS_PTRACE). Who has only the latter reads with
 * process_vm_readv(2), and a pidfd tells whether the process still is the same. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "target/process.h"

static bool has_ended(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, 0) != 0;
}

/* One piece, as much of it as can be had at once. */
static ssize_t read_piece(struct ray_target *t, uint64_t address, void *buffer, size_t size)
{
	struct process *p = ray_process_of(t);
	struct iovec local = { buffer, size }, remote = { (void *)(uintptr_t)address, size };
	ssize_t n;

	if (p->mem >= 0)
		return pread(p->mem, buffer, size, (off_t)address);
	n = process_vm_readv(t->pid, &local, 1, &remote, 1, 0);
	return has_ended(p->pidfd) ? -1 : n;
}

size_t ray_process_read(struct ray_target *t, uint64_t address, void *buffer, size_t size)
{
	unsigned char *out = buffer;
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = read_piece(t, address + done, out + done, size - done);
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/* process_vm_readv stops at the first range it cannot read: that one is skipped and the rest tried again. */
void ray_process_read_many(struct ray_target *t, const struct ray_range *ranges, unsigned char *const *buffers,
			   size_t *done, size_t count)
{
	struct iovec local[512], remote[512];
	size_t i = 0, n, k;
	ssize_t got;

	while (i < count) {
		n = count - i < RAY_COUNT(local) ? count - i : RAY_COUNT(local);
		for (k = 0; k < n; k++) {
			local[k] = (struct iovec){ buffers[i + k], ranges[i + k].size };
			remote[k] = (struct iovec){ (void *)(uintptr_t)ranges[i + k].start, ranges[i + k].size };
			done[i + k] = 0;
		}
		got = process_vm_readv(t->pid, local, n, remote, n, 0);
		for (k = 0; k < n && got > 0; k++) {
			done[i + k] = (size_t)got < ranges[i + k].size ? (size_t)got : ranges[i + k].size;
			got -= (ssize_t)done[i + k];
			if (done[i + k] < ranges[i + k].size)
				break;
		}
		i += k < n ? k + 1 : n;
	}
}

/* Where its initial environment lies: fields 50 and 51 of stat, 48 words after the state. */
static bool find_environment(struct ray_target *t, uint64_t *start_ret, uint64_t *end_ret)
{
	ray_auto_memory char *stat = NULL;
	struct ray_error *err;
	const char *at;
	size_t size;

	err = ray_process_file(t, "stat", &stat, &size);
	if (err) {
		ray_error_free(err);
		return false;
	}
	at = strrchr(stat, ')');
	for (int i = 0; at && i < 48; i++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at && sscanf(at, "%" SCNu64 " %" SCNu64, start_ret, end_ret) == 2 && *start_ret && *start_ret < *end_ret;
}

/* What the kernel itself would copy for /proc/PID/environ, which only the owner may open. */
bool ray_process_environment(struct ray_target *t, char **ret, size_t *size_ret)
{
	enum { MOST = 16 << 20 }; /* the kernel allows 6 MiB */
	ray_auto_memory char *text = NULL;
	uint64_t start, end;

	if (!find_environment(t, &start, &end) || end - start > MOST)
		return false;
	text = calloc(1, end - start + 1);
	if (!text)
		return false;
	*size_ret = ray_process_read(t, start, text, end - start);
	if (*size_ret != end - start)
		return false;
	*ret = ray_take(text);
	return true;
}

/* May its memory be read all the same? Leaves errno as it was when not. */
bool ray_process_open_by_pidfd(struct ray_target *t)
{
	struct process *p = ray_process_of(t);
	int saved = errno;
	uint64_t start, end;
	char byte;

	p->pidfd = (int)syscall(SYS_pidfd_open, t->pid, 0);
	if (p->pidfd >= 0 && saved == EACCES && find_environment(t, &start, &end) &&
	    ray_process_read(t, start, &byte, 1) == 1)
		return true;
	errno = saved;
	return false;
}
