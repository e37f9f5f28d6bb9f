/* terminal.c - see terminal.h. SPDX-License-Identifier: MIT
 *
 * Without ncurses: the page is made of lines already (view/page.h), and to put lines in their places takes five sequences that all terminals of today share. A library
 * would bring a description of each terminal, its own handlers of signals and its own idea of a screen, and nothing that is used here. */
#include "cmd/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "view/keys.h"

enum { ESCAPE_NS = 50000000 /* so long after an escape, what follows is not part of it */ };

/* Other screen, no cursor, no wrapping; and back. */
static const char enter_text[] = "\033[?1049h\033[?25l\033[?7l\033[H\033[2J";
static const char leave_text[] = "\033[0m\033[?7h\033[?25h\033[?1049l";

/* Handlers of signals need it. */
static struct {
	volatile sig_atomic_t is_open, is_on; /* open: it is ours; on: it is in our state now */
	volatile sig_atomic_t wants_stop, has_changed;
	volatile sig_atomic_t is_blank; /* nothing of the last page stands there */
	struct termios before;
	int notes, errors; /* what was written to standard error; the real one; -1 */
	off_t notes_read;
	struct ray_keys keys;
	uint64_t key_ns; /* when the last byte came */
	struct ray_text *shown;
	size_t shown_count, shown_width;
} terminal = { .notes = -1, .errors = -1 };

/* All of it, however slow the reader. Also in handlers of signals. */
static void write_all(int fd, const char *bytes, size_t count)
{
	while (count) {
		ssize_t n = write(fd, bytes, count);
		struct pollfd p = { .fd = fd, .events = POLLOUT };

		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return;
		if (n < 0 && errno == EAGAIN)
			poll(&p, 1, 1000);
		if (n > 0) {
			bytes += n;
			count -= (size_t)n;
		}
	}
}

/* ---- on and off; both are safe in handlers of signals ---- */

static void turn_on(void)
{
	struct termios raw = terminal.before;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN); /* signals stay: Ctrl-C, Ctrl-Z */
	raw.c_iflag &= ~(tcflag_t)IXON;
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	write_all(STDOUT_FILENO, enter_text, sizeof(enter_text) - 1);
	terminal.is_on = 1;
	terminal.is_blank = 1;
	terminal.has_changed = 1;
}

static void turn_off(void)
{
	if (!terminal.is_on)
		return;
	terminal.is_on = 0;
	write_all(STDOUT_FILENO, leave_text, sizeof(leave_text) - 1);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.before);
}

/* What was kept of standard error is written where it belongs. */
static void release_notes(void)
{
	char chunk[4096];
	ssize_t n;

	if (terminal.errors < 0)
		return;
	dup2(terminal.errors, STDERR_FILENO);
	lseek(terminal.notes, 0, SEEK_SET);
	while ((n = read(terminal.notes, chunk, sizeof(chunk))) > 0)
		write_all(STDERR_FILENO, chunk, (size_t)n);
	close(terminal.errors);
	close(terminal.notes);
	terminal.errors = terminal.notes = -1;
}

/* ---- signals ---- */

static const int fatal_signals[] = { SIGQUIT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };

static void die(int signal)
{
	turn_off();
	release_notes();
	raise(signal); /* its usual way is set again; it comes when this returns */
}

static void on_fatal(int signal)
{
	die(signal);
}

/* Runs in a signal handler. A terminal stopped by Ctrl-S would block the write. */
static void leave(void *arg)
{
	struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };

	(void)arg;
	if (terminal.is_on && poll(&p, 1, 0) == 1)
		write_all(STDOUT_FILENO, leave_text, sizeof(leave_text) - 1);
	if (terminal.is_on)
		tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
	terminal.is_on = 0;
	release_notes();
}

static void on_change(int signal)
{
	if (signal == SIGTSTP)
		terminal.wants_stop = 1;
	else
		terminal.has_changed = 1;
}

static void install(void)
{
	struct sigaction fatal = { .sa_handler = on_fatal, .sa_flags = (int)SA_RESETHAND };
	struct sigaction change = { .sa_handler = on_change, .sa_flags = SA_RESTART }, before;

	for (size_t i = 0; i < RAY_COUNT(fatal_signals); i++)
		sigaction(fatal_signals[i], &fatal, NULL);
	sigaction(SIGWINCH, &change, NULL);
	sigaction(SIGCONT, &change, NULL);
	if (!sigaction(SIGTSTP, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGTSTP, &change, NULL);
}

/* ---- open and closed ---- */

bool ray_terminal_is_there(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

enum ray_page_looks ray_terminal_looks(void)
{
	const char *no = getenv("NO_COLOR");

	return no && *no ? RAY_LOOKS_BOLD : RAY_LOOKS_COLOR;
}

static struct ray_error *keep_notes(void)
{
	if (!isatty(STDERR_FILENO))
		return NULL;
	terminal.notes = memfd_create("notes", MFD_CLOEXEC);
	terminal.errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (terminal.notes < 0 || terminal.errors < 0 || dup2(terminal.notes, STDERR_FILENO) < 0)
		return ray_error_errno(RAY_FAILED, errno, "cannot keep messages for later");
	return NULL;
}

struct ray_error *ray_terminal_open(void)
{
	static bool is_registered;
	struct ray_error *err;

	if (tcgetattr(STDIN_FILENO, &terminal.before))
		return ray_error_errno(RAY_FAILED, errno, "cannot read the state of the terminal");
	fflush(stdout);
	err = keep_notes();
	if (err) {
		release_notes();
		return err;
	}
	install();
	ray_interrupt_cleanup_add(leave, NULL);
	if (!is_registered)
		atexit(ray_terminal_close);
	is_registered = true;
	terminal.is_open = 1;
	turn_on();
	return NULL;
}

void ray_terminal_close(void)
{
	if (!terminal.is_open)
		return;
	ray_interrupt_cleanup_remove(leave, NULL);
	turn_off();
	terminal.is_open = 0;
	release_notes();
	for (size_t i = 0; i < terminal.shown_count; i++)
		ray_text_deinit(&terminal.shown[i]);
	free(terminal.shown);
	terminal.shown = NULL;
	terminal.shown_count = 0;
}

/* ---- the screen ---- */

void ray_terminal_size(size_t *width_ret, size_t *height_ret)
{
	struct winsize size = { 0 };

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	*width_ret = size.ws_col ? size.ws_col : 80;
	*height_ret = size.ws_row ? size.ws_row : 24;
}

bool ray_terminal_has_changed(void)
{
	if (terminal.wants_stop) {
		terminal.wants_stop = 0;
		turn_off();
		raise(SIGSTOP);
		turn_on();
	}
	if (!terminal.has_changed)
		return false;
	terminal.has_changed = 0;
	/* Whoever stopped us without asking has left the terminal in another state. */
	if (terminal.is_on)
		turn_on();
	terminal.has_changed = 0;
	return true;
}

static bool fit(size_t width, size_t height)
{
	if (height == terminal.shown_count && width == terminal.shown_width)
		return false;
	for (size_t i = 0; i < terminal.shown_count; i++)
		ray_text_deinit(&terminal.shown[i]);
	free(terminal.shown);
	terminal.shown = calloc(height ? height : 1, sizeof(*terminal.shown));
	terminal.shown_count = terminal.shown ? height : 0;
	terminal.shown_width = width;
	return true;
}

void ray_terminal_show(const struct ray_page *page)
{
	bool is_new = fit(page->width, page->height) || terminal.is_blank;
	ray_auto_text out = { 0 };

	terminal.is_blank = 0;
	if (is_new)
		ray_text_add(&out, "\033[2J");

	for (size_t i = 0; i < page->height; i++) {
		const char *line = ray_text_get(&page->lines[i]);

		if (!is_new && i < terminal.shown_count && !strcmp(line, ray_text_get(&terminal.shown[i])))
			continue;
		ray_text_printf(&out, "\033[%zu;1H%s", i + 1, line);
		if (i >= terminal.shown_count)
			continue;
		ray_text_clear(&terminal.shown[i]);
		ray_text_add(&terminal.shown[i], line);
	}
	if (out.length)
		write_all(STDOUT_FILENO, out.bytes, out.length);
}

/* ---- keys and notes ---- */

uint32_t ray_terminal_key(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	char bytes[RAY_KEYS_ROOM];
	uint32_t key = ray_keys_next(&terminal.keys, false);
	ssize_t n;

	if (key)
		return key;
	if (poll(&p, 1, 0) == 1 && (p.revents & POLLIN)) {
		n = read(STDIN_FILENO, bytes, sizeof(bytes) - terminal.keys.count);
		if (n > 0) {
			ray_keys_feed(&terminal.keys, bytes, (size_t)n);
			terminal.key_ns = ray_clock_ns();
		}
	}
	return ray_keys_next(&terminal.keys, ray_clock_ns() - terminal.key_ns > ESCAPE_NS);
}

bool ray_terminal_note(char *buffer, size_t size)
{
	char chunk[1024], *line;
	ssize_t n;
	off_t end;

	fflush(stderr);
	if (terminal.notes < 0)
		return false;
	end = lseek(terminal.notes, 0, SEEK_END); /* where the next one is written, too */
	if (end <= terminal.notes_read)
		return false;
	n = pread(terminal.notes, chunk, sizeof(chunk) - 1,
		  end - terminal.notes_read > (off_t)sizeof(chunk) - 1 ? end - (off_t)sizeof(chunk) + 1 :
									 terminal.notes_read);
	terminal.notes_read = end;
	if (n <= 0)
		return false;
	chunk[n] = '\0';
	chunk[strcspn(chunk, "\n") < (size_t)n && chunk[n - 1] == '\n' ? (size_t)n - 1 : (size_t)n] = '\0';
	line = strrchr(chunk, '\n');
	snprintf(buffer, size, "%s", line ? line + 1 : chunk);
	return true;
}
