/* cpp.c - see cpp.h. SPDX-License-Identifier: MIT */
#include "lang/cpp.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"

enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

/* What a script may ask for: the system, the machine, and that it is D. */
static const char *const defaults[] = {
	"-D__linux",
	"-D__Linux",
	"-D__unix",
	"-D__SVR4",
	"-D__SUNW_D=1",
	"-D__SUNW_D_64",
	"-D__SUNW_D_VERSION=0x02000000",
	"-U__GNUC__",
	"-D__signed__=signed",
	"-D__builtin_va_list=void *",
#if defined(__x86_64__)
	"-D__amd64",
#endif
};

typedef RAY_VEC(const char *) argument_list;

static bool fill(argument_list *list, const char *command, bool is_traditional, const char *const *arguments)
{
	const char *slash = strrchr(command, '/');
	bool is_ok = ray_vec_push(list, slash ? slash + 1 : command);

	for (size_t i = 0; is_ok && i < RAY_COUNT(defaults); i++)
		is_ok = ray_vec_push(list, defaults[i]);
	for (; is_ok && arguments && *arguments; arguments++)
		is_ok = ray_vec_push(list, *arguments);
	is_ok = is_ok && ray_vec_push(list, is_traditional ? "-traditional-cpp" : "-std=c99");
	return is_ok && ray_vec_push(list, "/dev/stdin") && ray_vec_push(list, NULL);
}

static _Noreturn void run_child(const char *command, const char **argv, int in, int out)
{
	signal(SIGPIPE, SIG_DFL);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0)
		_exit(NOT_EXECUTABLE);
	close(in);
	close(out);
	execvp(command, (char *const *)argv);
	_exit(errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

/* Writes text to in and reads out to its end, both at once: neither side waits for the other. */
static void exchange(int in, int out, const char *text, size_t length, struct ray_text *result)
{
	char buffer[16384];
	ssize_t n;

	for (;;) {
		struct pollfd fds[] = { { .fd = out, .events = POLLIN }, { .fd = in, .events = POLLOUT } };

		if (in >= 0 && !length) {
			close(in);
			in = -1;
			fds[1].fd = -1;
		}
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents) {
			n = write(in, text, length < 4096 ? length : 4096);
			if (n > 0) {
				text += n;
				length -= (size_t)n;
			} else if (n < 0 && errno != EINTR && errno != EAGAIN) {
				length = 0; /* it does not want the rest */
			}
		}
		if (fds[0].revents) {
			n = read(out, buffer, sizeof(buffer));
			if (n > 0)
				ray_text_add_bytes(result, buffer, (size_t)n);
			else if (!n || errno != EINTR)
				break;
		}
	}
	if (in >= 0)
		close(in);
}

static struct ray_error *wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return ray_error_errno(RAY_FAILED, errno, "cannot wait for the preprocessor");
	}
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return NULL;
	switch (WIFEXITED(status) ? WEXITSTATUS(status) : -1) {
	case NOT_EXECUTABLE:
		return ray_error_new(RAY_FAILED, "Failed to exec preprocessor");
	case NOT_FOUND:
		return ray_error_new(RAY_FAILED, "Preprocessor not found");
	default:
		return ray_error_new(RAY_FAILED, "Preprocessor failed to process input program");
	}
}

static struct ray_error *run(const char *command, const char **argv, const char *text, size_t length,
			     struct ray_text *out)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	int in_pipe[2], out_pipe[2];
	pid_t pid;

	if (pipe2(in_pipe, O_CLOEXEC) < 0)
		return ray_error_errno(RAY_FAILED, errno, "Failed to fork preprocessor");
	if (pipe2(out_pipe, O_CLOEXEC) < 0) {
		close(in_pipe[0]);
		close(in_pipe[1]);
		return ray_error_errno(RAY_FAILED, errno, "Failed to fork preprocessor");
	}
	/* A preprocessor that ends early is told by its status, not by a signal to us. */
	sigaction(SIGPIPE, &ignore, &old);
	pid = fork();
	if (!pid)
		run_child(command, argv, in_pipe[0], out_pipe[1]);
	close(in_pipe[0]);
	close(out_pipe[1]);
	if (pid < 0)
		close(in_pipe[1]);
	else
		exchange(in_pipe[1], out_pipe[0], text, length, out);
	close(out_pipe[0]);
	sigaction(SIGPIPE, &old, NULL);
	return pid < 0 ? ray_error_new(RAY_FAILED, "Failed to fork preprocessor") : wait_for(pid);
}

struct ray_error *ray_cpp_run(const char *command, bool is_traditional, const char *const *arguments, const char *text,
			      size_t length, struct ray_text *out)
{
	argument_list list = { 0 };
	struct ray_error *err;

	/* The preprocessor would stumble over #!; the line's end stays. */
	if (length > 1 && text[0] == '#' && text[1] == '!') {
		const char *newline = memchr(text, '\n', length);

		length = newline ? length - (size_t)(newline - text) : 0;
		text = newline;
	}
	err = fill(&list, command, is_traditional, arguments) ? run(command, list.at, text, length, out) : &ray_enomem;
	ray_vec_free(&list);
	return !err && out->failed ? &ray_enomem : err;
}
