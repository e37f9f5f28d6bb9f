/* mapping.c - see mapping.h. SPDX-License-Identifier: MIT */
#include "elf/mapping.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* Read by the handler, which can interrupt nothing but a read of one of these very mappings. */
static struct ray_mapping *mappings;
static struct sigaction previous;

static bool fill_with_zeros(uintptr_t address)
{
	uintptr_t page = address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);

	for (struct ray_mapping *m = mappings; m; m = m->next) {
		uintptr_t start = (uintptr_t)m->bytes;

		/* What lies behind the first lost page is lost too. */
		if (address >= start && address - start < m->size)
			return mmap((void *)page, start + m->size - page, PROT_READ,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
	}
	return false;
}

static void on_bus_error(int signal, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code > 0 && fill_with_zeros((uintptr_t)info->si_addr))
		return;
	/* Not ours: whoever was there before meets it when the instruction runs again. */
	sigaction(signal, &previous, NULL);
	if (info->si_code <= 0)
		raise(signal);
}

/* Each time, since whatever else runs in this process may have set its own meanwhile. */
static void install_handler(void)
{
	struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK }, now;

	if (sigaction(SIGBUS, NULL, &now) == 0 && now.sa_sigaction != on_bus_error &&
	    sigaction(SIGBUS, &action, NULL) == 0)
		previous = now;
}

bool ray_mapping_open(struct ray_mapping *m, int fd, size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (bytes == MAP_FAILED)
		return false;
	install_handler();
	m->bytes = bytes;
	m->size = size;
	m->next = mappings;
	mappings = m;
	return true;
}

void ray_mapping_close(struct ray_mapping *m)
{
	struct ray_mapping **link = &mappings;

	if (!m->bytes)
		return;
	while (*link && *link != m)
		link = &(*link)->next;
	if (*link)
		*link = m->next;
	munmap((void *)(uintptr_t)m->bytes, m->size);
	m->bytes = NULL;
}
