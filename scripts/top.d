/* top.d - what runs, how event loops fare, and what collections take, all the time. SPDX-License-Identifier: MIT
 *
 *   noderay trace -s top.d -p PID          the same without a view
 *   noderay top --show-script [options]    this program, with the values that options stand for
 *
 * A sample is what a CPU runs for one of the processes: user is the whole way from the thread's root, kernel what the kernel does for it. Loops are added
 * up from the start; only the longest is that of the last interval. awake and asleep tell whether a loop works at the moment. Times are in nanoseconds. */
#pragma D option quiet
#pragma D option maxframes=1024
#pragma D option follow=children

inline int every = 10;	 /* -i: tenths of a second between two reports */
inline int events = 1;	 /* 0 with --no-events: samples alone */
inline int requests = 0; /* --http */

profile-99
{
	printf("sample kernel=%k user=%k\n", stack(64), ustack(1024));
}

node*:::loop-start
/events/
{
	@awake[pid, tid] = max(walltimestamp);
}

node*:::loop-done
/events/
{
	@asleep[pid, tid] = max(walltimestamp);
	@busy[pid, tid] = sum(args[0]->busy);
	@lag[pid, tid] = llquantize(args[0]->busy, 2, 10, 38, 16);
	@longest[pid, tid] = max(args[0]->busy);
}

node*:::gc-done
/events/
{
	printf("gc ns=%d after=%d\n", args[2]->duration, args[2]->after);
}

node*:::http-server-response
/requests/
{
	@requests = count();
}

proc:::lwp-exit
{
	printf("gone tid=%d\n", tid);
}

tick-10hz
/++tenths % every == 0/
{
	printa("loop pid=%d tid=%d awake=%@d asleep=%@d busy=%@d longest=%@d lag=%@d\n", @awake, @asleep, @busy, @longest, @lag);
	printa("requests count=%@d\n", @requests);
	clear(@longest);
	printf("report\n");
}

END
{
	printa("loop pid=%d tid=%d awake=%@d asleep=%@d busy=%@d longest=%@d lag=%@d\n", @awake, @asleep, @busy, @longest, @lag);
	printa("requests count=%@d\n", @requests);
	printf("end\n");
}
