/* screen.c - see screen.h. SPDX-License-Identifier: MIT */
#include "view/screen.h"

#include <stdint.h>
#include <sys/ioctl.h>
#include <unistd.h>

void ray_screen_begin(FILE *out, bool is_first)
{
	if (isatty(fileno(out)))
		fputs("\033[H\033[J", out); /* cursor home, erase below */
	else if (!is_first)
		fputc('\n', out);
}

size_t ray_screen_lines(FILE *out, size_t taken)
{
	struct winsize size = { 0 };

	if (!isatty(fileno(out)))
		return SIZE_MAX;
	if (ioctl(fileno(out), TIOCGWINSZ, &size) || size.ws_row < 10)
		size.ws_row = 24;
	return size.ws_row > taken + 1 ? size.ws_row - taken - 1 : 1;
}
