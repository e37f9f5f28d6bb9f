#!/usr/bin/env -S noderay trace -ws
/* core-on-open.d - stops a process when it opens a file whose path contains $$1, writes its core, and lets it go on.
 *
 *   noderay trace -w -s examples/d/core-on-open.d -p PID secret.json */
#pragma D option quiet

syscall::openat:entry
/pid == $target && strstr(copyinstr(arg1), $$1) != NULL/
{
	printf("%s opens %s\n", execname, copyinstr(arg1));
	stop();
	system("noderay core %d; kill -CONT %d", pid, pid);
	exit(0);
}
