#!/usr/bin/env -S noderay trace -s
/* cpu-stacks.d - where a process spends its CPU time: the 10 most frequent stacks of 97 samples a second.
 *
 *   noderay trace -s examples/d/cpu-stacks.d -p PID 30          for 30 seconds */
#pragma D option quiet
#pragma D option defaultargs

profile-97
/pid == $target && arg1/
{
	@[jstack(40)] = count();
}

tick-1s
/++seconds >= ($1 ? $1 : 10)/
{
	exit(0);
}

END
{
	trunc(@, 10);
}
