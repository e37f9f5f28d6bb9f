/* syscalls.d - system calls as they happen, or counted. SPDX-License-Identifier: MIT
 *
 *   noderay trace -s syscalls.d -p PID         the same without a view
 *   noderay syscalls --show-script [options]   this program, with the values that options stand for
 *
 * A call is told when it returns: first the memory that its arguments point to, as far as it can be read (the kernel has just used it, so it is
 * there), then the call itself. arg2 to arg7 are what it was called with. */
#pragma D option quiet
#pragma D option zdefs
#pragma D option follow=children

inline int listing = 1;	    /* each call; 0 with -c and --latency */
inline int counting = 0;    /* -c */
inline int measuring = 0;   /* --latency */
inline int stacks = 0;	    /* --stack */
inline int naming = 1;	    /* what descriptors are open on */
inline int failed = 0;	    /* --failed: only calls that failed */
inline uint64_t slow = 0;   /* --slow: only calls that took as many ns */
inline int main_only = 0;   /* --thread main */
inline int thread = 0;	    /* --thread TID */
inline int size = 32;	    /* -s: bytes of a buffer */

syscall:::entry
/(!thread || tid == thread) && (!main_only || tid == pid)/
{
	self->start = timestamp;
}

/* What is gone when the call returns. */
syscall::close:entry
/listing && naming && self->start/
{
	printf("file name=%s arg=%d path=%s socket=", probefunc, 0, fds[(int)arg0].fi_pathname);
	tracesock((int)arg0);
	printf("\n");
}

syscall::execve:entry
/listing && self->start/
{
	printf("string name=%s arg=%d text=", probefunc, 0);
	tracestr(arg0, 512);
	printf("\n");
}

syscall::execve:entry
/listing && self->start/
{
	printf("words name=%s arg=%d one=", probefunc, 1);
	tracestr(peek(arg1), 128);
	printf(" two=");
	tracestr(peek(arg1) ? peek(arg1 + 8) : 0, 128);
	printf(" three=");
	tracestr(peek(arg1) && peek(arg1 + 8) ? peek(arg1 + 16) : 0, 128);
	printf(" four=");
	tracestr(peek(arg1) && peek(arg1 + 8) && peek(arg1 + 16) ? peek(arg1 + 24) : 0, 128);
	printf("\n");
}

/* These do not return. */
syscall::exit:entry,
syscall::exit_group:entry
/listing && self->start && !failed && !slow/
{
	printf("call name=%s ns=%d result=%d a=%d\n", probefunc, 0, 0, arg0);
}

syscall:::return
{
	this->start = self->start;
	self->start = 0;
	this->ns = this->start ? timestamp - this->start : 0;
}

syscall:::return
/listing && this->ns && this->ns >= slow && (!failed || errno)/
{
	this->show = 1;
}

syscall:::return
/listing && stacks && this->show/
{
	printf("stack name=%s frames=", probefunc);
	jstack();
	printf("\n");
}

/* paths, argument 0 */
syscall::open:return, syscall::newstat:return, syscall::newlstat:return, syscall::access:return,
syscall::truncate:return, syscall::chdir:return, syscall::rename:return, syscall::mkdir:return,
syscall::rmdir:return, syscall::creat:return, syscall::link:return, syscall::unlink:return,
syscall::symlink:return, syscall::readlink:return, syscall::chmod:return, syscall::chown:return,
syscall::lchown:return, syscall::utime:return, syscall::mknod:return, syscall::uselib:return,
syscall::statfs:return, syscall::pivot_root:return, syscall::chroot:return, syscall::mount:return,
syscall::swapon:return, syscall::swapoff:return, syscall::setxattr:return, syscall::lsetxattr:return,
syscall::getxattr:return, syscall::lgetxattr:return, syscall::listxattr:return, syscall::llistxattr:return,
syscall::removexattr:return, syscall::lremovexattr:return, syscall::utimes:return, syscall::symlinkat:return,
syscall::memfd_create:return
/listing && this->show/
{
	printf("string name=%s arg=%d text=", probefunc, 0);
	tracestr(arg2, 512);
	printf("\n");
}

/* paths, argument 1 */
syscall::rename:return, syscall::link:return, syscall::symlink:return, syscall::pivot_root:return,
syscall::mount:return, syscall::setxattr:return, syscall::lsetxattr:return, syscall::fsetxattr:return,
syscall::getxattr:return, syscall::lgetxattr:return, syscall::fgetxattr:return, syscall::removexattr:return,
syscall::lremovexattr:return, syscall::fremovexattr:return, syscall::inotify_add_watch:return,
syscall::openat:return, syscall::mkdirat:return, syscall::mknodat:return, syscall::fchownat:return,
syscall::futimesat:return, syscall::newfstatat:return, syscall::unlinkat:return, syscall::renameat:return,
syscall::linkat:return, syscall::readlinkat:return, syscall::fchmodat:return, syscall::faccessat:return,
syscall::utimensat:return, syscall::name_to_handle_at:return, syscall::renameat2:return,
syscall::statx:return, syscall::open_tree:return, syscall::move_mount:return, syscall::fspick:return,
syscall::openat2:return, syscall::faccessat2:return, syscall::mount_setattr:return,
syscall::fchmodat2:return, syscall::setxattrat:return, syscall::getxattrat:return,
syscall::listxattrat:return, syscall::removexattrat:return, syscall::open_tree_attr:return,
syscall::file_getattr:return, syscall::file_setattr:return
/listing && this->show/
{
	printf("string name=%s arg=%d text=", probefunc, 1);
	tracestr(arg3, 512);
	printf("\n");
}

/* paths, argument 2 */
syscall::mount:return, syscall::symlinkat:return
/listing && this->show/
{
	printf("string name=%s arg=%d text=", probefunc, 2);
	tracestr(arg4, 512);
	printf("\n");
}

/* paths, argument 3 */
syscall::renameat:return, syscall::linkat:return, syscall::renameat2:return, syscall::move_mount:return
/listing && this->show/
{
	printf("string name=%s arg=%d text=", probefunc, 3);
	tracestr(arg5, 512);
	printf("\n");
}

/* what is written, argument 0 */
syscall::sethostname:return, syscall::setdomainname:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 0);
	tracebuf(arg2, size, arg3);
	printf("\n");
}

/* what is written, argument 1 */
syscall::write:return, syscall::pwrite64:return, syscall::sendto:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 1);
	tracebuf(arg3, size, arg4);
	printf("\n");
}

/* what is written, argument 2 */
syscall::setxattr:return, syscall::lsetxattr:return, syscall::fsetxattr:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 2);
	tracebuf(arg4, size, arg5);
	printf("\n");
}

/* what was read, argument 0 */
syscall::getcwd:return, syscall::getrandom:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 0);
	tracebuf(arg2, size, (int64_t)arg1 > 0 ? arg1 : 0);
	printf("\n");
}

/* what was read, argument 1 */
syscall::read:return, syscall::pread64:return, syscall::recvfrom:return, syscall::readlink:return,
syscall::listxattr:return, syscall::llistxattr:return, syscall::flistxattr:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 1);
	tracebuf(arg3, size, (int64_t)arg1 > 0 ? arg1 : 0);
	printf("\n");
}

/* what was read, argument 2 */
syscall::getxattr:return, syscall::lgetxattr:return, syscall::fgetxattr:return, syscall::readlinkat:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 2);
	tracebuf(arg4, size, (int64_t)arg1 > 0 ? arg1 : 0);
	printf("\n");
}

/* vectors of buffers: the first four of them, and what the first two hold */
syscall::readv:return, syscall::writev:return, syscall::vmsplice:return, syscall::preadv:return,
syscall::pwritev:return, syscall::preadv2:return, syscall::pwritev2:return
/listing && this->show/
{
	this->iov = arg3;
	this->iovs = arg4;
	printf("memory name=%s arg=%d bytes=", probefunc, 1);
	tracebuf(this->iov, 64, this->iovs * 16);
	printf(" first=");
	tracebuf(peek(this->iov), size, peek(this->iov + 8));
	printf(" second=");
	tracebuf(this->iovs > 1 ? peek(this->iov + 16) : 0, size, this->iovs > 1 ? peek(this->iov + 24) : 0);
	printf("\n");
}

/* messages: their head, the peer, and vectors likewise */
syscall::sendmsg:return, syscall::recvmsg:return
/listing && this->show/
{
	this->iov = peek(arg3 + 16);
	this->iovs = peek(arg3 + 24);
	printf("memory name=%s arg=%d bytes=", probefunc, 1);
	tracebuf(this->iov, 64, this->iovs * 16);
	printf(" first=");
	tracebuf(peek(this->iov), size, peek(this->iov + 8));
	printf(" second=");
	tracebuf(this->iovs > 1 ? peek(this->iov + 16) : 0, size, this->iovs > 1 ? peek(this->iov + 24) : 0);
	printf(" head=");
	tracebuf(arg3, 56);
	printf(" peer=");
	tracebuf(peek(arg3), 110, peek(arg3 + 8) & 0xffffffff);
	printf("\n");
}

/* addresses, argument 1 */
syscall::connect:return, syscall::bind:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 1);
	tracebuf(arg3, 110, arg4);
	printf("\n");
}

/* addresses that the kernel filled in, argument 1 */
syscall::accept:return, syscall::getsockname:return, syscall::getpeername:return, syscall::accept4:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 1);
	tracebuf(arg3, 110, (int64_t)arg1 < 0 ? 0 : peek(arg4) & 0xffffffff);
	printf("\n");
}

/* addresses, argument 4 */
syscall::sendto:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 4);
	tracebuf(arg6, 110, arg7);
	printf("\n");
}

/* addresses that the kernel filled in, argument 4 */
syscall::recvfrom:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 4);
	tracebuf(arg6, 110, (int64_t)arg1 < 0 ? 0 : peek(arg7) & 0xffffffff);
	printf("\n");
}

/* struct stat, argument 1 */
syscall::newstat:return, syscall::newfstat:return, syscall::newlstat:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 1);
	tracebuf(arg3, 56);
	printf("\n");
}

/* struct stat, argument 2 */
syscall::newfstatat:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 2);
	tracebuf(arg4, 56);
	printf("\n");
}

/* struct statx, argument 4 */
syscall::statx:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 4);
	tracebuf(arg6, 48);
	printf("\n");
}

/* times, argument 0 */
syscall::nanosleep:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 0);
	tracebuf(arg2, 16);
	printf("\n");
}

/* times, argument 1 */
syscall::clock_settime:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 1);
	tracebuf(arg3, 16);
	printf("\n");
}

/* times, argument 2 */
syscall::rt_sigtimedwait:return, syscall::clock_nanosleep:return, syscall::ppoll:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 2);
	tracebuf(arg4, 16);
	printf("\n");
}

/* times, argument 3 */
syscall::epoll_pwait2:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 3);
	tracebuf(arg5, 16);
	printf("\n");
}

/* times, argument 4 */
syscall::recvmmsg:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 4);
	tracebuf(arg6, 16);
	printf("\n");
}

/* struct open_how, argument 2 */
syscall::openat2:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 2);
	tracebuf(arg4, 24);
	printf("\n");
}

/* pairs of descriptors, argument 0 */
syscall::pipe:return, syscall::pipe2:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 0);
	tracebuf(arg2, 8);
	printf("\n");
}

/* pairs of descriptors, argument 3 */
syscall::socketpair:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 3);
	tracebuf(arg5, 8);
	printf("\n");
}

/* struct epoll_event, argument 3 */
syscall::epoll_ctl:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 3);
	tracebuf(arg5, 12);
	printf("\n");
}

/* what epoll found, argument 1 */
syscall::epoll_wait:return, syscall::epoll_pwait:return, syscall::epoll_pwait2:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 1);
	tracebuf(arg3, 96, (int64_t)arg1 > 0 ? arg1 * 12 : 0);
	printf("\n");
}

/* struct pollfd, argument 0 */
syscall::poll:return, syscall::ppoll:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 0);
	tracebuf(arg2, 64, arg3 * 8);
	printf("\n");
}

/* sets of signals, argument 1 */
syscall::rt_sigprocmask:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 1);
	tracebuf(arg3, 8);
	printf("\n");
}

/* sets of signals, argument 4 */
syscall::epoll_pwait:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 4);
	tracebuf(arg6, 8);
	printf("\n");
}

/* struct clone_args, argument 0 */
syscall::clone3:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 0);
	tracebuf(arg2, 88);
	printf("\n");
}

/* how a child ended, argument 1 */
syscall::wait4:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 1);
	tracebuf(arg3, 4);
	printf("\n");
}

/* limits, argument 2 */
syscall::prlimit64:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 2);
	tracebuf(arg4, 16);
	printf("\n");
}

/* limits that were, argument 3 */
syscall::prlimit64:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 3);
	tracebuf(arg5, 16);
	printf("\n");
}

/* options of sockets, argument 3 */
syscall::setsockopt:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 3);
	tracebuf(arg5, 16, arg6);
	printf("\n");
}

/* options of sockets that were asked for, argument 3 */
syscall::getsockopt:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 3);
	tracebuf(arg5, 16, peek(arg6) & 0xffffffff);
	printf("\n");
}

/* the time that a wait may take */
syscall::futex:return
/listing && this->show/
{
	printf("memory name=%s arg=%d bytes=", probefunc, 3);
	tracebuf((arg3 & 127) == 0 || (arg3 & 127) == 9 ? arg5 : 0, 16);
	printf("\n");
}

/* names of threads */
syscall::prctl:return
/listing && this->show/
{
	printf("string name=%s arg=%d text=", probefunc, 1);
	tracestr(arg2 == 15 ? arg3 : 0, 16);
	printf("\n");
}

/* descriptors, argument 0 */
syscall::read:return, syscall::write:return, syscall::newfstat:return, syscall::lseek:return,
syscall::ioctl:return, syscall::pread64:return, syscall::pwrite64:return, syscall::readv:return,
syscall::writev:return, syscall::dup:return, syscall::dup2:return, syscall::sendfile64:return,
syscall::connect:return, syscall::accept:return, syscall::sendto:return, syscall::recvfrom:return,
syscall::sendmsg:return, syscall::recvmsg:return, syscall::shutdown:return, syscall::bind:return,
syscall::listen:return, syscall::getsockname:return, syscall::getpeername:return, syscall::setsockopt:return,
syscall::getsockopt:return, syscall::fcntl:return, syscall::flock:return, syscall::fsync:return,
syscall::fdatasync:return, syscall::ftruncate:return, syscall::getdents:return, syscall::fchdir:return,
syscall::fchmod:return, syscall::fchown:return, syscall::fstatfs:return, syscall::readahead:return,
syscall::fsetxattr:return, syscall::fgetxattr:return, syscall::flistxattr:return,
syscall::fremovexattr:return, syscall::getdents64:return, syscall::fadvise64:return,
syscall::epoll_wait:return, syscall::epoll_ctl:return, syscall::mq_timedsend:return,
syscall::mq_timedreceive:return, syscall::mq_notify:return, syscall::mq_getsetattr:return,
syscall::inotify_add_watch:return, syscall::inotify_rm_watch:return, syscall::openat:return,
syscall::mkdirat:return, syscall::mknodat:return, syscall::fchownat:return, syscall::futimesat:return,
syscall::newfstatat:return, syscall::unlinkat:return, syscall::renameat:return, syscall::linkat:return,
syscall::readlinkat:return, syscall::fchmodat:return, syscall::faccessat:return, syscall::splice:return,
syscall::tee:return, syscall::sync_file_range:return, syscall::vmsplice:return, syscall::utimensat:return,
syscall::epoll_pwait:return, syscall::signalfd:return, syscall::fallocate:return,
syscall::timerfd_settime:return, syscall::timerfd_gettime:return, syscall::accept4:return,
syscall::signalfd4:return, syscall::dup3:return, syscall::preadv:return, syscall::pwritev:return,
syscall::recvmmsg:return, syscall::fanotify_mark:return, syscall::name_to_handle_at:return,
syscall::open_by_handle_at:return, syscall::syncfs:return, syscall::sendmmsg:return, syscall::setns:return,
syscall::finit_module:return, syscall::renameat2:return, syscall::kexec_file_load:return,
syscall::copy_file_range:return, syscall::preadv2:return, syscall::pwritev2:return, syscall::statx:return,
syscall::pidfd_send_signal:return, syscall::io_uring_enter:return, syscall::io_uring_register:return,
syscall::open_tree:return, syscall::move_mount:return, syscall::fsconfig:return, syscall::fsmount:return,
syscall::fspick:return, syscall::openat2:return, syscall::pidfd_getfd:return, syscall::faccessat2:return,
syscall::process_madvise:return, syscall::epoll_pwait2:return, syscall::mount_setattr:return,
syscall::quotactl_fd:return, syscall::landlock_add_rule:return, syscall::landlock_restrict_self:return,
syscall::process_mrelease:return, syscall::cachestat:return, syscall::fchmodat2:return,
syscall::setxattrat:return, syscall::getxattrat:return, syscall::listxattrat:return,
syscall::removexattrat:return, syscall::open_tree_attr:return, syscall::file_getattr:return,
syscall::file_setattr:return
/listing && naming && this->show && (int)arg2 >= 0/
{
	printf("file name=%s arg=%d path=%s socket=", probefunc, 0, fds[(int)arg2].fi_pathname);
	tracesock((int)arg2);
	printf("\n");
}

/* descriptors, argument 1 */
syscall::dup2:return, syscall::sendfile64:return, syscall::symlinkat:return, syscall::tee:return,
syscall::dup3:return, syscall::kexec_file_load:return
/listing && naming && this->show && (int)arg3 >= 0/
{
	printf("file name=%s arg=%d path=%s socket=", probefunc, 1, fds[(int)arg3].fi_pathname);
	tracesock((int)arg3);
	printf("\n");
}

/* descriptors, argument 2 */
syscall::epoll_ctl:return, syscall::renameat:return, syscall::linkat:return, syscall::splice:return,
syscall::renameat2:return, syscall::copy_file_range:return, syscall::move_mount:return
/listing && naming && this->show && (int)arg4 >= 0/
{
	printf("file name=%s arg=%d path=%s socket=", probefunc, 2, fds[(int)arg4].fi_pathname);
	tracesock((int)arg4);
	printf("\n");
}

/* descriptors, argument 3 */
syscall::perf_event_open:return, syscall::fanotify_mark:return
/listing && naming && this->show && (int)arg5 >= 0/
{
	printf("file name=%s arg=%d path=%s socket=", probefunc, 3, fds[(int)arg5].fi_pathname);
	tracesock((int)arg5);
	printf("\n");
}

/* descriptors, argument 4 */
syscall::mmap:return
/listing && naming && this->show && (int)arg6 >= 0/
{
	printf("file name=%s arg=%d path=%s socket=", probefunc, 4, fds[(int)arg6].fi_pathname);
	tracesock((int)arg6);
	printf("\n");
}

/* descriptors that are new */
syscall::open:return, syscall::dup:return, syscall::dup2:return, syscall::socket:return,
syscall::accept:return, syscall::creat:return, syscall::epoll_create:return, syscall::inotify_init:return,
syscall::openat:return, syscall::signalfd:return, syscall::timerfd_create:return, syscall::eventfd:return,
syscall::accept4:return, syscall::signalfd4:return, syscall::eventfd2:return, syscall::epoll_create1:return,
syscall::dup3:return, syscall::inotify_init1:return, syscall::perf_event_open:return,
syscall::memfd_create:return, syscall::bpf:return, syscall::userfaultfd:return,
syscall::io_uring_setup:return, syscall::pidfd_open:return, syscall::openat2:return,
syscall::pidfd_getfd:return
/listing && naming && this->show && (int64_t)arg1 >= 0/
{
	printf("file name=%s arg=%d path=%s socket=", probefunc, 6, fds[(int)arg1].fi_pathname);
	tracesock((int)arg1);
	printf("\n");
}

syscall:::return
/listing && this->show/
{
	printf("call name=%s ns=%d result=%d a=%d b=%d c=%d d=%d e=%d f=%d\n", probefunc, this->ns, arg1, arg2, arg3, arg4,
	    arg5, arg6, arg7);
}

syscall:::return
/counting && this->ns && this->ns >= slow && (!failed || errno)/
{
	@time[probefunc] = avg(this->ns);
	@most[probefunc] = max(this->ns);
}

syscall:::return
/counting && errno && this->ns && this->ns >= slow/
{
	@errors[probefunc] = count();
}

syscall:::return
/counting && stacks && this->ns && this->ns >= slow && (!failed || errno)/
{
	@stacks[probefunc, jstack()] = sum(this->ns);
}

syscall:::return
/measuring && this->ns && this->ns >= slow && (!failed || errno)/
{
	@spread[probefunc] = quantize(this->ns);
	@largest[probefunc] = max(this->ns);
}

END
/counting/
{
	printa("calls name=%s avg=%@d max=%@d errors=%@d\n", @time, @most, @errors);
}

END
/counting && stacks/
{
	printa("callers name=%s stack=%k ns=%@d\n", @stacks);
}

END
/measuring/
{
	printa("latency name=%s bars=%@d max=%@d\n", @spread, @largest);
}
