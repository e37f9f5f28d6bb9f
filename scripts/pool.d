/* pool.d - libuv's pool of threads: what waits, what runs, for how long. SPDX-License-Identifier: MIT
 *
 *   noderay trace -s pool.d -p PID         the same without a view
 *   noderay pool --show-script [options]   this program, with the values that options stand for
 *
 * Times are in nanoseconds. Works are told apart by their kind, by what an operation on files or names is called, and by the function that they run:
 * node's own are C++ classes, and their names say the rest. */
#pragma D option quiet
#pragma D option follow=children
#pragma D option strsize=64
#pragma D option bufsize=8m

inline int interval = 1; /* -i: seconds between two pages */
inline int stacks = 0;	 /* --stack */

/* What waits and what runs now: never cleared. */
node*:::work-submit
{
	@queue[pid] = sum(1);
	@deepest[pid] = max(args[0]->queued);
}

node*:::work-start
/args[0]->wait/
{
	@queue[pid] = sum(-1);
	@waits[pid, args[0]->kind, args[0]->operation, usym(args[0]->function)] = llquantize(args[0]->wait, 2, 10, 38, 16);
	@longest_wait[pid, args[0]->kind, args[0]->operation, usym(args[0]->function)] = max(args[0]->wait);
}

node*:::work-start
{
	@busy[pid] = sum(1);
	@busiest[pid] = max(args[0]->running);
}

node*:::work-done
/args[0]->run/
{
	@busy[pid] = sum(-1);
	@runs[pid, args[0]->kind, args[0]->operation, usym(args[0]->function)] = llquantize(args[0]->run, 2, 10, 38, 16);
	@longest_run[pid, args[0]->kind, args[0]->operation, usym(args[0]->function)] = max(args[0]->run);
}

/* Cancelled before it ran. */
node*:::work-done
/!args[0]->run/
{
	@queue[pid] = sum(-1);
}

node*:::work-submit
/stacks/
{
	@who[pid, args[0]->kind, args[0]->operation, usym(args[0]->function), jstack()] = count();
}

tick-1s
/++seconds % interval == 0/
{
	printa("queue pid=%d now=%@d most=%@d\n", @queue, @deepest);
	printa("busy pid=%d now=%@d most=%@d\n", @busy, @busiest);
	printa("waits pid=%d kind=%s operation=%s function=%a waits=%@d longest=%@d\n", @waits, @longest_wait);
	printa("runs pid=%d kind=%s operation=%s function=%a runs=%@d longest=%@d\n", @runs, @longest_run);
	printf("page\n");
	trunc(@deepest);
	trunc(@busiest);
	trunc(@waits);
	trunc(@longest_wait);
	trunc(@runs);
	trunc(@longest_run);
}

END
{
	printa("queue pid=%d now=%@d most=%@d\n", @queue, @deepest);
	printa("busy pid=%d now=%@d most=%@d\n", @busy, @busiest);
	printa("waits pid=%d kind=%s operation=%s function=%a waits=%@d longest=%@d\n", @waits, @longest_wait);
	printa("runs pid=%d kind=%s operation=%s function=%a runs=%@d longest=%@d\n", @runs, @longest_run);
	printa("who pid=%d kind=%s operation=%s function=%a count=%@d stack=%k\n", @who);
}
