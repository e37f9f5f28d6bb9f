/* http_simple.d - HTTP requests of node, from plain arguments alone: what nhttpsnoop -t simple does. SPDX-License-Identifier: MIT
 *
 * Only arg0 to arg7, no translated structures: request arg2 address, arg3 port, arg4 method, arg5 url, arg6 fd, arg7 id; response arg1 address, arg2 port,
 * arg3 fd, arg4 status, arg5 id. What only the structures tell (sizes, Host) is not there. Times are in nanoseconds. */
#pragma D option quiet
#pragma D option follow=children
#pragma D option strsize=256
#pragma D option dynvarsize=16m

inline int server = 1;	      /* -s */
inline int client = 0;	      /* -c */
inline int collections = 0;   /* -g */
inline int begins = 0;	      /* -l: when they begin, too */
inline int stacks = 0;	      /* --stack */
inline int top = 0;	      /* --top, --hist: count them by URL */
inline int repeats = 0;	      /* -i: a table now and then, and not only at the end */
inline int interval = 1;      /* -i: seconds between two of them */
inline uint64_t slow = 0;     /* --slow: only those that took longer */
inline int status_low = 0;    /* --status */
inline int status_high = 999;

uint64_t began[uint64_t], first[uint64_t];
string method[uint64_t], url[uint64_t];

node*:::http-server-request
/server/
{
	began[arg7] = timestamp;
	method[arg7] = copyinstr(arg4);
	url[arg7] = copyinstr(arg5);
}

node*:::http-client-request
/client/
{
	began[arg7] = timestamp;
	method[arg7] = copyinstr(arg4);
	url[arg7] = copyinstr(arg5);
}

node*:::http-server-request
/server && begins && !top/
{
	printf("begin server=%d id=%d fd=%d method=%s url=%s raddr=%s rport=%d\n",
	    1, arg7, arg6, copyinstr(arg4), copyinstr(arg5), copyinstr(arg2), arg3);
}

node*:::http-client-request
/client && begins && !top/
{
	printf("begin server=%d id=%d fd=%d method=%s url=%s raddr=%s rport=%d\n",
	    0, arg7, arg6, copyinstr(arg4), copyinstr(arg5), copyinstr(arg2), arg3);
}

node*:::http-server-response-start
/began[arg5]/
{
	first[arg5] = timestamp - began[arg5];
}

node*:::http-server-response-start
/stacks && !top && began[arg5]/
{
	printf("sent id=%d stack=%k\n", arg5, jstack());
}

node*:::http-client-response-start
/began[arg5]/
{
	first[arg5] = timestamp - began[arg5];
}

node*:::http-server-response
/server && !top && began[arg5] && timestamp - began[arg5] >= slow && arg4 >= status_low && arg4 <= status_high/
{
	printf("end server=%d id=%d fd=%d status=%d latency=%d ttfb=%d method=%s url=%s raddr=%s rport=%d\n",
	    1, arg5, arg3, arg4, timestamp - began[arg5], first[arg5], method[arg5], url[arg5], copyinstr(arg1), arg2);
}

node*:::http-client-response
/client && !top && began[arg5] && timestamp - began[arg5] >= slow && arg4 >= status_low && arg4 <= status_high/
{
	printf("end server=%d id=%d fd=%d status=%d latency=%d ttfb=%d method=%s url=%s raddr=%s rport=%d\n",
	    0, arg5, arg3, arg4, timestamp - began[arg5], first[arg5], method[arg5], url[arg5], copyinstr(arg1), arg2);
}

node*:::http-server-response,
node*:::http-client-response
/top && began[arg5] && timestamp - began[arg5] >= slow && arg4 >= status_low && arg4 <= status_high/
{
	@latency[method[arg5], url[arg5]] = llquantize(timestamp - began[arg5], 2, 10, 38, 16);
	@longest[method[arg5], url[arg5]] = max(timestamp - began[arg5]);
	@errors[method[arg5], url[arg5]] = sum(arg4 >= 400);
}

node*:::http-server-response,
node*:::http-client-response,
node*:::http-server-abort,
node*:::http-client-abort
{
	began[arg5] = 0;
	first[arg5] = 0;
	method[arg5] = 0;
	url[arg5] = 0;
}

node*:::gc-start
/collections/
{
	self->collecting = timestamp;
}

node*:::gc-done
/collections && !top && self->collecting/
{
	printf("gc latency=%d\n", timestamp - self->collecting);
	self->collecting = 0;
}

tick-1s
/top && repeats && ++seconds % interval == 0/
{
	printa("latency method=%s url=%s latency=%@d\n", @latency);
	printa("longest method=%s url=%s longest=%@d\n", @longest);
	printa("errors method=%s url=%s count=%@d\n", @errors);
	printf("table\n");
}

END
/top/
{
	printa("latency method=%s url=%s latency=%@d\n", @latency);
	printa("longest method=%s url=%s longest=%@d\n", @longest);
	printa("errors method=%s url=%s count=%@d\n", @errors);
}
