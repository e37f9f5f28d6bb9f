/* sorter.c - calls back from the C library, which keeps no frame pointers. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) int compare(const void *a, const void *b)
{
	for (int i = 0; i < 200; i++)
		sink += i;
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) void sort_some(int *numbers, int count)
{
	qsort(numbers, (size_t)count, sizeof(*numbers), compare);
	sink++;
}

__attribute__((noinline)) void write_some(int depth)
{
	if (depth)
		write_some(depth - 1);
	else if (write(1, "line\n", 5) != 5)
		exit(1);
	sink++;
}

/* rounds: 0 for ever */
int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 0, numbers[64];

	for (int i = 0; !rounds || i < rounds; i++) {
		for (int k = 0; k < 64; k++)
			numbers[k] = rand();
		sort_some(numbers, 64);
		if (i == 0)
			write_some(3);
	}
	return 0;
}
