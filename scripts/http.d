/* http.d - HTTP requests of node, as they end, or counted by URL. SPDX-License-Identifier: MIT
 *
 *   noderay trace -s http.d -p PID         the same without a view
 *   noderay http --show-script [options]   this program, with the values that options stand for
 *
 * Times are in nanoseconds. Latency begins when the head of the request was complete, and ends with the last byte of the response; ttfb
 * ends with its first. */
#pragma D option quiet
#pragma D option follow=children
#pragma D option strsize=256
#pragma D option bufsize=8m

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

/* ---- one line each ---- */

node*:::http-server-request
/server && begins/
{
	printf("begin server=%d id=%d fd=%d method=%s url=%s length=%d host=%s raddr=%s rport=%d lport=%d version=%d tls=%d\n",
	    1, args[7], args[6], args[4], args[5], args[0]->urlLength, args[0]->host, args[2], args[3], args[1]->localPort,
	    args[0]->version, args[1]->isTls);
}

node*:::http-client-request
/client && begins/
{
	printf("begin server=%d id=%d fd=%d method=%s url=%s length=%d host=%s raddr=%s rport=%d lport=%d version=%d tls=%d\n",
	    0, args[7], args[6], args[4], args[5], args[0]->urlLength, args[0]->host, args[2], args[3], args[1]->localPort,
	    args[0]->version, args[1]->isTls);
}

node*:::http-server-response,
node*:::http-server-abort
/server && !top && args[5] && args[7]->latency >= slow && args[4] >= status_low && args[4] <= status_high/
{
	printf("end server=%d id=%d fd=%d status=%d latency=%d ttfb=%d bytes=%d request=%d aborted=%d method=%s url=%s length=%d host=%s raddr=%s rport=%d lport=%d version=%d tls=%d\n",
	    1, args[5], args[3], args[4], args[7]->latency, args[7]->ttfb, args[7]->bodyBytes, args[7]->requestBodyBytes,
	    args[7]->aborted, args[6]->method, args[6]->url, args[6]->urlLength, args[6]->host, args[1], args[2],
	    args[0]->localPort, args[6]->version, args[0]->isTls);
}

node*:::http-client-response,
node*:::http-client-abort
/client && !top && args[5] && args[7]->latency >= slow && args[4] >= status_low && args[4] <= status_high/
{
	printf("end server=%d id=%d fd=%d status=%d latency=%d ttfb=%d bytes=%d request=%d aborted=%d method=%s url=%s length=%d host=%s raddr=%s rport=%d lport=%d version=%d tls=%d\n",
	    0, args[5], args[3], args[4], args[7]->latency, args[7]->ttfb, args[7]->bodyBytes, args[7]->requestBodyBytes,
	    args[7]->aborted, args[6]->method, args[6]->url, args[6]->urlLength, args[6]->host, args[1], args[2],
	    args[0]->localPort, args[6]->version, args[0]->isTls);
}

/* Who sent the head of the response: it comes before the response's own line. */
node*:::http-server-response-start
/server && stacks && !top/
{
	printf("sent id=%d stack=%k\n", args[5], jstack());
}

node*:::gc-done
/collections && !top && args[2]->duration >= slow/
{
	printf("gc type=%s reason=%s latency=%d\n", args[2]->type, args[2]->reason, args[2]->duration);
}

/* ---- by URL ---- */

/* Rows are found by their keys, twice for each request: a method is sixteen letters in two numbers, and not a string. */

node*:::http-server-response
/server && top && args[5] && args[7]->latency >= slow && args[4] >= status_low && args[4] <= status_high/
{
	@latency[args[7]->methodStart, args[7]->methodRest, args[6]->url] = llquantize(args[7]->latency, 2, 10, 38, 16);
	@longest[args[7]->methodStart, args[7]->methodRest, args[6]->url] = max(args[7]->latency);
}

node*:::http-server-response
/server && top && args[5] && args[4] >= 400 && args[7]->latency >= slow && args[4] >= status_low && args[4] <= status_high/
{
	@errors[args[7]->methodStart, args[7]->methodRest, args[6]->url] = sum(1);
}

node*:::http-server-abort
/server && top/
{
	@aborts[args[7]->methodStart, args[7]->methodRest, args[6]->url] = count();
}

node*:::http-client-response
/client && top && args[5] && args[7]->latency >= slow && args[4] >= status_low && args[4] <= status_high/
{
	@latency[args[7]->methodStart, args[7]->methodRest, strjoin(args[6]->host, args[6]->url)] = llquantize(args[7]->latency, 2, 10, 38, 16);
	@longest[args[7]->methodStart, args[7]->methodRest, strjoin(args[6]->host, args[6]->url)] = max(args[7]->latency);
	@errors[args[7]->methodStart, args[7]->methodRest, strjoin(args[6]->host, args[6]->url)] = sum(args[4] >= 400);
}

node*:::http-client-abort
/client && top/
{
	@aborts[args[7]->methodStart, args[7]->methodRest, strjoin(args[6]->host, args[6]->url)] = count();
}

tick-1s
/top && repeats && ++seconds % interval == 0/
{
	printa("latency start=%d rest=%d url=%s latency=%@d\n", @latency);
	printa("longest start=%d rest=%d url=%s longest=%@d\n", @longest);
	printa("errors start=%d rest=%d url=%s count=%@d\n", @errors);
	printa("aborts start=%d rest=%d url=%s count=%@d\n", @aborts);
	printf("table\n");
}

END
/top/
{
	printa("latency start=%d rest=%d url=%s latency=%@d\n", @latency);
	printa("longest start=%d rest=%d url=%s longest=%@d\n", @longest);
	printa("errors start=%d rest=%d url=%s count=%@d\n", @errors);
	printa("aborts start=%d rest=%d url=%s count=%@d\n", @aborts);
}
