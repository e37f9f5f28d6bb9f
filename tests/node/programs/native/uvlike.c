/* uvlike.c - a program with functions of libuv's names in it, one of them of a libuv to come; shows none of them to the
 * dynamic linker. Calls them once a millisecond, for a minute at most. SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define LIKE __attribute__((noinline, used))

int uv_loop_init(void *loop);
int uv_fs_open(void *loop, void *req, const char *path, int flags, int mode, void *cb);
int uv_fs_read(void *loop, void *req, int file, const void *bufs, unsigned int nbufs, int64_t offset, void *cb);
int uv_to_come(int answer);
const char *uv_err_name(int err);

static volatile int sink;

LIKE int uv_loop_init(void *loop)
{
	sink += loop != NULL;
	return 0;
}

LIKE int uv_fs_open(void *loop, void *req, const char *path, int flags, int mode, void *cb)
{
	sink += loop && req && path && cb;
	return flags - mode;
}

LIKE int uv_fs_read(void *loop, void *req, int file, const void *bufs, unsigned int nbufs, int64_t offset, void *cb)
{
	sink += loop && req && bufs && cb;
	return file + (int)nbufs + (int)offset;
}

LIKE int uv_to_come(int answer)
{
	sink += answer;
	return answer + 1;
}

LIKE const char *uv_err_name(int err)
{
	sink += err;
	return err ? "ENOENT" : NULL;
}

int main(void)
{
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < 60000; i++) {
		uv_loop_init(NULL);
		uv_fs_open(NULL, NULL, "a path", -5, 2, NULL);
		uv_fs_open(NULL, NULL, NULL, 1, 2, NULL);
		uv_fs_read(NULL, NULL, -1, NULL, 4000000000U, -7, (void *)0x1234);
		uv_to_come(41);
		uv_err_name(-2);
		uv_err_name(0);
		usleep(1000);
	}
	return sink == 42;
}
