#!/usr/bin/env -S noderay trace -s
/* uv-connections.d - where a node connects to, and how long each connection takes until it is there, or refused.
 *
 *   noderay trace -s examples/d/uv-connections.d -p PID         until Ctrl-C
 *
 * uv_tcp_connect only starts it. The first thing that libuv does on the socket afterwards is to ask for its error, which is 0
 * when the connection is there. */
#pragma D option quiet
#pragma D option temporal

BEGIN
{
	printf("%-24s %-40s %6s %10s\n", "TIME", "ADDRESS", "PORT", "MS");
}

uv$target::uv_tcp_connect:entry
{
	self->handle = args[0]->handle;
	self->address = args[0]->addr->address;
	self->port = args[0]->addr->port;
}

uv$target::uv_tcp_connect:return
/self->handle != NULL/
{
	address[self->handle->fd] = self->address;
	port[self->handle->fd] = self->port;
	start[self->handle->fd] = timestamp;
	self->handle = NULL;
	self->address = 0;
}

syscall::getsockopt:entry
/pid == $target && start[arg0] && arg2 == 4/
{
	self->fd = arg0;
	self->error = arg3;
}

syscall::getsockopt:return
/self->error/
{
	this->error = *(int *)copyin(self->error, 4);
	printf("%-24Y %-40s %6d %6d.%03d%s\n", walltimestamp, address[self->fd], port[self->fd],
	    (timestamp - start[self->fd]) / 1000000, (timestamp - start[self->fd]) / 1000 % 1000,
	    this->error == 0 ? "" : this->error == 111 ? "  refused" : this->error == 110 ? "  timed out" : "  failed");
	start[self->fd] = 0;
	address[self->fd] = 0;
	port[self->fd] = 0;
	self->error = 0;
}
