/* test_engine_enter.c - entries in the kernel, with clauses written by hand: who fires, with which arguments, in which order.
 * SPDX-License-Identifier: MIT
 *
 * Each clause counts its firings in the state's spec_state[clause] and leaves its arguments in the state's drop counters. Skips where BPF programs may not be loaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/internal.h"

/* lookup_dcookie: a system call that nobody else makes. */
enum { MOST = 200, SEEN_ARGS = 4, EXIT = 1, FAULT = 2 };

struct fixture {
	struct ray_trace t;
	struct ray_program program;
	struct ray_plan plan;
	struct ray_clause clauses[MOST];
	struct ray_piece code[MOST];
	size_t count;
};

static const uint16_t seen_at[SEEN_ARGS] = {
	offsetof(struct ray_state, agg_drops),
	offsetof(struct ray_state, dynvar_drops),
	offsetof(struct ray_state, spec_drops),
	offsetof(struct ray_state, spec_busy),
};

/* Counts, shows its arguments and errno, then exits or faults. */
static void write_clause(struct fixture *f, size_t i, int what)
{
	struct ray_piece *p = &f->code[i];

	p->name = "clause";
	/* As gen.c begins them. */
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_8, BPF_REG_1));
	ray_piece_emit(p, RAY_MOV_REG(BPF_REG_9, BPF_REG_2));
	ray_piece_load_map_value(p, BPF_REG_3, RAY_LINK_STATE, 0);
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_4, 1));
	ray_piece_emit(p, RAY_ATOMIC(BPF_W, BPF_ADD, BPF_REG_3, BPF_REG_4,
				     offsetof(struct ray_state, spec_state) + 4 * (i % 32)));
	for (int k = 0; k < SEEN_ARGS; k++) {
		ray_piece_emit(p, RAY_LOAD(BPF_DW, BPF_REG_4, BPF_REG_9, offsetof(struct ray_slot, args) + 8 * k));
		ray_piece_emit(p, RAY_STORE(BPF_DW, BPF_REG_3, BPF_REG_4, seen_at[k]));
	}
	ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_4, BPF_REG_9, offsetof(struct ray_slot, error)));
	ray_piece_emit(p, RAY_STORE(BPF_DW, BPF_REG_3, BPF_REG_4, offsetof(struct ray_state, spec_unavailable)));
	ray_piece_emit(p, RAY_LOAD(BPF_W, BPF_REG_4, BPF_REG_9, offsetof(struct ray_slot, probe)));
	ray_piece_emit(p, RAY_STORE(BPF_DW, BPF_REG_3, BPF_REG_4, offsetof(struct ray_state, wall_offset)));
	if (what == EXIT)
		ray_piece_emit(p, RAY_STORE_IMM(BPF_W, BPF_REG_3, offsetof(struct ray_state, activity), RAY_DRAINING));
	if (what == FAULT) {
		ray_piece_emit(p, RAY_STORE_IMM(BPF_DW, BPF_REG_9, offsetof(struct ray_slot, fault_value), 0x1234));
		ray_piece_emit(p, RAY_STORE_IMM(BPF_W, BPF_REG_9, offsetof(struct ray_slot, fault), RAY_FAULT_BADADDR));
	}
	ray_piece_emit(p, RAY_MOV_IMM(BPF_REG_0, 0));
	ray_piece_emit(p, RAY_EXIT_INSN);
}

static void add(struct fixture *f, const char *provider, const char *function, const char *name, int what)
{
	struct ray_probe_spec spec = { .provider = provider, .module = "", .function = function, .name = name };
	struct ray_clause *clause = &f->clauses[f->count];
	ray_probe_list list = { 0 };

	assert_null(ray_catalogue_match(f->t.catalogue, &spec, &list));
	clause->index = f->count;
	clause->args_used = (1 << SEEN_ARGS) - 1;
	memcpy(&clause->probes, &list, sizeof(list));
	assert_true(clause->probes.n > 0);
	assert_true(ray_vec_push(&f->program.clauses, clause));
	write_clause(f, f->count++, what);
}

static struct fixture *setup(void)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->t.arena = ray_arena_create();
	assert_non_null(f->t.arena);
	assert_null(ray_catalogue_create(&(struct ray_catalogue_options){ 0 }, &f->t.catalogue));
	f->t.program = &f->program;
	f->t.plan = &f->plan;
	f->t.clause_code = f->code;
	f->t.options.cpu = -1;
	f->t.options.bufsize = 65536;
	f->plan.program = &f->program;
	f->plan.arena = f->t.arena;
	f->plan.options = &f->t.options;
	f->plan.slot_size = sizeof(struct ray_slot) + 4096;
	f->plan.record_at = sizeof(struct ray_slot);
	f->plan.record_size = 256;
	for (size_t i = 0; i < RAY_TRACE_MAPS; i++)
		f->t.maps[i] = -1;
	return f;
}

static void teardown(struct fixture *f)
{
	ray_entries_detach(&f->t);
	ray_vec_free(&f->t.links);
	for (size_t i = 0; i < f->t.entries.n; i++) {
		if (f->t.entries.at[i]->fd >= 0)
			close(f->t.entries.at[i]->fd);
		ray_piece_deinit(&f->t.entries.at[i]->code);
		ray_vec_free(&f->t.entries.at[i]->sites);
		ray_vec_free(&f->t.entries.at[i]->probes);
	}
	ray_vec_free(&f->t.entries);
	ray_vec_free(&f->t.points);
	for (size_t i = 0; i < f->count; i++) {
		ray_piece_deinit(&f->code[i]);
		ray_vec_free(&f->clauses[i].probes);
	}
	ray_piece_deinit(&f->t.fault_code);
	for (size_t i = 0; i < RAY_TRACE_MAPS; i++)
		if (f->t.maps[i] >= 0)
			close(f->t.maps[i]);
	free(f->t.own_maps);
	if (f->t.state)
		munmap((void *)f->t.state, sizeof(struct ray_state));
	ray_load_close(&f->t);
	ray_vec_free(&f->program.clauses);
	ray_catalogue_free(f->t.catalogue);
	ray_arena_free(f->t.arena);
	free(f);
}

static void must(struct fixture *f, struct ray_error *err)
{
	bool denied = err && ray_error_code(err) == RAY_DENIED;

	if (err)
		print_message("%s\n", ray_error_text(err));
	ray_error_free(err);
	if (denied) {
		teardown(f);
		skip();
	}
	assert_null(err);
}

static void start(struct fixture *f)
{
	must(f, ray_entries_create(&f->t));
	must(f, ray_maps_create(&f->t));
	for (size_t i = 0; i < f->t.entries.n; i++)
		must(f, ray_entry_load(&f->t, f->t.entries.at[i]));
	must(f, ray_entries_attach(&f->t));
}

static void on_signal(int number)
{
	(void)number;
}

static uint32_t fired(const struct fixture *f, size_t clause)
{
	return f->t.state->spec_state[clause % 32];
}

static uint64_t seen(const struct fixture *f, int arg)
{
	return *(const volatile uint64_t *)((const volatile char *)f->t.state + seen_at[arg]);
}

static void begin_fires_before_and_end_after_all_else(void **state)
{
	struct fixture *f = setup();

	(void)state;
	add(f, "dtrace", "", "BEGIN", 0);
	add(f, "dtrace", "", "END", 0);
	start(f);
	must(f, ray_entry_run(&f->t, RAY_SITE_END));
	assert_int_equal(fired(f, 1), 0);
	must(f, ray_entry_run(&f->t, RAY_SITE_BEGIN));
	assert_int_equal(fired(f, 0), 1);
	assert_int_equal(f->t.state->wall_offset, 1);
	f->t.state->activity = RAY_DRAINING;
	must(f, ray_entry_run(&f->t, RAY_SITE_END));
	assert_int_equal(fired(f, 1), 1);
	assert_int_equal(f->t.state->wall_offset, 2);
	teardown(f);
}

static void clauses_after_exit_do_not_run(void **state)
{
	struct fixture *f = setup();

	(void)state;
	add(f, "dtrace", "", "BEGIN", 0);
	add(f, "dtrace", "", "BEGIN", EXIT);
	add(f, "dtrace", "", "BEGIN", 0);
	start(f);
	must(f, ray_entry_run(&f->t, RAY_SITE_BEGIN));
	assert_int_equal(fired(f, 0), 1);
	assert_int_equal(fired(f, 1), 1);
	assert_int_equal(fired(f, 2), 0);
	teardown(f);
}

static void a_fault_runs_error_and_the_next_clause(void **state)
{
	struct fixture *f = setup();

	(void)state;
	add(f, "dtrace", "", "ERROR", FAULT);
	add(f, "dtrace", "", "BEGIN", FAULT);
	start(f);
	must(f, ray_entry_run(&f->t, RAY_SITE_BEGIN));
	assert_int_equal(fired(f, 0), 1);
	assert_int_equal(fired(f, 1), 1);
	assert_int_equal(f->t.state->wall_offset, 3);
	assert_int_equal(seen(f, 0), 0);
	assert_int_equal(seen(f, 1), 1); /* BEGIN */
	assert_int_equal(seen(f, 2), 1); /* the second clause */
	teardown(f);
}

static void a_system_call_shows_its_arguments_and_errno(void **state)
{
	struct fixture *f = setup();

	(void)state;
	add(f, "syscall", "lookup_dcookie", "entry", 0);
	start(f);
	syscall(SYS_lookup_dcookie, -1, -2, -3);
	assert_int_equal(fired(f, 0), 0); /* not on yet */
	f->t.state->activity = RAY_ACTIVE;
	syscall(SYS_lookup_dcookie, -1, -2, -3);
	f->t.state->activity = RAY_DRAINING;
	syscall(SYS_lookup_dcookie, 4, 5, 6);
	assert_int_equal(fired(f, 0), 1);
	assert_int_equal((int)seen(f, 0), -1);
	assert_int_equal((int)seen(f, 1), -2);
	assert_int_equal((int)seen(f, 2), -3);
	teardown(f);
}

static void openat_is_open_unless_the_script_tells_them_apart(void **state)
{
	struct fixture *f = setup();

	(void)state;
	add(f, "syscall", "open", "entry", 0);
	add(f, "syscall", "open", "return", 0);
	start(f);
	f->t.state->activity = RAY_ACTIVE;
	syscall(SYS_openat, AT_FDCWD, "/does/not/exist", O_RDONLY | O_EXCL, 0);
	f->t.state->activity = RAY_DRAINING;
	assert_true(fired(f, 0) >= 1 && fired(f, 1) >= 1);
	teardown(f);
	f = setup();
	add(f, "syscall", "open", "entry", 0);
	add(f, "syscall", "openat", "entry", 0);
	assert_null(ray_probe_sites(f->t.catalogue, f->clauses[0].probes.at[0]));
	assert_int_equal(f->clauses[0].probes.at[0]->site_count, 1);
	teardown(f);
}

static void calls_are_told_apart_on_one_pair_of_tracepoints(void **state)
{
	struct fixture *f = setup();

	(void)state;
	add(f, "syscall", "lookup_dcookie", "return", 0);
	add(f, "syscall", "lookup_*", "entry", 0);
	add(f, "syscall", "getcpu", "return", 0);
	add(f, "syscall", "mq_unlink", "", 0);
	start(f);
	assert_int_equal(f->t.entries.n, 2);
	f->t.state->activity = RAY_ACTIVE;
	for (int i = 0; i < 3; i++)
		syscall(SYS_lookup_dcookie, -1, -2, -3);
	f->t.state->activity = RAY_DRAINING;
	assert_true(fired(f, 0) == 3);
	assert_true(fired(f, 1) == 3);
	assert_true((int)seen(f, 0) < 0);
	assert_int_equal((int)seen(f, 1), (int)seen(f, 0));
	assert_int_equal(f->t.state->spec_unavailable, -(int)seen(f, 0));
	assert_int_equal(f->t.state->slot_drops, 0);
	teardown(f);
}

static void ticks_and_profiles_share_a_program_each(void **state)
{
	struct fixture *f = setup();
	struct timespec nap = { 0, 20000000 };

	(void)state;
	add(f, "", "", "tick-10ms", 0);
	add(f, "", "", "tick-1day", 0);
	add(f, "", "", "tick-7msec", 0);
	add(f, "", "", "profile-997", 0);
	start(f);
	assert_int_equal(f->t.entries.n, 2);
	f->t.state->activity = RAY_ACTIVE;
	for (int i = 0; i < 500 && (!fired(f, 0) || !fired(f, 2) || !fired(f, 3)); i++)
		nanosleep(&nap, NULL);
	assert_true(fired(f, 0) && fired(f, 2) && fired(f, 3));
	assert_int_equal(fired(f, 1), 0);
	teardown(f);
}

static void more_clauses_than_bits_make_more_programs(void **state)
{
	struct fixture *f = setup();

	(void)state;
	for (int i = 0; i < 130; i++)
		add(f, "syscall", "lookup_dcookie", "entry", 0);
	start(f);
	assert_int_equal(f->t.entries.n, 2);
	assert_int_equal(f->t.entries.at[0]->clause_count, 128);
	f->t.state->activity = RAY_ACTIVE;
	syscall(SYS_lookup_dcookie, -1, -2, -3);
	f->t.state->activity = RAY_DRAINING;
	assert_int_equal(fired(f, 0), 5); /* clauses 0, 32, 64, 96, 128 */
	assert_int_equal(fired(f, 2), 4);
	teardown(f);
}

static void wait_for_child(pid_t pid)
{
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_process_creates_starts_execs_and_exits(void **state)
{
	static const char *const names[] = { "create", "start",	     "exec",	  "exec-failure", "exec-success",
					     "exit",   "lwp-create", "lwp-start", "lwp-exit" };
	char *const nothing[] = { NULL };
	struct fixture *f = setup();
	pid_t pid;

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(names); i++)
		add(f, "proc", "", names[i], 0);
	start(f);
	f->t.state->activity = RAY_ACTIVE;
	pid = fork();
	if (!pid) {
		execve("/does/not/exist", nothing, nothing);
		_exit(3);
	}
	wait_for_child(pid);
	f->t.state->activity = RAY_DRAINING;
	/* Others on this machine fork too. */
	assert_true(fired(f, 0) >= 1 && fired(f, 1) >= 1);
	assert_true(fired(f, 2) >= 1 && fired(f, 3) >= 1);
	assert_true(fired(f, 5) >= 1 && fired(f, 6) >= 1 && fired(f, 7) >= 1 && fired(f, 8) >= 1);
	assert_true(fired(f, 6) >= fired(f, 0) && fired(f, 8) >= fired(f, 5));
	teardown(f);
}

static void signals_are_sent_discarded_and_handled(void **state)
{
	struct fixture *f = setup();
	int previous;

	(void)state;
	add(f, "proc", "", "signal-send", 0);
	add(f, "proc", "", "signal-handle", 0);
	start(f);
	signal(SIGURG, on_signal);
	f->t.state->activity = RAY_ACTIVE;
	previous = fired(f, 0);
	kill(getpid(), SIGURG);
	f->t.state->activity = RAY_DRAINING;
	assert_true((int)fired(f, 0) > previous);
	assert_true(fired(f, 1) >= 1);
	signal(SIGURG, SIG_DFL);
	teardown(f);
	f = setup();
	add(f, "proc", "", "signal-discard", 0);
	start(f);
	signal(SIGURG, SIG_IGN);
	f->t.state->activity = RAY_ACTIVE;
	kill(getpid(), SIGURG);
	f->t.state->activity = RAY_DRAINING;
	assert_true(fired(f, 0) >= 1);
	signal(SIGURG, SIG_DFL);
	teardown(f);
}

static void threads_leave_and_get_a_cpu(void **state)
{
	static const char *const names[] = { "on-cpu", "off-cpu", "wakeup", "sleep", "preempt", "surrender" };
	struct timespec nap = { 0, 1000000 };
	struct fixture *f = setup();

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(names); i++)
		add(f, "sched", "", names[i], 0);
	start(f);
	f->t.state->activity = RAY_ACTIVE;
	for (int i = 0; i < 20; i++) {
		nanosleep(&nap, NULL);
		sched_yield();
	}
	f->t.state->activity = RAY_DRAINING;
	assert_true(fired(f, 0) >= 20 && fired(f, 1) >= 20 && fired(f, 2) >= 1 && fired(f, 3) >= 20);
	assert_true(fired(f, 5) >= 20);
	teardown(f);
}

/* Whether tracefs can be read here. */
static bool has_tracepoint(struct fixture *f, const char *group, const char *name)
{
	struct ray_probe_spec spec = { .provider = "", .module = "tracepoint", .function = group, .name = name };
	ray_probe_list list = { 0 };
	struct ray_error *err = ray_catalogue_match(f->t.catalogue, &spec, &list);
	bool found = !err && list.n == 1;

	ray_error_free(err);
	ray_vec_free(&list);
	return found;
}

static void a_tracepoint_gives_the_fields_of_its_record(void **state)
{
	struct fixture *f = setup();

	(void)state;
	if (!has_tracepoint(f, "task", "task_rename")) {
		teardown(f);
		skip();
	}
	add(f, "tracepoint", "", "task_rename", 0); /* pid, oldcomm[16], newcomm[16], oom_score_adj */
	start(f);
	assert_int_equal(f->t.entries.at[0]->kind, RAY_SITE_TRACEPOINT);
	f->t.state->activity = RAY_ACTIVE;
	prctl(PR_SET_NAME, "renamed");
	f->t.state->activity = RAY_DRAINING;
	assert_true(fired(f, 0) >= 1);
	assert_int_equal(seen(f, 0), gettid());
	assert_int_equal(seen(f, 2) - seen(f, 1), 16); /* addresses in the record */
	teardown(f);
}

static void tracepoints_of_system_calls_share_the_pair(void **state)
{
	struct fixture *f = setup();

	(void)state;
	if (!has_tracepoint(f, "syscalls", "sys_enter_dup3")) {
		teardown(f);
		skip();
	}
	add(f, "tracepoint", "", "sys_enter_dup3", 0);
	add(f, "tracepoint", "", "sys_enter_d*", 0);
	add(f, "tracepoint", "", "sys_exit_d*", 0);
	start(f);
	assert_int_equal(f->t.entries.n, 2);
	f->t.state->activity = RAY_ACTIVE;
	syscall(SYS_dup3, -11, -12, -13);
	f->t.state->activity = RAY_DRAINING;
	assert_true(fired(f, 0) >= 1 && fired(f, 1) >= 1 && fired(f, 2) >= 1);
	assert_int_equal(seen(f, 0), SYS_dup3);
	assert_int_equal((int)seen(f, 1), -EINVAL);
	teardown(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begin_fires_before_and_end_after_all_else),
		cmocka_unit_test(clauses_after_exit_do_not_run),
		cmocka_unit_test(a_fault_runs_error_and_the_next_clause),
		cmocka_unit_test(a_system_call_shows_its_arguments_and_errno),
		cmocka_unit_test(openat_is_open_unless_the_script_tells_them_apart),
		cmocka_unit_test(calls_are_told_apart_on_one_pair_of_tracepoints),
		cmocka_unit_test(ticks_and_profiles_share_a_program_each),
		cmocka_unit_test(more_clauses_than_bits_make_more_programs),
		cmocka_unit_test(a_process_creates_starts_execs_and_exits),
		cmocka_unit_test(signals_are_sent_discarded_and_handled),
		cmocka_unit_test(threads_leave_and_get_a_cpu),
		cmocka_unit_test(a_tracepoint_gives_the_fields_of_its_record),
		cmocka_unit_test(tracepoints_of_system_calls_share_the_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
