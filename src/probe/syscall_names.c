/* syscall_names.c - what the arguments of system calls are called: flags, commands, families. See syscall_names.h.
 * SPDX-License-Identifier: MIT
 *
 * Numbers come from the system's headers; those that an older one lacks are written out. */
#include "probe/syscall_names.h"

#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/close_range.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N(name)                         \
	{                               \
		(uint64_t)(name), #name \
	}
#define SET(name, choice)                                                                      \
	{                                                                                      \
#name, name##_rows, sizeof(name##_rows) / sizeof(name##_rows[0]), true, choice \
	}
#define LIST(name)                                                                         \
	{                                                                                  \
#name, name##_rows, sizeof(name##_rows) / sizeof(name##_rows[0]), false, 0 \
	}

/* clang-format off */
static const struct ray_value_name open_rows[] = {
	N(O_RDONLY), N(O_WRONLY), N(O_RDWR), N(O_CREAT), N(O_EXCL), N(O_NOCTTY), N(O_TRUNC), N(O_APPEND),
	N(O_NONBLOCK), N(O_SYNC), N(O_DSYNC), N(O_ASYNC), N(O_DIRECT), N(O_TMPFILE), N(O_DIRECTORY),
	N(O_NOFOLLOW), N(O_NOATIME), N(O_CLOEXEC), N(O_PATH),
};
static const struct ray_value_name fdflags_rows[] = {
	N(O_NONBLOCK), N(O_CLOEXEC), N(O_DIRECT),
};
static const struct ray_value_name eventfd_rows[] = {
	N(EFD_SEMAPHORE), N(EFD_NONBLOCK), N(EFD_CLOEXEC),
};
static const struct ray_value_name timerfd_rows[] = {
	N(TFD_NONBLOCK), N(TFD_CLOEXEC),
};
static const struct ray_value_name timer_rows[] = {
	N(TIMER_ABSTIME),
};
static const struct ray_value_name memfd_rows[] = {
	N(MFD_CLOEXEC), N(MFD_ALLOW_SEALING), N(MFD_HUGETLB),
};
static const struct ray_value_name getrandom_rows[] = {
	N(GRND_NONBLOCK), N(GRND_RANDOM), N(GRND_INSECURE),
};
static const struct ray_value_name at_rows[] = {
	N(AT_SYMLINK_NOFOLLOW), { 0x200, "AT_EACCESS" }, N(AT_SYMLINK_FOLLOW), N(AT_NO_AUTOMOUNT),
	N(AT_EMPTY_PATH),
};
static const struct ray_value_name unlink_rows[] = {
	N(AT_REMOVEDIR),
};
static const struct ray_value_name statx_at_rows[] = {
	N(AT_STATX_SYNC_AS_STAT), N(AT_STATX_FORCE_SYNC), N(AT_STATX_DONT_SYNC), N(AT_SYMLINK_NOFOLLOW),
	N(AT_NO_AUTOMOUNT), N(AT_EMPTY_PATH),
};
static const struct ray_value_name statx_rows[] = {
	N(STATX_ALL), N(STATX_BASIC_STATS), N(STATX_TYPE), N(STATX_MODE), N(STATX_NLINK), N(STATX_UID),
	N(STATX_GID), N(STATX_ATIME), N(STATX_MTIME), N(STATX_CTIME), N(STATX_INO), N(STATX_SIZE),
	N(STATX_BLOCKS), N(STATX_BTIME), N(STATX_MNT_ID),
};
static const struct ray_value_name access_rows[] = {
	{ 0, "F_OK" }, { 1, "X_OK" }, { 2, "W_OK" }, { 4, "R_OK" },
};
static const struct ray_value_name whence_rows[] = {
	N(SEEK_SET), N(SEEK_CUR), N(SEEK_END), N(SEEK_DATA), N(SEEK_HOLE),
};
static const struct ray_value_name prot_rows[] = {
	N(PROT_NONE), N(PROT_READ), N(PROT_WRITE), N(PROT_EXEC), N(PROT_GROWSDOWN),
};
static const struct ray_value_name map_rows[] = {
	N(MAP_FILE), N(MAP_SHARED), N(MAP_PRIVATE), N(MAP_SHARED_VALIDATE), N(MAP_FIXED), N(MAP_ANONYMOUS),
	N(MAP_GROWSDOWN), N(MAP_DENYWRITE), N(MAP_EXECUTABLE), N(MAP_LOCKED), N(MAP_NORESERVE), N(MAP_POPULATE),
	N(MAP_NONBLOCK), N(MAP_STACK), N(MAP_HUGETLB), N(MAP_SYNC), N(MAP_FIXED_NOREPLACE), N(MAP_32BIT),
};
static const struct ray_value_name mremap_rows[] = {
	N(MREMAP_MAYMOVE), N(MREMAP_FIXED), N(MREMAP_DONTUNMAP),
};
static const struct ray_value_name msync_rows[] = {
	N(MS_ASYNC), N(MS_INVALIDATE), N(MS_SYNC),
};
static const struct ray_value_name mlock_rows[] = {
	N(MLOCK_ONFAULT),
};
static const struct ray_value_name mlockall_rows[] = {
	N(MCL_CURRENT), N(MCL_FUTURE), N(MCL_ONFAULT),
};
static const struct ray_value_name madvise_rows[] = {
	N(MADV_NORMAL), N(MADV_RANDOM), N(MADV_SEQUENTIAL), N(MADV_WILLNEED), N(MADV_DONTNEED), N(MADV_FREE),
	N(MADV_REMOVE), N(MADV_DONTFORK), N(MADV_DOFORK), N(MADV_HWPOISON), N(MADV_MERGEABLE),
	N(MADV_UNMERGEABLE), N(MADV_HUGEPAGE), N(MADV_NOHUGEPAGE), N(MADV_DONTDUMP), N(MADV_DODUMP),
	N(MADV_WIPEONFORK), N(MADV_KEEPONFORK), N(MADV_COLD), N(MADV_PAGEOUT), N(MADV_POPULATE_READ),
	N(MADV_POPULATE_WRITE),
};
static const struct ray_value_name membarrier_rows[] = {
	N(MEMBARRIER_CMD_QUERY), N(MEMBARRIER_CMD_GLOBAL), N(MEMBARRIER_CMD_GLOBAL_EXPEDITED),
	N(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED), N(MEMBARRIER_CMD_PRIVATE_EXPEDITED),
	N(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED), N(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE),
	N(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE),
};
static const struct ray_value_name fcntl_rows[] = {
	N(F_DUPFD), N(F_GETFD), N(F_SETFD), N(F_GETFL), N(F_SETFL), N(F_GETLK), N(F_SETLK), N(F_SETLKW),
	N(F_SETOWN), N(F_GETOWN), N(F_SETSIG), N(F_GETSIG), N(F_DUPFD_CLOEXEC), N(F_SETPIPE_SZ), N(F_GETPIPE_SZ),
	N(F_ADD_SEALS), N(F_GET_SEALS), N(F_OFD_GETLK), N(F_OFD_SETLK), N(F_OFD_SETLKW), N(F_SETLEASE),
	N(F_GETLEASE), N(F_NOTIFY),
};
static const struct ray_value_name fd_flags_rows[] = {
	N(FD_CLOEXEC),
};
static const struct ray_value_name flock_rows[] = {
	N(LOCK_SH), N(LOCK_EX), N(LOCK_UN), N(LOCK_NB),
};
static const struct ray_value_name domain_rows[] = {
	N(AF_UNSPEC), N(AF_UNIX), N(AF_INET), N(AF_INET6), N(AF_NETLINK), N(AF_PACKET), N(AF_VSOCK),
	N(AF_BLUETOOTH), N(AF_ALG), N(AF_XDP),
};
static const struct ray_value_name socket_type_rows[] = {
	N(SOCK_STREAM), N(SOCK_DGRAM), N(SOCK_RAW), N(SOCK_RDM), N(SOCK_SEQPACKET), N(SOCK_PACKET),
	N(SOCK_CLOEXEC), N(SOCK_NONBLOCK),
};
static const struct ray_value_name socket_flags_rows[] = {
	N(SOCK_CLOEXEC), N(SOCK_NONBLOCK),
};
static const struct ray_value_name protocol_rows[] = {
	N(IPPROTO_IP), N(IPPROTO_ICMP), N(IPPROTO_TCP), N(IPPROTO_UDP), N(IPPROTO_IPV6), N(IPPROTO_ICMPV6),
	N(IPPROTO_SCTP), N(IPPROTO_RAW), { 262, "IPPROTO_MPTCP" },
};
static const struct ray_value_name msg_rows[] = {
	N(MSG_OOB), N(MSG_PEEK), N(MSG_DONTROUTE), N(MSG_CTRUNC), N(MSG_TRUNC), N(MSG_DONTWAIT), N(MSG_EOR),
	N(MSG_WAITALL), N(MSG_CONFIRM), N(MSG_ERRQUEUE), N(MSG_NOSIGNAL), N(MSG_MORE), N(MSG_WAITFORONE),
	N(MSG_ZEROCOPY), N(MSG_FASTOPEN), N(MSG_CMSG_CLOEXEC),
};
static const struct ray_value_name shutdown_rows[] = {
	N(SHUT_RD), N(SHUT_WR), N(SHUT_RDWR),
};
static const struct ray_value_name sol_rows[] = {
	N(SOL_IP), N(SOL_SOCKET), N(SOL_TCP), N(SOL_UDP), N(SOL_IPV6), N(SOL_RAW), N(SOL_PACKET), N(SOL_NETLINK),
	{ 282, "SOL_TLS" },
};
static const struct ray_value_name so_rows[] = {
	N(SO_DEBUG), N(SO_REUSEADDR), N(SO_TYPE), N(SO_ERROR), N(SO_DONTROUTE), N(SO_BROADCAST), N(SO_SNDBUF),
	N(SO_RCVBUF), N(SO_KEEPALIVE), N(SO_OOBINLINE), N(SO_PRIORITY), N(SO_LINGER), N(SO_REUSEPORT),
	N(SO_PASSCRED), N(SO_PEERCRED), N(SO_RCVLOWAT), N(SO_SNDLOWAT), N(SO_RCVTIMEO), N(SO_SNDTIMEO),
	N(SO_BINDTODEVICE), N(SO_TIMESTAMP), N(SO_ACCEPTCONN), N(SO_PROTOCOL), N(SO_DOMAIN), N(SO_INCOMING_CPU),
	N(SO_ZEROCOPY), N(SO_BUSY_POLL),
};
static const struct ray_value_name tcp_rows[] = {
	N(TCP_NODELAY), N(TCP_MAXSEG), N(TCP_CORK), N(TCP_KEEPIDLE), N(TCP_KEEPINTVL), N(TCP_KEEPCNT),
	N(TCP_SYNCNT), N(TCP_LINGER2), N(TCP_DEFER_ACCEPT), N(TCP_WINDOW_CLAMP), N(TCP_INFO), N(TCP_QUICKACK),
	N(TCP_CONGESTION), N(TCP_FASTOPEN), N(TCP_USER_TIMEOUT), N(TCP_NOTSENT_LOWAT),
};
static const struct ray_value_name ip_rows[] = {
	N(IP_TOS), N(IP_TTL), N(IP_OPTIONS), N(IP_MTU_DISCOVER), N(IP_RECVERR), N(IP_MTU), N(IP_MULTICAST_IF),
	N(IP_MULTICAST_TTL), N(IP_MULTICAST_LOOP), N(IP_ADD_MEMBERSHIP), N(IP_DROP_MEMBERSHIP), N(IP_PKTINFO),
	N(IP_BIND_ADDRESS_NO_PORT),
};
static const struct ray_value_name ipv6_rows[] = {
	N(IPV6_UNICAST_HOPS), N(IPV6_MULTICAST_IF), N(IPV6_MULTICAST_HOPS), N(IPV6_MULTICAST_LOOP),
	N(IPV6_JOIN_GROUP), N(IPV6_LEAVE_GROUP), N(IPV6_MTU_DISCOVER), N(IPV6_MTU), N(IPV6_RECVERR),
	N(IPV6_V6ONLY), N(IPV6_RECVPKTINFO), N(IPV6_TCLASS),
};
static const struct ray_value_name epoll_ctl_rows[] = {
	N(EPOLL_CTL_ADD), N(EPOLL_CTL_DEL), N(EPOLL_CTL_MOD),
};
static const struct ray_value_name epoll_rows[] = {
	N(EPOLLIN), N(EPOLLPRI), N(EPOLLOUT), N(EPOLLERR), N(EPOLLHUP), N(EPOLLRDNORM), N(EPOLLRDBAND),
	N(EPOLLWRNORM), N(EPOLLWRBAND), N(EPOLLMSG), N(EPOLLRDHUP), N(EPOLLEXCLUSIVE), N(EPOLLWAKEUP),
	N(EPOLLONESHOT), N(EPOLLET),
};
static const struct ray_value_name poll_rows[] = {
	N(POLLIN), N(POLLPRI), N(POLLOUT), N(POLLERR), N(POLLHUP), N(POLLNVAL), N(POLLRDNORM), N(POLLRDBAND),
	N(POLLWRNORM), N(POLLWRBAND), N(POLLRDHUP),
};
static const struct ray_value_name clone_rows[] = {
	N(CLONE_VM), N(CLONE_FS), N(CLONE_FILES), N(CLONE_SIGHAND), N(CLONE_PIDFD), N(CLONE_PTRACE),
	N(CLONE_VFORK), N(CLONE_PARENT), N(CLONE_THREAD), N(CLONE_NEWNS), N(CLONE_SYSVSEM), N(CLONE_SETTLS),
	N(CLONE_PARENT_SETTID), N(CLONE_CHILD_CLEARTID), N(CLONE_DETACHED), N(CLONE_UNTRACED),
	N(CLONE_CHILD_SETTID), N(CLONE_NEWCGROUP), N(CLONE_NEWUTS), N(CLONE_NEWIPC), N(CLONE_NEWUSER),
	N(CLONE_NEWPID), N(CLONE_NEWNET), N(CLONE_IO), N(SIGCHLD),
};
static const struct ray_value_name wait_rows[] = {
	N(WNOHANG), N(WUNTRACED), N(WEXITED), N(WCONTINUED), N(WNOWAIT), N(__WNOTHREAD), N(__WALL), N(__WCLONE),
};
static const struct ray_value_name idtype_rows[] = {
	N(P_ALL), N(P_PID), N(P_PGID), N(P_PIDFD),
};
static const struct ray_value_name signal_rows[] = {
	N(SIGHUP), N(SIGINT), N(SIGQUIT), N(SIGILL), N(SIGTRAP), N(SIGABRT), N(SIGBUS), N(SIGFPE), N(SIGKILL),
	N(SIGUSR1), N(SIGSEGV), N(SIGUSR2), N(SIGPIPE), N(SIGALRM), N(SIGTERM), N(SIGSTKFLT), N(SIGCHLD),
	N(SIGCONT), N(SIGSTOP), N(SIGTSTP), N(SIGTTIN), N(SIGTTOU), N(SIGURG), N(SIGXCPU), N(SIGXFSZ),
	N(SIGVTALRM), N(SIGPROF), N(SIGWINCH), N(SIGIO), N(SIGPWR), N(SIGSYS), { 32, "SIGRT_0" },
	{ 33, "SIGRT_1" }, { 34, "SIGRT_2" },
};
static const struct ray_value_name sigmask_rows[] = {
	N(SIG_BLOCK), N(SIG_UNBLOCK), N(SIG_SETMASK),
};
static const struct ray_value_name futex_rows[] = {
	N(FUTEX_WAIT), N(FUTEX_WAKE), N(FUTEX_FD), N(FUTEX_REQUEUE), N(FUTEX_CMP_REQUEUE), N(FUTEX_WAKE_OP),
	N(FUTEX_LOCK_PI), N(FUTEX_UNLOCK_PI), N(FUTEX_TRYLOCK_PI), N(FUTEX_WAIT_BITSET), N(FUTEX_WAKE_BITSET),
	N(FUTEX_WAIT_REQUEUE_PI), N(FUTEX_CMP_REQUEUE_PI), { 13, "FUTEX_LOCK_PI2" },
};
static const struct ray_value_name clock_rows[] = {
	N(CLOCK_REALTIME), N(CLOCK_MONOTONIC), N(CLOCK_PROCESS_CPUTIME_ID), N(CLOCK_THREAD_CPUTIME_ID),
	N(CLOCK_MONOTONIC_RAW), N(CLOCK_REALTIME_COARSE), N(CLOCK_MONOTONIC_COARSE), N(CLOCK_BOOTTIME),
	N(CLOCK_REALTIME_ALARM), N(CLOCK_BOOTTIME_ALARM), N(CLOCK_TAI),
};
static const struct ray_value_name inotify_rows[] = {
	N(IN_ACCESS), N(IN_MODIFY), N(IN_ATTRIB), N(IN_CLOSE_WRITE), N(IN_CLOSE_NOWRITE), N(IN_OPEN),
	N(IN_MOVED_FROM), N(IN_MOVED_TO), N(IN_CREATE), N(IN_DELETE), N(IN_DELETE_SELF), N(IN_MOVE_SELF),
	N(IN_ONLYDIR), N(IN_DONT_FOLLOW), N(IN_EXCL_UNLINK), N(IN_MASK_CREATE), N(IN_MASK_ADD), N(IN_ISDIR),
	N(IN_ONESHOT),
};
static const struct ray_value_name prctl_rows[] = {
	N(PR_SET_PDEATHSIG), N(PR_GET_PDEATHSIG), N(PR_GET_DUMPABLE), N(PR_SET_DUMPABLE), N(PR_SET_NAME),
	N(PR_GET_NAME), N(PR_SET_SECCOMP), N(PR_GET_SECCOMP), N(PR_CAPBSET_READ), N(PR_CAPBSET_DROP),
	N(PR_SET_MM), N(PR_SET_PTRACER), N(PR_SET_CHILD_SUBREAPER), N(PR_SET_NO_NEW_PRIVS),
	N(PR_GET_NO_NEW_PRIVS), { 0x53564d41, "PR_SET_VMA" }, N(PR_CAP_AMBIENT), N(PR_SET_TIMERSLACK),
	N(PR_GET_TIMERSLACK), N(PR_SET_KEEPCAPS),
};
static const struct ray_value_name arch_prctl_rows[] = {
	N(ARCH_SET_GS), N(ARCH_SET_FS), N(ARCH_GET_FS), N(ARCH_GET_GS), { 0x3001, "ARCH_CET_STATUS" },
	{ 0x5001, "ARCH_SHSTK_ENABLE" }, { 0x5005, "ARCH_SHSTK_STATUS" },
};
static const struct ray_value_name rlimit_rows[] = {
	N(RLIMIT_CPU), N(RLIMIT_FSIZE), N(RLIMIT_DATA), N(RLIMIT_STACK), N(RLIMIT_CORE), N(RLIMIT_RSS),
	N(RLIMIT_NPROC), N(RLIMIT_NOFILE), N(RLIMIT_MEMLOCK), N(RLIMIT_AS), N(RLIMIT_LOCKS), N(RLIMIT_SIGPENDING),
	N(RLIMIT_MSGQUEUE), N(RLIMIT_NICE), N(RLIMIT_RTPRIO), N(RLIMIT_RTTIME),
};
static const struct ray_value_name priority_rows[] = {
	N(PRIO_PROCESS), N(PRIO_PGRP), N(PRIO_USER),
};
static const struct ray_value_name sched_rows[] = {
	N(SCHED_OTHER), N(SCHED_FIFO), N(SCHED_RR), N(SCHED_BATCH), N(SCHED_IDLE), N(SCHED_DEADLINE),
};
static const struct ray_value_name rename_rows[] = {
	N(RENAME_NOREPLACE), N(RENAME_EXCHANGE), N(RENAME_WHITEOUT),
};
static const struct ray_value_name fallocate_rows[] = {
	N(FALLOC_FL_KEEP_SIZE), N(FALLOC_FL_PUNCH_HOLE), N(FALLOC_FL_COLLAPSE_RANGE), N(FALLOC_FL_ZERO_RANGE),
	N(FALLOC_FL_INSERT_RANGE), N(FALLOC_FL_UNSHARE_RANGE),
};
static const struct ray_value_name fadvise_rows[] = {
	N(POSIX_FADV_NORMAL), N(POSIX_FADV_RANDOM), N(POSIX_FADV_SEQUENTIAL), N(POSIX_FADV_WILLNEED),
	N(POSIX_FADV_DONTNEED), N(POSIX_FADV_NOREUSE),
};
static const struct ray_value_name splice_rows[] = {
	N(SPLICE_F_MOVE), N(SPLICE_F_NONBLOCK), N(SPLICE_F_MORE), N(SPLICE_F_GIFT),
};
static const struct ray_value_name ioctl_rows[] = {
	N(FIONBIO), N(FIOASYNC), N(FIONREAD), N(FIOCLEX), N(FIONCLEX), N(TCGETS), N(TCSETS), N(TCSETSW),
	N(TCSETSF), N(TIOCGWINSZ), N(TIOCSWINSZ), N(TIOCGPGRP), N(TIOCSPGRP), { 0x80045430, "TIOCGPTN" },
	N(TIOCSCTTY), N(TIOCNOTTY), { 0x802c542a, "TCGETS2" }, { 0x40049409, "FICLONE" },
	{ 0x80081272, "BLKGETSIZE64" }, N(SIOCGIFCONF), N(SIOCGIFFLAGS), N(SIOCGIFINDEX),
	{ 0x8946, "SIOCETHTOOL" },
};
static const struct ray_value_name seccomp_rows[] = {
	N(SECCOMP_SET_MODE_STRICT), N(SECCOMP_SET_MODE_FILTER), N(SECCOMP_GET_ACTION_AVAIL),
	N(SECCOMP_GET_NOTIF_SIZES),
};
static const struct ray_value_name bpf_rows[] = {
	N(BPF_MAP_CREATE), N(BPF_MAP_LOOKUP_ELEM), N(BPF_MAP_UPDATE_ELEM), N(BPF_MAP_DELETE_ELEM),
	N(BPF_MAP_GET_NEXT_KEY), N(BPF_PROG_LOAD), N(BPF_OBJ_PIN), N(BPF_OBJ_GET), N(BPF_PROG_ATTACH),
	N(BPF_PROG_DETACH), N(BPF_PROG_TEST_RUN), N(BPF_LINK_CREATE), N(BPF_BTF_LOAD),
};
static const struct ray_value_name io_uring_enter_rows[] = {
	N(IORING_ENTER_GETEVENTS), N(IORING_ENTER_SQ_WAKEUP), N(IORING_ENTER_SQ_WAIT), N(IORING_ENTER_EXT_ARG),
};
static const struct ray_value_name io_uring_register_rows[] = {
	N(IORING_REGISTER_BUFFERS), N(IORING_UNREGISTER_BUFFERS), N(IORING_REGISTER_FILES),
	N(IORING_UNREGISTER_FILES), N(IORING_REGISTER_EVENTFD), N(IORING_UNREGISTER_EVENTFD),
	N(IORING_REGISTER_FILES_UPDATE), N(IORING_REGISTER_EVENTFD_ASYNC), N(IORING_REGISTER_PROBE),
	N(IORING_REGISTER_PERSONALITY),
};
static const struct ray_value_name close_range_rows[] = {
	N(CLOSE_RANGE_UNSHARE), N(CLOSE_RANGE_CLOEXEC),
};

static const struct ray_name_set sets[] = {
	SET(open, 0x3),
	SET(fdflags, 0),
	SET(eventfd, 0),
	SET(timerfd, 0),
	SET(timer, 0),
	SET(memfd, 0),
	SET(getrandom, 0),
	SET(at, 0),
	SET(unlink, 0),
	SET(statx_at, 0x6000),
	SET(statx, 0),
	SET(access, 0),
	LIST(whence),
	SET(prot, 0),
	SET(map, 0xf),
	SET(mremap, 0),
	SET(msync, 0),
	SET(mlock, 0),
	SET(mlockall, 0),
	LIST(madvise),
	LIST(membarrier),
	LIST(fcntl),
	SET(fd_flags, 0),
	SET(flock, 0),
	LIST(domain),
	SET(socket_type, 0xf),
	SET(socket_flags, 0),
	LIST(protocol),
	SET(msg, 0),
	LIST(shutdown),
	LIST(sol),
	LIST(so),
	LIST(tcp),
	LIST(ip),
	LIST(ipv6),
	LIST(epoll_ctl),
	SET(epoll, 0),
	SET(poll, 0),
	SET(clone, 0xff),
	SET(wait, 0),
	LIST(idtype),
	LIST(signal),
	LIST(sigmask),
	LIST(futex),
	LIST(clock),
	SET(inotify, 0),
	LIST(prctl),
	LIST(arch_prctl),
	LIST(rlimit),
	LIST(priority),
	LIST(sched),
	SET(rename, 0),
	SET(fallocate, 0),
	LIST(fadvise),
	SET(splice, 0),
	LIST(ioctl),
	LIST(seccomp),
	LIST(bpf),
	SET(io_uring_enter, 0),
	LIST(io_uring_register),
	SET(close_range, 0),
};
/* clang-format on */

const struct ray_name_set *ray_name_set_find(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if (strlen(sets[i].name) == length && !memcmp(sets[i].name, name, length))
			return &sets[i];
	return NULL;
}

const char *ray_value_name(const struct ray_name_set *set, uint64_t value)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->rows[i].value == value)
			return set->rows[i].name;
	return NULL;
}
