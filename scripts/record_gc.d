/* record_gc.d - who allocates what makes V8 collect garbage. SPDX-License-Identifier: MIT
 *
 *   noderay trace -s record_gc.d -p PID                     the same without a view
 *   noderay record --gc --show-script                       this program
 *
 * A collection runs inside the allocation that could not wait. The weight is the time in nanoseconds in which the thread did nothing else. */
#pragma D option quiet
#pragma D option maxframes=1024
#pragma D option follow=children
#pragma D option bufsize=4m

inline int thread = 0; /* --thread: only this one; -1: the first of each process */

node*:::gc-done
/!thread || tid == thread || (thread < 0 && tid == pid)/
{
	printf("sample weight=%d type=%s reason=%s user=%k\n", args[2]->duration, args[2]->type, args[2]->reason, ustack(1024));
}
