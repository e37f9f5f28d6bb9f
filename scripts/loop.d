/* loop.d - event loops: how often they go round, how long they work, how long each round keeps them from polling.
 * SPDX-License-Identifier: MIT
 *
 *   noderay trace -s loop.d -p PID         the same without a view
 *   noderay loop --show-script [options]   this program, with the values that options stand for
 *
 * An iteration sleeps until something happens (idle), then works until it polls again (busy): that is how long whatever comes meanwhile has
 * to wait, the lag. All sums and distributions go on from the start; only the maxima are those of the last interval. awake and asleep tell whether a loop
 * works at the moment: one that works for long has no iteration to show for it. Times are in nanoseconds. */
#pragma D option quiet
#pragma D option follow=children

inline int every = 10; /* -i: tenths of a second between two reports */

node*:::loop-start
{
	@awake[pid, tid] = max(walltimestamp);
}

node*:::loop-done
{
	@asleep[pid, tid] = max(walltimestamp);
	@busy[pid, tid] = sum(args[0]->busy);
	@lag[pid, tid] = llquantize(args[0]->busy, 2, 10, 38, 16);
	@longest[pid, tid] = max(args[0]->busy);
}

/* Phases, where they can be told apart: closing counts as check; pending, idle and prepare as timers. */
node*:::loop-done
/args[0]->timers/
{
	@timers[pid, tid] = llquantize(args[0]->timers, 2, 10, 38, 16);
	@poll[pid, tid] = llquantize(args[0]->poll, 2, 10, 38, 16);
	@check[pid, tid] = llquantize(args[0]->check, 2, 10, 38, 16);
	@longest_timers[pid, tid] = max(args[0]->timers);
	@longest_poll[pid, tid] = max(args[0]->poll);
	@longest_check[pid, tid] = max(args[0]->check);
}

proc:::lwp-exit
{
	printf("gone tid=%d\n", tid);
}

tick-10hz
/++tenths % every == 0/
{
	printa("loop pid=%d tid=%d awake=%@d asleep=%@d busy=%@d longest=%@d lag=%@d\n", @awake, @asleep, @busy, @longest, @lag);
	printa("phases pid=%d tid=%d longest_timers=%@d longest_poll=%@d longest_check=%@d timers=%@d poll=%@d check=%@d\n",
	    @longest_timers, @longest_poll, @longest_check, @timers, @poll, @check);
	clear(@longest);
	clear(@longest_timers);
	clear(@longest_poll);
	clear(@longest_check);
	printf("report\n");
}

END
{
	printa("loop pid=%d tid=%d awake=%@d asleep=%@d busy=%@d longest=%@d lag=%@d\n", @awake, @asleep, @busy, @longest, @lag);
	printa("phases pid=%d tid=%d longest_timers=%@d longest_poll=%@d longest_check=%@d timers=%@d poll=%@d check=%@d\n",
	    @longest_timers, @longest_poll, @longest_check, @timers, @poll, @check);
	printf("end\n");
}
