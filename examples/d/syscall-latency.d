#!/usr/bin/env -S noderay trace -s
/* syscall-latency.d - how long each system call of a process takes, as a histogram per call.
 *
 *   noderay trace -s examples/d/syscall-latency.d -p PID        until Ctrl-C */
#pragma D option quiet

syscall:::entry
/pid == $target/
{
	self->since = timestamp;
}

syscall:::return
/self->since/
{
	@[probefunc] = quantize(timestamp - self->since);
	self->since = 0;
}

END
{
	printa("%s (ns)%@d\n", @);
}
