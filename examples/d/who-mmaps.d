#!/usr/bin/env -S noderay trace -s
/* who-mmaps.d - which JavaScript makes the process ask the kernel for memory.
 *
 *   noderay trace -s examples/d/who-mmaps.d -p PID              until Ctrl-C */
#pragma D option quiet

syscall::mmap:entry
/pid == $target && (int)arg4 == -1/
{
	@calls[jstack(20)] = count();
	@bytes["bytes asked for"] = sum(arg1);
}
