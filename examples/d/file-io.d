#!/usr/bin/env -S noderay trace -s
/* file-io.d - reads and writes of files whose path contains $$1, and what is unlinked, as they happen.
 *
 *   noderay trace -s examples/d/file-io.d -c 'node app.js' words.txt */
#pragma D option quiet
#pragma D option temporal

syscall::read:entry,
syscall::write:entry,
syscall::pread64:entry,
syscall::pwrite64:entry
/pid == $target && strstr(fds[arg0].fi_pathname, $$1) != NULL/
{
	printf("%-8s %7d bytes  %s\n", probefunc, arg2, fds[arg0].fi_pathname);
}

syscall::unlink:entry
/pid == $target/
{
	printf("%-8s                %s\n", probefunc, copyinstr(arg0));
}

syscall::unlinkat:entry
/pid == $target/
{
	printf("%-8s                %s\n", probefunc, copyinstr(arg1));
}
