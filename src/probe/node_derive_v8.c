/* node_derive_v8.c - functions of V8 in a file that does not name them. See node_derive.h. SPDX-License-Identifier: MIT
 *
 * Since 13 V8 exports its API only. Of that, one function asks for a collection with arguments known beforehand, another
 * asks for the heap's size and puts it into a structure that is public, and two throw. */
#include "base/auto.h"
#include "probe/node_derive_internal.h"

enum {
	SPACE_NEW = 1, /* enum AllocationSpace, since V8 11 */
	SPACE_OLD = 2,
	REASON_TESTING = 21,	/* enum GarbageCollectionReason */
	FLAG_FORCED = 4,	/* enum GCCallbackFlags: public */
	USED_HEAP_SIZE = 32,	/* v8::HeapStatistics: public */
	MOST_STATISTICS = 0x70, /* its size */
	SCOPE_LIMIT = 64,	/* GCTracer::Scope::ScopeId of the heap's own work is small */
	SCOPE_PROLOGUE_AFTER =
		2, /* from HEAP_EXTERNAL_EPILOGUE to HEAP_EXTERNAL_PROLOGUE: they are in the order of the alphabet */
	CANDIDATES = 16,
};

/* ---- Heap::CollectGarbage(space, reason, flags) ---- */

struct calls {
	struct ray_elf *elf;
	uint64_t space;
	bool is_testing; /* all arguments are known */
	uint64_t only;	 /* calls of this function; 0: of any */
	struct ray_vote callee;
};

static bool see_collect(const struct ray_flow_step *step, void *arg)
{
	struct calls *c = arg;

	if (!ray_follow_is_call(step) || !step->is_known[1] || step->args[1] != c->space ||
	    (c->only && step->target != c->only) || !ray_follow_begins(c->elf, step->target, NULL))
		return true;
	if (c->is_testing && (!step->is_known[2] || step->args[2] != REASON_TESTING || !step->is_known[3] ||
			      step->args[3] != FLAG_FORCED))
		return true;
	ray_vote_cast(&c->callee, step->target);
	return true;
}

/* A small collection is asked for by name, a full one through a function that asks for it in the old space. */
static uint64_t find_collect(struct ray_elf *e)
{
	static const char request[] = "_ZN2v87Isolate34RequestGarbageCollectionForTestingENS0_21GarbageCollectionTypeE";
	uint64_t caller = ray_follow_exported(e, request);
	struct calls minor = { .elf = e, .space = SPACE_NEW, .is_testing = true };
	struct calls full = { .elf = e, .space = SPACE_OLD };
	struct ray_follow_content c;

	if (!ray_follow_content(e, caller, 0, &c) || !ray_follow_walk(e, caller, see_collect, &minor) ||
	    !ray_vote_is_won(&minor.callee, 1))
		return 0;
	full.only = minor.callee.value;
	for (size_t i = 0; i < c.callee_count; i++)
		if (c.callees[i] != full.only)
			ray_follow_walk(e, c.callees[i], see_collect, &full);
	return ray_vote_is_won(&full.callee, 1) ? full.only : 0;
}

/* ---- Heap::CallGCPrologueCallbacks(type, flags, scope), and Epilogue ---- */

struct scopes {
	struct ray_elf *elf;
	struct {
		uint64_t callee, scope, at;
	} seen[CANDIDATES];
	size_t n;
};

static bool see_scope(const struct ray_flow_step *step, void *arg)
{
	struct scopes *s = arg;

	if (step->kind == RAY_FLOW_CALL && step->is_known[3] && step->args[3] < SCOPE_LIMIT && s->n < CANDIDATES &&
	    ray_follow_begins(s->elf, step->target, NULL)) {
		s->seen[s->n].callee = step->target;
		s->seen[s->n].scope = step->args[3];
		s->seen[s->n++].at = step->at;
	}
	return true;
}

/* How many functions both call. */
static size_t common_callees(struct ray_elf *e, uint64_t a, uint64_t b)
{
	struct ray_follow_content x, y;
	size_t n = 0;

	ray_follow_content(e, a, 0, &x);
	ray_follow_content(e, b, 0, &y);
	for (size_t i = 0; i < x.callee_count; i++)
		for (size_t k = 0; k < y.callee_count; k++)
			n += x.callees[i] == y.callees[k];
	return n;
}

/* A pair of callees with neighbouring scopes that do the same kind of things, the one with the higher number first. */
static void derive_callbacks(struct ray_derive *d, uint64_t collect)
{
	struct ray_vote prologue = { 0 }, epilogue = { 0 };
	struct scopes s = { .elf = d->elf };

	ray_follow_walk(d->elf, collect, see_scope, &s);
	for (size_t i = 0; i < s.n; i++)
		for (size_t k = 0; k < s.n; k++) {
			if (s.seen[i].scope != s.seen[k].scope + SCOPE_PROLOGUE_AFTER || s.seen[i].at > s.seen[k].at ||
			    s.seen[i].callee == s.seen[k].callee ||
			    common_callees(d->elf, s.seen[i].callee, s.seen[k].callee) < 2)
				continue;
			ray_vote_cast(&prologue, s.seen[i].callee);
			ray_vote_cast(&epilogue, s.seen[k].callee);
		}
	if (!ray_vote_is_won(&prologue, 1) || !ray_vote_is_won(&epilogue, 1))
		return;
	ray_derive_set(d, RAY_V8_GC_PROLOGUE, prologue.value);
	ray_derive_set(d, RAY_V8_GC_EPILOGUE, epilogue.value);
}

/* ---- Heap::SizeOfObjects() ---- */

struct statistics {
	struct ray_elf *elf;
	uint64_t last; /* called, and nothing of memory touched since */
	struct ray_vote size;
	size_t others; /* results that go elsewhere in the structure */
};

static bool see_statistic(const struct ray_flow_step *step, void *arg)
{
	struct statistics *s = arg;

	if (step->kind == RAY_FLOW_CALL) {
		s->last = ray_follow_begins(s->elf, step->target, NULL) ? step->target : 0;
	} else if (step->kind == RAY_FLOW_TOUCH && s->last) {
		if (step->displacement == USED_HEAP_SIZE)
			ray_vote_cast(&s->size, s->last);
		else
			s->others += step->displacement >= 0 && step->displacement < MOST_STATISTICS;
		s->last = 0;
	}
	return true;
}

static void derive_size(struct ray_derive *d)
{
	static const char caller[] = "_ZN2v87Isolate17GetHeapStatisticsEPNS_14HeapStatisticsE";
	struct statistics s = { .elf = d->elf };

	if (ray_follow_walk(d->elf, ray_follow_exported(d->elf, caller), see_statistic, &s) &&
	    ray_vote_is_won(&s.size, 1) && s.others >= 5)
		ray_derive_set(d, RAY_V8_SIZE_OF_OBJECTS, s.size.value);
}

/* ---- Isolate::Throw(exception, location) ---- */

static bool see_throw(const struct ray_flow_step *step, void *arg)
{
	struct calls *c = arg;

	if (ray_follow_is_call(step) && step->is_known[2] && !step->args[2] && (!c->only || step->target == c->only) &&
	    ray_follow_begins(c->elf, step->target, NULL))
		ray_vote_cast(&c->callee, step->target);
	return true;
}

/* Both throw without a location, and the first calls nothing else so. */
static void derive_throw(struct ray_derive *d)
{
	static const char first[] = "_ZN2v87Isolate14ThrowExceptionENS_5LocalINS_5ValueEEE";
	static const char second[] = "_ZN2v87Isolate10ThrowErrorENS_5LocalINS_6StringEEE";
	struct calls value = { .elf = d->elf }, error = { .elf = d->elf };

	if (!ray_follow_walk(d->elf, ray_follow_exported(d->elf, first), see_throw, &value) ||
	    !ray_vote_is_won(&value.callee, 1))
		return;
	error.only = value.callee.value;
	if (ray_follow_walk(d->elf, ray_follow_exported(d->elf, second), see_throw, &error) &&
	    ray_vote_is_won(&error.callee, 1))
		ray_derive_set(d, RAY_V8_THROW, error.only);
}

void ray_derive_v8(struct ray_derive *d)
{
	uint64_t collect = find_collect(d->elf);

	if (collect) {
		ray_derive_set(d, RAY_V8_COLLECT_GARBAGE, collect);
		derive_callbacks(d, collect);
	}
	derive_size(d);
	derive_throw(d);
}
