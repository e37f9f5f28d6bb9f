/* syscalls.d - system calls as they happen, or counted. SPDX-License-Identifier: MIT
 *
 *   noderay trace -s syscalls.d -p PID         the same without a view
 *   noderay syscalls --show-script [options]   this program, with the values that options stand for */
#pragma D option quiet
#pragma D option follow=children

inline int counting = 0; /* -c */

syscall:::entry
{
	self->start = timestamp;
}

syscall:::return
/self->start/
{
	this->ns = timestamp - self->start;
	self->start = 0;
}

syscall:::return
/!counting && this->ns/
{
	printf("call name=%s ns=%d result=%d\n", probefunc, this->ns, arg1);
}

syscall:::return
/counting && this->ns/
{
	@count[probefunc] = count();
	@errors[probefunc] = sum(errno != 0);
	@time[probefunc] = sum(this->ns);
}

END
/counting/
{
	printa("calls name=%s count=%@d errors=%@d ns=%@d\n", @count, @errors, @time);
}
