/* sdt.c - static probes with arguments of every kind, and functions to probe. SPDX-License-Identifier: MIT
 *
 *   sdt [ROUNDS]      prints a line when it is ready, then fires every 10 ms; 0: until it is killed */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__extension__ unsigned short app_request__start_semaphore __attribute__((section(".probes")));
__extension__ unsigned short app_values_semaphore __attribute__((section(".probes")));

static int counter = 40;
int numbers[4] = { 10, 20, 30, 40 };

__attribute__((noinline)) int add_numbers(int a, int b)
{
	__asm__ volatile("");
	return a + b;
}

__attribute__((noinline)) void fire(int round)
{
	char small = (char)-5;
	unsigned char tiny = 250;
	short medium = -1234;
	long long large = -1234567890123LL;
	volatile int on_stack = 77;

	if (app_request__start_semaphore)
		DTRACE_PROBE2(app, request__start, round, "/index.html");
	DTRACE_PROBE8(app, values, small, tiny, medium, large, on_stack, numbers[round & 3], counter, 99);
	counter = add_numbers(counter, 1);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 0;
	int i;

	printf("{\"pid\":%d}\n", getpid());
	fflush(stdout);
	for (i = 0; !rounds || i < rounds; i++) {
		fire(i);
		usleep(10000);
	}
	return 0;
}
