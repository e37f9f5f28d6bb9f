/* record_event.d - stacks at any probe. SPDX-License-Identifier: MIT
 *
 *   noderay trace -s record_event.d -p PID                  the same without a view
 *   noderay record --event PROBE --show-script              this program, with the probe that was asked for
 *
 * Each firing is a sample. user is the whole way from the thread's root, kernel what the kernel does for it. */
#pragma D option quiet
#pragma D option maxframes=1024
#pragma D option follow=children
#pragma D option bufsize=16m

syscall::mmap:entry
{
	printf("sample weight=1 kernel=%k user=%k\n", stack(64), ustack(1024));
}
