/* quantile.c - see quantile.h. SPDX-License-Identifier: MIT */
#include "view/quantile.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/duration.h"

enum { BAR = 40 };

/* ---- where bins are ---- */

static int power_bin(size_t bin, uint64_t *low, uint64_t *high)
{
	if (bin < RAY_POWER_ZERO)
		return 0;
	*low = bin == RAY_POWER_ZERO ? 0 : 1ULL << (bin - RAY_POWER_ZERO - 1);
	*high = bin == RAY_POWER_ZERO ? 1 : *low * 2;
	return 1;
}

static int linear_bin(const struct ray_histogram *h, size_t bin, uint64_t *low, uint64_t *high)
{
	int64_t start = h->low + ((int64_t)bin - 1) * h->step;

	if (bin == 0) { /* all below: from 0, if there is anything */
		*low = 0;
		*high = h->low > 0 ? (uint64_t)h->low : 0;
		return h->low > 0;
	}
	if (start < 0)
		return 0;
	*low = (uint64_t)start;
	*high = bin == h->count - 1 ? INT64_MAX : *low + (uint64_t)h->step;
	return 1;
}

static uint64_t power(uint64_t base, int64_t exponent)
{
	uint64_t n = 1;

	while (exponent-- > 0)
		n *= base;
	return n;
}

/* Ranges from factor^p to factor^(p+1) have steps - steps/factor bins each, of factor^(p+1) / steps. */
static int log_linear_bin(const struct ray_histogram *h, size_t bin, uint64_t *low, uint64_t *high)
{
	int64_t per_range = h->steps - h->steps / h->factor;
	int64_t zero = 1 + (h->high_power - h->low_power + 1) * per_range, i = (int64_t)bin - zero;
	uint64_t top, width;

	if (i < 0)
		return 0;
	*low = 0;
	*high = power((uint64_t)h->factor, h->low_power);
	if (i == 0)
		return 1;
	if (bin == h->count - 1) {
		*low = power((uint64_t)h->factor, h->high_power + 1);
		*high = INT64_MAX;
		return 1;
	}
	i--;
	top = power((uint64_t)h->factor, h->low_power + i / per_range + 1);
	/* More steps than whole numbers: some bins stay empty. */
	width = top / (uint64_t)h->steps;
	if (!width) {
		uint64_t step = (uint64_t)(h->steps / h->factor);

		*low = 1 + (uint64_t)(i % per_range) / (step ? step : 1);
		*high = *low + 1;
		return 1;
	}
	*low = ((uint64_t)(h->steps / h->factor) + (uint64_t)(i % per_range)) * width;
	*high = *low + width;
	return 1;
}

int ray_histogram_bin(const struct ray_histogram *h, size_t bin, uint64_t *low_ret, uint64_t *high_ret)
{
	if (bin >= h->count || h->count != ray_histogram_bins(h))
		return 0;
	switch (h->kind) {
	case RAY_HISTOGRAM_POWERS:
		return power_bin(bin, low_ret, high_ret);
	case RAY_HISTOGRAM_LINEAR:
		return linear_bin(h, bin, low_ret, high_ret);
	default:
		return log_linear_bin(h, bin, low_ret, high_ret);
	}
}

/* ---- what they say ---- */

static uint64_t in_bin(const struct ray_histogram *h, size_t bin)
{
	uint64_t low, high;

	return h->bins[bin] > 0 && ray_histogram_bin(h, bin, &low, &high) ? (uint64_t)h->bins[bin] : 0;
}

uint64_t ray_histogram_count(const struct ray_histogram *h)
{
	uint64_t total = 0;

	for (size_t i = 0; i < h->count; i++)
		total += in_bin(h, i);
	return total;
}

uint64_t ray_histogram_percentile(const struct ray_histogram *h, double percent, uint64_t max)
{
	double rank = (double)ray_histogram_count(h) * percent / 100;
	uint64_t seen = 0, low = 0, high = 0;

	for (size_t i = 0; i < h->count; i++) {
		uint64_t n = in_bin(h, i);

		if (!n)
			continue;
		ray_histogram_bin(h, i, &low, &high);
		if (high == INT64_MAX) /* open at its end */
			high = max > low ? max : low;
		if (max && high > max && low <= max)
			high = max;
		if ((double)(seen + n) >= rank)
			return low + (uint64_t)((rank > (double)seen ? rank - (double)seen : 0) / (double)n *
						(double)(high - low));
		seen += n;
	}
	return high;
}

/* ---- bars ---- */

static void print_edge(uint64_t value, enum ray_quantity what, struct ray_text *out)
{
	char text[24];

	if (what == RAY_QUANTITY_NUMBER)
		ray_text_printf(out, "%9" PRIu64, value);
	else if (what == RAY_QUANTITY_BYTES)
		ray_text_printf(out, "%9s", ray_format_size(value, text));
	else
		ray_text_printf(out, "%9s", ray_duration_format(value, text));
}

static void print_row(const struct ray_histogram *h, size_t bin, uint64_t total, uint64_t most, enum ray_quantity what,
		      struct ray_text *out)
{
	uint64_t low, high, n = in_bin(h, bin);
	int length = (int)((double)n * BAR / (double)most + 0.5);

	if (!ray_histogram_bin(h, bin, &low, &high))
		return;
	print_edge(low, what, out);
	ray_text_add(out, high == INT64_MAX ? " and " : " to ");
	if (high == INT64_MAX)
		ray_text_printf(out, "%-8s", "more");
	else
		print_edge(high, what, out);
	ray_text_add(out, " |");
	for (int i = 0; i < BAR; i++)
		ray_text_add(out, i < length ? "@" : " ");
	ray_text_printf(out, "| %7" PRIu64 " %5.1f%%\n", n, (double)n * 100 / (double)total);
}

void ray_histogram_bars(const struct ray_histogram *h, enum ray_quantity what, struct ray_text *out)
{
	size_t first = h->count, last = 0;
	uint64_t total = 0, most = 0;

	for (size_t i = 0; i < h->count; i++) {
		uint64_t n = in_bin(h, i);

		if (!n)
			continue;
		first = i < first ? i : first;
		last = i;
		total += n;
		most = n > most ? n : most;
	}
	for (size_t i = first; total && i <= last; i++)
		print_row(h, i, total, most, what, out);
}
