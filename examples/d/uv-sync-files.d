#!/usr/bin/env -S noderay trace -s
/* uv-sync-files.d - what holds up the event loop with files: calls of fs.*Sync(), by function, path and the JavaScript that
 * makes them, with how often and how long altogether.
 *
 *   noderay trace -s examples/d/uv-sync-files.d -p PID 30       for 30 seconds
 *
 * Only the main thread counts; a call without a callback waits. */
#pragma D option quiet
#pragma D option defaultargs

uv$target::uv_fs_open:entry,
uv$target::uv_fs_stat:entry,
uv$target::uv_fs_lstat:entry,
uv$target::uv_fs_access:entry,
uv$target::uv_fs_mkdir:entry,
uv$target::uv_fs_scandir:entry,
uv$target::uv_fs_unlink:entry,
uv$target::uv_fs_rename:entry,
uv$target::uv_fs_copyfile:entry,
uv$target::uv_fs_realpath:entry
/pid == tid && args[0]->cb == 0/
{
	self->path = args[0]->path;
	self->start = timestamp;
}

uv$target::uv_fs_read:entry,
uv$target::uv_fs_write:entry,
uv$target::uv_fs_fsync:entry
/pid == tid && args[0]->cb == 0/
{
	self->path = fds[args[0]->file].fi_pathname;
	self->start = timestamp;
}

uv$target::uv_fs_*:return
/self->start/
{
	@count[probefunc, self->path, jstack(8)] = count();
	@total[probefunc, self->path, jstack(8)] = sum((timestamp - self->start) / 1000);
	self->start = 0;
	self->path = 0;
}

tick-1s
/++seconds >= ($1 ? $1 : 10)/
{
	exit(0);
}

END
{
	trunc(@total, 10);
	printf("The ten that took longest: calls, microseconds altogether\n");
	printa("%-14s %s\n%k%@u times, %@u us\n\n", @count, @total);
}
