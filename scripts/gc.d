/* gc.d - collections of garbage, as they end. SPDX-License-Identifier: MIT
 *
 *   noderay trace -s gc.d -p PID         the same without a view
 *   noderay gc --show-script [options]   this program, with the values that options stand for
 *
 * ns is how long the thread did nothing else. before and after are bytes in use; 0 where V8 did not ask itself. The stack is
 * that of the allocation that could not wait: a collection runs inside it. */
#pragma D option quiet
#pragma D option follow=children

inline int stacks = 0;	  /* --stack */
inline uint64_t slow = 0; /* --slow: only those that took longer */

node*:::gc-done
/!stacks && args[2]->duration >= slow/
{
	printf("gc type=%s reason=%s ns=%d before=%d after=%d flags=%d request=%d\n", args[2]->type, args[2]->reason,
	    args[2]->duration, args[2]->before, args[2]->after, arg1, args[2]->requestId);
}

node*:::gc-done
/stacks && args[2]->duration >= slow/
{
	printf("gc type=%s reason=%s ns=%d before=%d after=%d flags=%d request=%d stack=%k\n", args[2]->type,
	    args[2]->reason, args[2]->duration, args[2]->before, args[2]->after, arg1, args[2]->requestId, jstack());
}
