#!/usr/bin/env -S noderay trace -s
/* uv-pool.d - what is given to libuv's thread pool, by whom: file operations, name lookups and queued work, each second.
 *
 *   noderay trace -s examples/d/uv-pool.d -p PID                until Ctrl-C
 *
 * Four threads serve them all unless UV_THREADPOOL_SIZE says otherwise: a lookup may wait for a file. */
#pragma D option quiet

uv$target::uv_fs_*:entry
/args[0]->cb != 0/
{
	@["file", probefunc, args[0]->path] = count();
}

uv$target::uv_getaddrinfo:entry
{
	@["name", probefunc, args[0]->node] = count();
}

uv$target::uv_queue_work:entry
{
	@["work", probefunc, ""] = count();
	@callers[jstack(8)] = count();
}

tick-1s
{
	printf("%Y\n", walltimestamp);
	printa("  %-6s %-18s %-60s %@8d\n", @);
	trunc(@);
}

END
{
	trunc(@callers, 5);
	printf("\nWho queued work, the five most frequent:\n");
	printa(@callers);
}
