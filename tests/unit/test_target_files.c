/* test_target_files.c - descriptors as the kernel's texts tell them, and the note in a core.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#include "target/files.h"

static void links_without_a_path_tell_their_type(void **state)
{
	static const struct {
		const char *link;
		enum ray_file_type type;
		uint64_t inode;
	} rows[] = {
		{ "socket:[4711]", RAY_FILE_SOCKET, 4711 },	     { "pipe:[12]", RAY_FILE_PIPE, 12 },
		{ "anon_inode:[eventpoll]", RAY_FILE_EVENTPOLL, 0 }, { "anon_inode:inotify", RAY_FILE_INOTIFY, 0 },
		{ "anon_inode:[io_uring]", RAY_FILE_IO_URING, 0 },   { "anon_inode:bpf-map", RAY_FILE_BPF_MAP, 0 },
		{ "anon_inode:[something new]", RAY_FILE_ANON, 0 },  { "pidfd:[99]", RAY_FILE_PIDFD, 99 },
		{ "/memfd:wasm (deleted)", RAY_FILE_MEMFD, 0 },	     { "net:[4026531840]", RAY_FILE_NAMESPACE, 0 },
		{ "/home/a/socket:[1]", RAY_FILE_UNKNOWN, 0 },	     { "", RAY_FILE_UNKNOWN, 0 },
	};
	uint64_t inode;
	size_t i;
	(void)state;

	for (i = 0; i < RAY_COUNT(rows); i++) {
		inode = 0;
		assert_int_equal(ray_file_type_from_link(rows[i].link, &inode), rows[i].type);
		assert_int_equal(inode, rows[i].inode);
	}
}

static void every_type_has_a_name_of_its_own(void **state)
{
	enum ray_file_type type, back;
	(void)state;

	for (type = 0; type < RAY_FILE_TYPE_COUNT; type++) {
		assert_true(ray_file_type_from_name(ray_file_type_name(type), &back));
		assert_int_equal(type, back);
	}
	assert_false(ray_file_type_from_name("tcp7", &back));
	assert_string_equal(ray_file_type_name((enum ray_file_type)999), "unknown");
}

static void flags_are_spelled_out(void **state)
{
	char text[256], tiny[10];
	(void)state;

	ray_file_flags_text(02004002 | 0100000, text, sizeof(text));
	assert_string_equal(text, "O_RDWR|O_NONBLOCK|O_CLOEXEC");
	ray_file_flags_text(O_WRONLY | O_APPEND | O_SYNC, text, sizeof(text));
	assert_string_equal(text, "O_WRONLY|O_APPEND|O_SYNC");
	ray_file_flags_text(O_WRONLY | O_DSYNC, text, sizeof(text));
	assert_string_equal(text, "O_WRONLY|O_DSYNC");
	ray_file_flags_text(O_RDWR | O_TMPFILE, text, sizeof(text));
	assert_string_equal(text, "O_RDWR|O_TMPFILE");
	ray_file_flags_text(O_RDONLY | 0x40000000, text, sizeof(text));
	assert_string_equal(text, "O_RDONLY|010000000000");
	ray_file_flags_text(02004002, tiny, sizeof(tiny));
	assert_string_equal(tiny, "O_RDWR|O_");
}

static void fdinfo_of_an_eventfd(void **state)
{
	struct ray_fdinfo i;
	(void)state;

	ray_fdinfo_parse("pos:\t0\nflags:\t02004002\nmnt_id:\t15\nino:\t1038\neventfd-count:               1f\n"
			 "eventfd-id: 25\n",
			 &i);
	assert_true(i.has_flags);
	assert_int_equal(i.flags, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	assert_true(i.has_count);
	assert_int_equal(i.count, 0x1f);
	assert_false(i.has_watched);
}

static void fdinfo_counts_what_is_watched(void **state)
{
	struct ray_fdinfo i;
	(void)state;

	ray_fdinfo_parse("pos:\t0\nflags:\t02000002\n"
			 "tfd:       17 events:       19 data:               11  pos:0 ino:ad09 sdev:f\n"
			 "tfd:       18 events:       19 data:               12  pos:0 ino:ad09 sdev:f\n",
			 &i);
	assert_int_equal(i.watched, 2);
	ray_fdinfo_parse("flags:\t00\ninotify wd:2 ino:7 sdev:800013 mask:800afce ignored_mask:0\n"
			 "inotify wd:1 ino:9 sdev:800013 mask:800afce ignored_mask:0",
			 &i);
	assert_int_equal(i.watched, 2);
	ray_fdinfo_parse(
		"fanotify flags:10 event-flags:0\nfanotify mnt_id:12 mflags:40 mask:38 ignored_mask:40000000\n", &i);
	assert_int_equal(i.watched, 1);
}

static void fdinfo_of_a_timer(void **state)
{
	struct ray_fdinfo i;
	(void)state;

	ray_fdinfo_parse("clockid: 1\nticks: 0\nsettime flags: 01\nit_value: (1, 500000000)\nit_interval: (2, 0)\n",
			 &i);
	assert_true(i.has_timer);
	assert_int_equal(i.timer_clock, 1);
	assert_int_equal(i.timer_ns, 1500000000);
	assert_int_equal(i.period_ns, 2000000000);
}

static void fdinfo_of_nonsense_is_empty(void **state)
{
	static const struct ray_fdinfo nothing;
	struct ray_fdinfo i;
	(void)state;

	ray_fdinfo_parse("", &i);
	assert_memory_equal(&i, &nothing, sizeof(i));
	ray_fdinfo_parse("\n\n::\nflags\npos", &i);
	assert_memory_equal(&i, &nothing, sizeof(i));
	ray_fdinfo_parse("it_value: (99999999999999999999, 1)\nit_interval: (", &i);
	assert_int_equal(i.timer_ns, 0);
}

static const char whole_note[] =
	"{\"version\":1,\"soft_limit\":1024,\"hard_limit\":\"unlimited\",\"vanished\":2,\"unreadable\":1,\"files\":["
	"{\"fd\":7,\"type\":\"eventfd\",\"path\":\"anon_inode:[eventfd]\",\"flags\":\"O_RDWR\",\"flag_bits\":2,\"offset\":0,"
	"\"count\":3},"
	"{\"fd\":1,\"type\":\"reg\",\"path\":\"/tmp/log\",\"deleted\":true,\"flag_bits\":1,\"offset\":10,\"inode\":5,"
	"\"dev\":\"8:1\",\"mode\":33188,\"size\":20},"
	"{\"fd\":9,\"type\":\"tcp6\",\"inode\":77,\"socket\":{\"family\":10,\"type\":1,\"protocol\":6,\"state\":\"LISTEN\","
	"\"local\":\"[::]:80\",\"accept_queue\":3,\"backlog\":511},\"use\":\"tcp server\",\"loop\":3,\"loop_role\":\"main\"},"
	"{\"fd\":10,\"type\":\"pipe\",\"inode\":8,\"peers\":[{\"pid\":12,\"fd\":1,\"comm\":\"cat\"}]}]}";

static void the_note_is_read_in_order(void **state)
{
	ray_auto(ray_files, f) = NULL;
	(void)state;

	assert_null(ray_files_from_json(whole_note, &f));
	assert_true(f->listed);
	assert_int_equal(f->n, 4);
	assert_int_equal(f->at[0].fd, 1);
	assert_int_equal(f->at[3].fd, 10);
	assert_true(f->at[0].deleted);
	assert_int_equal(f->at[0].size, 20);
	assert_int_equal(f->soft_limit, 1024);
	assert_true(f->hard_limit == UINT64_MAX);
	assert_int_equal(f->vanished, 2);
	assert_true(ray_files_find(f, 9)->socket->has_backlog);
	assert_int_equal(ray_files_find(f, 9)->socket->send_queue, 511);
	assert_string_equal(ray_files_find(f, 9)->loop_role, "main");
	assert_string_equal(f->at[3].peers[0].comm, "cat");
	assert_null(ray_files_find(f, 2));
}

static void the_note_written_again_is_the_same(void **state)
{
	ray_auto(ray_files, f) = NULL;
	ray_auto(ray_files, g) = NULL;
	json_t *a, *b;
	char *text;
	(void)state;

	assert_null(ray_files_from_json(whole_note, &f));
	a = ray_files_to_json(f);
	text = json_dumps(a, JSON_COMPACT);
	assert_null(ray_files_from_json(text, &g));
	b = ray_files_to_json(g);
	assert_true(json_equal(a, b));
	free(text);
	json_decref(a);
	json_decref(b);
}

static void refuse(const char *text, const char *why)
{
	ray_auto(ray_files, f) = NULL;
	ray_auto(ray_error, err) = ray_files_from_json(text, &f);

	assert_non_null(err);
	assert_null(f);
	assert_int_equal(ray_error_code(err), RAY_UNREADABLE);
	assert_non_null(strstr(ray_error_text(err), why));
}

static void a_damaged_note_is_an_error(void **state)
{
	(void)state;
	refuse("", "damaged");
	refuse("{\"version\":1,\"files\":[", "damaged");
	refuse("[]", "not a list");
	refuse("{\"version\":1,\"files\":3}", "not a list");
	refuse("{\"files\":[]}", "not a list");
}

static void damaged_entries_are_left_out_and_counted(void **state)
{
	ray_auto(ray_files, f) = NULL;
	(void)state;

	assert_null(ray_files_from_json(
		"{\"version\":1,\"files\":[{\"fd\":-1},{\"fd\":3},{\"fd\":3},{\"fd\":1e99},7,"
		"{\"fd\":4,\"type\":9,\"path\":[],\"size\":-5,\"socket\":\"x\",\"peers\":{},\"dev\":\"q\"}]}",
		&f));
	assert_int_equal(f->n, 2);
	assert_non_null(strstr(f->note, "4 entries"));
	assert_int_equal(f->at[1].type, RAY_FILE_UNKNOWN);
	assert_string_equal(f->at[1].path, "");
	assert_false(f->at[1].has_stat);
	assert_null(f->at[1].socket);
}

static void descriptors_added_in_any_order_are_found(void **state)
{
	ray_auto(ray_files, f) = ray_files_create();
	int i;
	(void)state;

	for (i = 0; i < 100; i++)
		assert_non_null(ray_files_add(f, i * 37 % 101));
	for (i = 0; i < 100; i++)
		assert_int_equal(ray_files_find(f, i * 37 % 101)->fd, i * 37 % 101);
	for (i = 1; i < 100; i++)
		assert_true(f->at[i - 1].fd < f->at[i].fd);
}

/* This process as the target: the kernel's own answers. */
static struct ray_files *own_files(void)
{
	ray_auto(ray_target, t) = NULL;
	struct ray_files *f = NULL;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	assert_null(ray_target_open(&(struct ray_target_options){ .name = pid }, &t));
	assert_null(ray_files_list(t, &f));
	return f;
}

static void own_pipes_and_sockets_find_their_other_ends(void **state)
{
	int pipes[2], pair[2];
	(void)state;

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	ray_auto(ray_files, f) = own_files();
	const struct ray_file *r = ray_files_find(f, pipes[0]), *s = ray_files_find(f, pair[0]);

	assert_int_equal(r->type, RAY_FILE_PIPE);
	assert_int_equal(r->peer_count, 1);
	assert_int_equal(r->peers[0].fd, pipes[1]);
	assert_int_equal(s->type, RAY_FILE_UNIX_SEQPACKET);
	/* Without sock_diag the kernel does not tell who is at the other end. */
	if (s->socket->peer)
		assert_int_equal(s->peers[0].fd, pair[1]);
	close(pipes[0]);
	close(pipes[1]);
	close(pair[0]);
	close(pair[1]);
}

static void own_odd_descriptors_are_understood(void **state)
{
	struct itimerspec when = { .it_value = { .tv_sec = 1000 }, .it_interval = { .tv_sec = 7 } };
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), event = eventfd(5, 0);
	int tcp = socket(AF_INET, SOCK_STREAM, 0), netlink = socket(AF_NETLINK, SOCK_RAW, 0);
	char name[] = "/tmp/noderay files (deleted)XXXXXX";
	int gone = mkstemp(name), path = open("/", O_PATH | O_DIRECTORY);
	(void)state;

	unlink(name);
	assert_int_equal(write(gone, "hello", 5), 5);
	timerfd_settime(timer, 0, &when, NULL);
	ray_auto(ray_files, f) = own_files();

	assert_int_equal(ray_files_find(f, timer)->info.period_ns, 7000000000);
	assert_in_range(ray_files_find(f, timer)->info.timer_ns, 900000000000, 1000000000000);
	assert_int_equal(ray_files_find(f, event)->info.count, 5);
	assert_int_equal(ray_files_find(f, tcp)->type, RAY_FILE_TCP);
	assert_string_equal(ray_files_find(f, tcp)->socket->state, "CLOSE");
	assert_int_equal(ray_files_find(f, netlink)->type, RAY_FILE_NETLINK);
	assert_true(ray_files_find(f, gone)->deleted);
	assert_string_equal(ray_files_find(f, gone)->path, name);
	assert_int_equal(ray_files_find(f, gone)->info.pos, 5);
	assert_int_equal(ray_files_find(f, gone)->size, 5);
	assert_int_equal(ray_files_find(f, path)->type, RAY_FILE_DIR);
	assert_true(ray_files_find(f, path)->info.flags & O_PATH);
	assert_true(f->has_limits);
	close(timer);
	close(event);
	close(tcp);
	close(netlink);
	close(gone);
	close(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_without_a_path_tell_their_type),
		cmocka_unit_test(every_type_has_a_name_of_its_own),
		cmocka_unit_test(flags_are_spelled_out),
		cmocka_unit_test(fdinfo_of_an_eventfd),
		cmocka_unit_test(fdinfo_counts_what_is_watched),
		cmocka_unit_test(fdinfo_of_a_timer),
		cmocka_unit_test(fdinfo_of_nonsense_is_empty),
		cmocka_unit_test(the_note_is_read_in_order),
		cmocka_unit_test(the_note_written_again_is_the_same),
		cmocka_unit_test(a_damaged_note_is_an_error),
		cmocka_unit_test(damaged_entries_are_left_out_and_counted),
		cmocka_unit_test(descriptors_added_in_any_order_are_found),
		cmocka_unit_test(own_pipes_and_sockets_find_their_other_ends),
		cmocka_unit_test(own_odd_descriptors_are_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
