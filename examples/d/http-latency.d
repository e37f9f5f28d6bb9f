#!/usr/bin/env -S noderay trace -s
/* http-latency.d - time from a request's first byte to its answer's, by method and URL, in microseconds.
 *
 *   noderay trace -s examples/d/http-latency.d -p PID           until Ctrl-C
 *
 * Works from the system calls of any HTTP/1 server that reads and writes its sockets itself: no symbols are needed.
 * What is encrypted or pipelined is not seen. */
#pragma D option quiet
#pragma D option strsize=128

syscall::read:entry
/pid == $target/
{
	self->fd = arg0;
	self->buffer = arg1;
}

syscall::read:return
/self->buffer && arg0 > 16/
{
	this->head = copyinstr(self->buffer, 128);
	this->method = strtok(this->head, " ");
	this->url = strtok(NULL, " ");
	this->is_request = this->method == "GET" || this->method == "POST" || this->method == "PUT" ||
	    this->method == "DELETE" || this->method == "HEAD" || this->method == "PATCH";
}

syscall::read:return
/self->buffer && this->is_request/
{
	since[self->fd] = timestamp;
	request[self->fd] = strjoin(this->method, strjoin(" ", this->url));
}

syscall::read:return
/self->buffer/
{
	self->buffer = 0;
}

syscall::write:entry,
syscall::writev:entry
/pid == $target && since[arg0]/
{
	@[request[arg0]] = quantize((timestamp - since[arg0]) / 1000);
	since[arg0] = 0;
	request[arg0] = 0;
}

END
{
	printa("%s (us)%@d\n", @);
}
