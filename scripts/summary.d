/* summary.d - a little of everything that a node does, for one page. SPDX-License-Identifier: MIT
 *
 *   noderay trace -s summary.d -p PID         the same without a view
 *   noderay summary --show-script [options]   this program
 *
 * Times are in nanoseconds. Nothing is told before the end: all of it is added up in the kernel. */
#pragma D option quiet
#pragma D option follow=children
#pragma D option strsize=256

/* What runs on the processors, ninety-seven times a second. A thread that collects garbage runs the collector, whatever its stack says. */
node*:::gc-start
{
	self->collects = 1;
}

node*:::gc-done
{
	self->collects = 0;
	@pauses = sum(args[2]->duration);
	@pause = max(args[2]->duration);
	@collections = count();
}

profile-97
/self->collects/
{
	@gc_samples[tid == pid] = count();
}

profile-97
/arg0 && !self->collects/
{
	@kernel_samples[tid == pid] = count();
}

profile-97
/arg1 && !self->collects/
{
	@user_samples[tid == pid, jstack(24)] = count();
}

/* Loops. How long one was kept from polling is what everything else had to wait. */
node*:::loop-done
{
	@busy[pid, tid] = sum(args[0]->busy);
	@idle[pid, tid] = sum(args[0]->idle);
	@lags[pid, tid] = llquantize(args[0]->busy, 2, 10, 38, 16);
	@lag[pid, tid] = max(args[0]->busy);
}

/* Requests */
node*:::http-server-response
/args[5]/
{
	@latencies[args[6]->method, args[6]->url] = llquantize(args[7]->latency, 2, 10, 38, 16);
	@latency[args[6]->method, args[6]->url] = max(args[7]->latency);
}

node*:::http-server-response
/args[4] >= 500/
{
	@failed[args[6]->method, args[6]->url] = count();
}

node*:::http-client-response
/args[5]/
{
	@outgoing[args[6]->host] = llquantize(args[7]->latency, 2, 10, 38, 16);
	@slowest[args[6]->host] = max(args[7]->latency);
}

/* Files and names */
node*:::fs-done
{
	@files[args[0]->path] = count();
	@file_times[args[0]->path] = sum(args[0]->total);
}

/* A synchronous operation of a loop's own thread: everybody waits for it. Before there is a loop, a program may well do so. */
node*:::fs-done
/args[0]->isSync && args[0]->requestId/
{
	@blocking[args[0]->operation, args[0]->path] = sum(args[0]->run);
}

node*:::dns-done
{
	@names[args[0]->host] = count();
	@name_times[args[0]->host] = max(args[0]->total);
}

/* The thread pool */
node*:::work-done
{
	@waits = llquantize(args[0]->wait, 2, 10, 38, 16);
	@wait = max(args[0]->wait);
	@works[args[0]->kind] = count();
}

END
{
	printa("pauses ns=%@d\n", @pauses);
	printa("pause ns=%@d\n", @pause);
	printa("collections count=%@d\n", @collections);
	printa("gc_samples main=%d count=%@d\n", @gc_samples);
	printa("kernel_samples main=%d count=%@d\n", @kernel_samples);
	printa("user_samples main=%d stack=%k count=%@d\n", @user_samples);
	printa("busy pid=%d tid=%d ns=%@d\n", @busy);
	printa("idle pid=%d tid=%d ns=%@d\n", @idle);
	printa("lags pid=%d tid=%d ns=%@d\n", @lags);
	printa("lag pid=%d tid=%d ns=%@d\n", @lag);
	printa("latencies method=%s url=%s ns=%@d\n", @latencies);
	printa("latency method=%s url=%s ns=%@d\n", @latency);
	printa("failed method=%s url=%s count=%@d\n", @failed);
	printa("outgoing host=%s ns=%@d\n", @outgoing);
	printa("slowest host=%s ns=%@d\n", @slowest);
	printa("files path=%s count=%@d\n", @files);
	printa("file_times path=%s ns=%@d\n", @file_times);
	printa("blocking operation=%s path=%s ns=%@d\n", @blocking);
	printa("names host=%s count=%@d\n", @names);
	printa("name_times host=%s ns=%@d\n", @name_times);
	printa("waits ns=%@d\n", @waits);
	printa("wait ns=%@d\n", @wait);
	printa("works kind=%s count=%@d\n", @works);
}
