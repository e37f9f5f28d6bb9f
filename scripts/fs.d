/* fs.d - operations on files, as they end, or summed up. SPDX-License-Identifier: MIT
 *
 *   noderay trace -s fs.d -p PID         the same without a view
 *   noderay fs --show-script [options]   this program, with the values that options stand for
 *
 * Times are in nanoseconds: wait is how long an operation was in the queue of the thread pool, run how long it took then. */
#pragma D option quiet
#pragma D option follow=children
#pragma D option strsize=512
#pragma D option bufsize=8m

inline int sums = 0;	  /* -c, --top */
inline int repeats = 0;	  /* -i: a table now and then, and not only at the end */
inline int interval = 1;  /* -i: seconds between two of them */
inline int failed = 0;	  /* --failed */
inline uint64_t slow = 0; /* --slow: only those that took longer */
inline int stacks = 0;	  /* --stack */

/* ---- one line each ---- */

/* Who asks: before the operation's own line. Newer nodes read and write whole files in one work of the pool: who submits it asks for all that it does. */
node*:::fs-start
/stacks && !sums && !args[0]->work/
{
	printf("asked id=%d stack=%k\n", args[0]->address, jstack());
}

node*:::work-submit
/stacks && !sums && args[0]->operation == ""/
{
	printf("asked id=%d stack=%k\n", args[0]->address, jstack());
}

node*:::fs-done
/!sums && args[0]->total >= slow && (!failed || args[0]->result < 0)/
{
	printf("fs id=%d work=%d tid=%d op=%s fd=%d sync=%d wait=%d run=%d total=%d result=%d request=%d path=%s to=%s\n",
	    args[0]->address, args[0]->work, args[0]->tid, args[0]->operation, args[0]->fd, args[0]->isSync,
	    args[0]->wait, args[0]->run, args[0]->total, args[0]->result, args[0]->requestId, args[0]->path, args[0]->newPath);
}

/* ---- sums ---- */

node*:::fs-start
/stacks && sums && !args[0]->work/
{
	@who[jstack()] = count();
}

node*:::work-submit
/stacks && sums && substr(args[0]->kind, 0, 3) == "fs."/
{
	@who[jstack()] = count();
}

node*:::fs-done
/sums && args[0]->total >= slow && (!failed || args[0]->result < 0)/
{
	@times[args[0]->operation, args[0]->path] = llquantize(args[0]->total, 2, 10, 38, 16);
	@total[args[0]->operation, args[0]->path] = sum(args[0]->total);
	@longest[args[0]->operation, args[0]->path] = max(args[0]->total);
}

node*:::fs-done
/sums && args[0]->result < 0 && args[0]->total >= slow/
{
	@errors[args[0]->operation, args[0]->path] = count();
}

node*:::fs-done
/sums && !args[0]->isSync && args[0]->total >= slow && (!failed || args[0]->result < 0)/
{
	@waits[args[0]->operation, args[0]->path] = llquantize(args[0]->wait, 2, 10, 38, 16);
}

node*:::fs-done
/sums && !failed && args[0]->result > 0 && args[0]->total >= slow &&
    (args[0]->operation == "read" || args[0]->operation == "write" || args[0]->operation == "sendfile")/
{
	@bytes[args[0]->operation, args[0]->path] = sum(args[0]->result);
}

tick-1s
/sums && repeats && ++seconds % interval == 0/
{
	printa("times op=%s path=%s times=%@d total=%@d longest=%@d\n", @times, @total, @longest);
	printa("waits op=%s path=%s waits=%@d\n", @waits);
	printa("errors op=%s path=%s count=%@d\n", @errors);
	printa("bytes op=%s path=%s bytes=%@d\n", @bytes);
	printa("who count=%@d stack=%k\n", @who);
	printf("table\n");
}

END
/sums/
{
	printa("times op=%s path=%s times=%@d total=%@d longest=%@d\n", @times, @total, @longest);
	printa("waits op=%s path=%s waits=%@d\n", @waits);
	printa("errors op=%s path=%s count=%@d\n", @errors);
	printa("bytes op=%s path=%s bytes=%@d\n", @bytes);
	printa("who count=%@d stack=%k\n", @who);
}
