/* record.d - stacks: what runs, what waits, what takes memory, what collects garbage. SPDX-License-Identifier: MIT
 *
 *   noderay trace -s record.d -p PID           the same without a view
 *   noderay record --show-script [options]     this program, with the values that options stand for
 *
 * A sample is a stack and what it weighs. user is the whole way from the thread's root, JavaScript with names and lines; kernel what the kernel does
 * for it. Weights are nanoseconds or bytes; a sample of a CPU weighs one, or the time from one to the next. */
#pragma D option quiet
#pragma D option maxframes=1024
#pragma D option follow=children
#pragma D option bufsize=2m

inline int runs = 1;	/* what runs on a CPU */
inline int waits = 0;	/* --off-cpu, --wall: what it waits for */
inline int thread = 0;	/* --thread: only this one; -1: the first of each process */

profile-99
/runs && (!thread || tid == thread || (thread < 0 && tid == pid))/
{
	printf("sample kernel=%k user=%k\n", stack(64), ustack(1024));
}

/* A thread leaves its CPU here, and comes back: the time between is the weight. */
sched:::off-cpu
/waits && (!thread || tid == thread || (thread < 0 && tid == pid))/
{
	printf("off kernel=%k user=%k\n", stack(64), ustack(1024));
}

sched:::on-cpu
/waits && (!thread || tid == thread || (thread < 0 && tid == pid))/
{
	printf("on\n");
}
