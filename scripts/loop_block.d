/* loop_block.d - callbacks that block an event loop, and what ran meanwhile. SPDX-License-Identifier: MIT
 *
 *   noderay trace -s loop_block.d -p PID             the same without a view
 *   noderay loop --block 50ms --show-script          this program, with the values that options stand for
 *
 * A callback that has run for a while is looked at again and again: at moments of the clock while it runs on a CPU, and when it gives the CPU away or
 * loses it. Samples belong to the callback of the same thread that began at the same time; the view keeps those of callbacks that were too long.
 * Times are in nanoseconds; since, end and time are nanoseconds since the epoch. */
#pragma D option quiet
#pragma D option follow=children

inline uint64_t limit = 50000000; /* --block */
inline uint64_t pace = 6250000;	  /* between two samples of a callback that runs */
inline int waits = 32;		  /* one that leaves the CPU is sampled each time at first, so often in an iteration, then at that pace */
inline int beats = 0;		  /* --core: the view is woken while something blocks */

node*:::callback-start
{
	self->since = walltimestamp;
	self->next = timestamp + pace;
	self->cpu = vtimestamp;
}

profile-997
/self->since && timestamp >= self->next/
{
	self->next = timestamp + pace;
	self->is_sampled = 1;
	printf("sample since=%d stack=%k\n", self->since, jstack());
}

/* It waits for something, or for the CPU itself: until it is back, that is where it was. */
sched:::off-cpu
/self->since && (self->waits < waits || timestamp >= self->next)/
{
	self->waits++;
	self->next = timestamp + pace;
	self->is_sampled = 1;
	printf("sample since=%d stack=%k\n", self->since, jstack());
}

node*:::callback-done
/self->since && (self->is_sampled || args[0]->duration >= limit)/
{
	printf("done since=%d ns=%d cpu=%d phase=%s callback=%s fd=%d request=%d\n", self->since, args[0]->duration,
	    vtimestamp - self->cpu, args[0]->phase, args[0]->kind, args[0]->fd, args[0]->requestId);
	self->is_sampled = 0;
}

/* The loop polls: none runs. */
node*:::loop-done
{
	self->since = 0;
	self->waits = 0;
}

proc:::lwp-exit
{
	printf("gone tid=%d\n", tid);
}

tick-100hz
/beats/
{
	printf("beat\n");
}
