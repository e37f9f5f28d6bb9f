/* record_alloc.d - who makes a process take more memory from the kernel. SPDX-License-Identifier: MIT
 *
 *   noderay trace -s record_alloc.d -p PID                  the same without a view
 *   noderay record --alloc --show-script                    this program
 *
 * V8 takes pages for its heap, and the C library memory for malloc(), with mmap, mprotect, mremap and brk: weights are bytes that can be written to from
 * then on. V8 wants its pages aligned, so it maps more than it needs and gives back both ends at once: that is told as trim. hint says that the caller
 * wanted a place of its own, as V8 does. */
#pragma D option quiet
#pragma D option maxframes=1024
#pragma D option follow=children
#pragma D option bufsize=16m

inline int thread = 0;	      /* --thread: only this one; -1: the first of each process */
inline int is_writable = 2;   /* PROT_WRITE */
inline int is_executable = 4; /* PROT_EXEC */
inline int is_anonymous = 32; /* MAP_ANONYMOUS */

syscall::mmap:entry
/arg3 & is_anonymous && (!thread || tid == thread || (thread < 0 && tid == pid))/
{
	self->size = arg1;
	self->hint = arg0 != 0;
	self->writes = arg2 & is_writable;
}

syscall::mmap:return
/self->size/
{
	self->from = arg1;
	self->to = errno ? 0 : arg1 + self->size;
}

syscall::mmap:return
/self->size && self->writes && !errno/
{
	printf("sample weight=%d hint=%d user=%k\n", self->size, self->hint, ustack(1024));
}

syscall::mmap:return
{
	self->size = 0;
}

/* What was only reserved so far. Code that is made writable for a moment has its memory already. */
syscall::mprotect:entry
/arg2 & is_writable && !(arg2 & is_executable) && (!thread || tid == thread || (thread < 0 && tid == pid))/
{
	self->protects = arg1;
}

syscall::mprotect:return
/self->protects && !errno/
{
	printf("sample weight=%d hint=%d user=%k\n", self->protects, self->hint, ustack(1024));
}

syscall::mprotect:return
{
	self->protects = 0;
}

syscall::munmap:entry
/self->writes && arg0 >= self->from && arg0 + arg1 <= self->to/
{
	printf("trim weight=%d\n", arg1);
}

syscall::mremap:entry
/arg2 > arg1 && (!thread || tid == thread || (thread < 0 && tid == pid))/
{
	self->grows = arg2 - arg1;
}

syscall::mremap:return
/self->grows && !errno/
{
	printf("sample weight=%d hint=0 user=%k\n", self->grows, ustack(1024));
}

syscall::mremap:return
{
	self->grows = 0;
}

syscall::brk:entry
/arg0 && (!thread || tid == thread || (thread < 0 && tid == pid))/
{
	self->brk = (uint64_t)curthread->mm->brk;
}

syscall::brk:return
/self->brk && arg1 > self->brk/
{
	printf("sample weight=%d hint=0 user=%k\n", arg1 - self->brk, ustack(1024));
}

syscall::brk:return
{
	self->brk = 0;
}
