/* dns.d - names that are looked up, as the answers come, or summed up. SPDX-License-Identifier: MIT
 *
 *   noderay trace -s dns.d -p PID         the same without a view
 *   noderay dns --show-script [options]   this program, with the values that options stand for
 *
 * Times are in nanoseconds: wait is how long a lookup was in the queue of the thread pool, run how long it took
 * then; resolve asks over the network, and never waits. A result less than 0 is libuv's error, more than 0 that of c-ares. */
#pragma D option quiet
#pragma D option follow=children
#pragma D option strsize=256
#pragma D option bufsize=8m

inline int sums = 0;	  /* -c, --top */
inline int repeats = 0;	  /* -i: a table now and then, and not only at the end */
inline int interval = 1;  /* -i: seconds between two of them */
inline int failed = 0;	  /* --failed */
inline uint64_t slow = 0; /* --slow: only those that took longer */
inline int stacks = 0;	  /* --stack */

/* ---- one line each ---- */

/* Who asks: before the operation's own line. */
node*:::dns-start
/stacks && !sums/
{
	printf("asked id=%d stack=%k\n", args[0]->address, jstack());
}

node*:::dns-done
/!sums && args[0]->total >= slow && (!failed || args[0]->result)/
{
	printf("dns id=%d tid=%d op=%s type=%s pool=%d wait=%d run=%d total=%d result=%d request=%d service=%s host=%s\n",
	    args[0]->address, args[0]->tid, args[0]->kind, args[0]->type, args[0]->isPool, args[0]->wait, args[0]->run,
	    args[0]->total, args[0]->result, args[0]->requestId, args[0]->service, args[0]->host);
}

/* ---- sums ---- */

node*:::dns-start
/stacks && sums/
{
	@who[jstack()] = count();
}

node*:::dns-done
/sums && args[0]->total >= slow && (!failed || args[0]->result)/
{
	@times[args[0]->kind, args[0]->host] = llquantize(args[0]->total, 2, 10, 38, 16);
	@total[args[0]->kind, args[0]->host] = sum(args[0]->total);
	@longest[args[0]->kind, args[0]->host] = max(args[0]->total);
}

node*:::dns-done
/sums && args[0]->result && args[0]->total >= slow/
{
	@errors[args[0]->kind, args[0]->host] = count();
}

node*:::dns-done
/sums && args[0]->isPool && args[0]->total >= slow && (!failed || args[0]->result)/
{
	@waits[args[0]->kind, args[0]->host] = llquantize(args[0]->wait, 2, 10, 38, 16);
}

tick-1s
/sums && repeats && ++seconds % interval == 0/
{
	printa("times op=%s host=%s times=%@d total=%@d longest=%@d\n", @times, @total, @longest);
	printa("waits op=%s host=%s waits=%@d\n", @waits);
	printa("errors op=%s host=%s count=%@d\n", @errors);
	printa("who count=%@d stack=%k\n", @who);
	printf("table\n");
}

END
/sums/
{
	printa("times op=%s host=%s times=%@d total=%@d longest=%@d\n", @times, @total, @longest);
	printa("waits op=%s host=%s waits=%@d\n", @waits);
	printa("errors op=%s host=%s count=%@d\n", @errors);
	printa("who count=%@d stack=%k\n", @who);
}
