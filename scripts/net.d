/* net.d - what happens on sockets: connections, bytes, ends; one by one, or summed up. SPDX-License-Identifier: MIT
 *
 *   noderay trace -s net.d -p PID         the same without a view
 *   noderay net --show-script [options]   this program, with the values that options stand for
 *
 * Latency, in nanoseconds, is how long a connection took to be made; nothing else takes time by itself. The peer of a connection that was
 * accepted is an address, that of one that node made is an address and a port. */
#pragma D option quiet
#pragma D option follow=children
#pragma D option strsize=160
#pragma D option bufsize=8m

inline int sums = 0;	  /* -c, --top */
inline int repeats = 0;	  /* -i: a table now and then, and not only at the end */
inline int interval = 1;  /* -i: seconds between two of them */
inline int failed = 0;	  /* --failed */
inline uint64_t slow = 0; /* --slow: only connections that took longer */
inline int stacks = 0;	  /* --stack */

node*:::net-server-connection { this->op = "accept"; }
node*:::net-client-connect { this->op = "connect"; }
node*:::net-socket-read { this->op = "read"; }
node*:::net-socket-write { this->op = "write"; }
node*:::net-stream-end { this->op = "end"; }
node*:::net-stream-close { this->op = "close"; }

node*:::net-server-connection,
node*:::net-stream-end,
node*:::net-stream-close
{
	this->bytes = 0;
	this->latency = 0;
	this->result = 0;
	this->request = args[4];
	this->wanted = !slow && !failed;
}

node*:::net-client-connect
{
	this->bytes = 0;
	this->latency = args[5];
	this->result = args[4];
	this->request = args[6];
	this->wanted = args[5] >= slow && (!failed || args[4] < 0);
}

node*:::net-socket-read,
node*:::net-socket-write
{
	this->bytes = args[1];
	this->latency = 0;
	this->result = args[6];
	this->request = args[5];
	this->wanted = !slow && (!failed || args[6] < 0);
}

node*:::net-*
/this->wanted/
{
	this->port = args[0]->family == 10 ? strjoin("]:", lltostr(args[0]->remotePort)) :
	    strjoin(":", lltostr(args[0]->remotePort));
	this->peer = args[0]->isServer || !args[0]->remotePort ? args[0]->remoteAddress :
	    strjoin(args[0]->family == 10 ? strjoin("[", args[0]->remoteAddress) : args[0]->remoteAddress, this->port);
}

/* ---- one line each ---- */

node*:::net-*
/!sums && !stacks && this->wanted/
{
	printf("net tid=%d op=%s fd=%d peer=%s raddr=%s rport=%d lport=%d bytes=%d latency=%d result=%d request=%d tls=%d\n",
	    tid, this->op, args[0]->fd, this->peer, args[0]->remoteAddress, args[0]->remotePort, args[0]->localPort,
	    this->bytes, this->latency, this->result, this->request, args[0]->isTls);
}

node*:::net-*
/!sums && stacks && this->wanted/
{
	printf("net tid=%d op=%s fd=%d peer=%s raddr=%s rport=%d lport=%d bytes=%d latency=%d result=%d request=%d tls=%d stack=%k\n",
	    tid, this->op, args[0]->fd, this->peer, args[0]->remoteAddress, args[0]->remotePort, args[0]->localPort,
	    this->bytes, this->latency, this->result, this->request, args[0]->isTls, jstack());
}

/* ---- sums ---- */

node*:::net-*
/sums && this->wanted/
{
	@counts[this->op, this->peer] = count();
	@bytes[this->op, this->peer] = sum(this->bytes);
	@errors[this->op, this->peer] = sum(this->result < 0);
}

node*:::net-client-connect
/sums && this->wanted && this->latency/
{
	@times[this->op, this->peer] = llquantize(this->latency, 2, 10, 38, 16);
	@total[this->op, this->peer] = sum(this->latency);
	@longest[this->op, this->peer] = max(this->latency);
}

node*:::net-*
/sums && stacks && this->wanted/
{
	@who[jstack()] = count();
}

tick-1s
/sums && repeats && ++seconds % interval == 0/
{
	printa("counts op=%s peer=%s count=%@d\n", @counts);
	printa("bytes op=%s peer=%s bytes=%@d\n", @bytes);
	printa("errors op=%s peer=%s count=%@d\n", @errors);
	printa("times op=%s peer=%s times=%@d total=%@d longest=%@d\n", @times, @total, @longest);
	printa("who count=%@d stack=%k\n", @who);
	printf("table\n");
}

END
/sums/
{
	printa("counts op=%s peer=%s count=%@d\n", @counts);
	printa("bytes op=%s peer=%s bytes=%@d\n", @bytes);
	printa("errors op=%s peer=%s count=%@d\n", @errors);
	printa("times op=%s peer=%s times=%@d total=%@d longest=%@d\n", @times, @total, @longest);
	printa("who count=%@d stack=%k\n", @who);
}
