/* test_view_files.c - how open descriptors look. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "view/files.h"

static const char note[] =
	"{\"version\":1,\"soft_limit\":1024,\"hard_limit\":4096,\"files\":["
	"{\"fd\":0,\"type\":\"chr\",\"path\":\"/dev/pts/3\",\"flag_bits\":2,\"offset\":0},"
	"{\"fd\":1,\"type\":\"reg\",\"path\":\"/var/log/\\u001b[31mred\",\"deleted\":true,\"flag_bits\":1025,\"offset\":10,"
	"\"inode\":5,\"dev\":\"8:1\",\"mode\":33188,\"size\":20},"
	"{\"fd\":3,\"type\":\"eventpoll\",\"flag_bits\":524290,\"offset\":0,\"watched\":7,\"use\":\"epoll\",\"loop\":3,"
	"\"loop_role\":\"main\"},"
	"{\"fd\":9,\"type\":\"tcp6\",\"flag_bits\":526338,\"offset\":0,\"socket\":{\"family\":10,\"type\":1,\"protocol\":6,"
	"\"state\":\"LISTEN\",\"local\":\"[::]:80\",\"accept_queue\":3,\"backlog\":511},\"use\":\"tcp server\",\"loop\":3,"
	"\"loop_role\":\"main\"},"
	"{\"fd\":10,\"type\":\"tcp6\",\"flag_bits\":526338,\"offset\":0,\"socket\":{\"family\":10,\"type\":1,\"protocol\":6,"
	"\"state\":\"ESTABLISHED\",\"local\":\"127.0.0.1:80\",\"remote\":\"127.0.0.1:41000\",\"recv_queue\":0,"
	"\"send_queue\":77},\"use\":\"tcp connection, not reading\",\"loop\":3,\"loop_role\":\"main\"},"
	"{\"fd\":11,\"type\":\"pipe\",\"path\":\"pipe:[8]\",\"flag_bits\":1,\"offset\":0,\"inode\":8,"
	"\"peers\":[{\"pid\":12,\"fd\":1,\"comm\":\"cat\"}]}]}";

static char *shown(size_t width, void (*how)(const struct ray_files *, size_t, FILE *))
{
	ray_auto(ray_files, files) = NULL;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_null(ray_files_from_json(note, &files));
	how(files, width, out);
	fclose(out);
	return text;
}

static void verbose(const struct ray_files *files, size_t width, FILE *out)
{
	(void)width;
	ray_view_files_verbose(files, out);
}

static void summary(const struct ray_files *files, size_t width, FILE *out)
{
	(void)width;
	ray_view_files_summary(files, out);
}

static void a_line_for_each_that_fits(void **state)
{
	ray_auto_memory char *text = shown(80, ray_view_files);
	(void)state;

	assert_string_equal(text, "  FD TYPE      FLAGS  NAME, STATE, [USE BY LIBUV]\n"
				  "   0 chr       rw     /dev/pts/3\n"
				  "   1 reg       -wa    /var/log/\\x1b[31mred (deleted)  at 10 of 20\n"
				  "   3 eventpoll rwc    watches 7  [main: epoll]\n"
				  "   9 tcp6      rwnc   [::]:80  LISTEN, 3 of 511 waiting  [main: tcp server]\n"
				  "  10 tcp6      rwnc   127.0.0.1:80 <-> 127.0.0.1:41000  ESTABLISHED, 77 to send\n"
				  "                      [main: tcp connection, not reading]\n"
				  "  11 pipe      -w     -> cat 12 fd 1\n");
}

static void without_a_width_nothing_is_wrapped(void **state)
{
	ray_auto_memory char *text = shown(0, ray_view_files);
	(void)state;

	assert_non_null(strstr(text, "127.0.0.1:80 <-> 127.0.0.1:41000  ESTABLISHED, 77 to send  "
				     "[main: tcp connection, not reading]\n"));
}

static void a_narrow_terminal_cuts_what_has_no_room(void **state)
{
	ray_auto_memory char *text = shown(40, ray_view_files);
	char *line, *rest = text;
	(void)state;

	while ((line = strsep(&rest, "\n")))
		if (strncmp(line, "  FD", 4))
			assert_in_range(ray_text_width(line), 0, 40);
}

static void verbose_says_all(void **state)
{
	ray_auto_memory char *text = shown(0, verbose);
	(void)state;

	assert_non_null(strstr(text, "   1: reg  /var/log/\\x1b[31mred (deleted)\n"
				     "      flags   O_WRONLY|O_APPEND\n"
				     "      offset  at 10 of 20\n"
				     "      inode   5 on device 8:1, mode 0644\n"));
	assert_non_null(strstr(text, "      queues  3 to accept, backlog 511\n"
				     "      libuv   main: tcp server (loop of fd 3)\n"));
	assert_non_null(strstr(text, "      peer    process 12 (cat), fd 1\n"));
}

static void the_summary_counts(void **state)
{
	ray_auto_memory char *text = shown(0, summary);
	(void)state;

	assert_non_null(strstr(text, "      2 tcp6  1 ESTABLISHED, 1 LISTEN\n"));
	assert_non_null(strstr(text, "      1 main: tcp connection\n"));
	assert_non_null(strstr(text, "      1 main: the loop's own\n"));
}

static void the_heading_tells_the_limits(void **state)
{
	ray_auto(ray_files, files) = NULL;
	ray_auto_text text = { 0 };
	(void)state;

	assert_null(ray_files_from_json(note, &files));
	ray_view_files_heading(files, &text);
	assert_string_equal(ray_text_get(&text), "6 open files, limit 1024 (hard 4096)");
	files->soft_limit = files->hard_limit = UINT64_MAX;
	ray_text_clear(&text);
	ray_view_files_heading(files, &text);
	assert_string_equal(ray_text_get(&text), "6 open files, no limit (hard: none)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_for_each_that_fits),
		cmocka_unit_test(without_a_width_nothing_is_wrapped),
		cmocka_unit_test(a_narrow_terminal_cuts_what_has_no_room),
		cmocka_unit_test(verbose_says_all),
		cmocka_unit_test(the_summary_counts),
		cmocka_unit_test(the_heading_tells_the_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
