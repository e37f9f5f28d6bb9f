/* histogram.c - see histogram.h. SPDX-License-Identifier: MIT */
#include "view/histogram.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAR = 40, LABEL = 32, BINS_MAX = 1 << 20 };

static int64_t power_of_bin(size_t bin)
{
	if (bin == RAY_POWER_ZERO)
		return 0;
	return bin < RAY_POWER_ZERO ? -(1LL << (RAY_POWER_ZERO - 1 - bin)) : 1LL << (bin - RAY_POWER_ZERO - 1);
}

static uint64_t power(uint64_t base, int64_t exponent)
{
	uint64_t n = 1;

	while (exponent-- > 0)
		n *= base;
	return n;
}

/* Bins of one range of LOG_LINEAR. */
static int64_t per_range(const struct ray_histogram *h)
{
	return h->steps - h->steps / h->factor;
}

size_t ray_histogram_bins(const struct ray_histogram *h)
{
	int64_t n = 0;

	switch (h->kind) {
	case RAY_HISTOGRAM_POWERS:
		return RAY_POWER_BINS;
	case RAY_HISTOGRAM_LINEAR:
		if (h->step > 0 && h->high > h->low)
			n = (h->high - h->low) / h->step + 2;
		break;
	case RAY_HISTOGRAM_LOG_LINEAR:
		if (h->factor > 1 && h->steps > 0 && h->steps < BINS_MAX && h->low_power >= 0 && h->high_power <= 64 &&
		    h->high_power >= h->low_power)
			n = (h->high_power - h->low_power + 1) * per_range(h) * 2 + 3;
		break;
	}
	return n > 0 && n <= BINS_MAX ? (size_t)n : 0;
}

/* ---- bars ---- */

struct scale {
	long double total;
	bool has_positive, has_negative;
};

static struct scale measure(const struct ray_histogram *h, size_t first, size_t last)
{
	struct scale s = { 0 };

	for (size_t i = first; i <= last; i++) {
		s.has_positive |= h->bins[i] > 0;
		s.has_negative |= h->bins[i] < 0;
		s.total += h->bins[i] < 0 ? -(long double)h->bins[i] : (long double)h->bins[i];
	}
	return s;
}

static void repeat(struct ray_text *out, const char *what, int n)
{
	while (n-- > 0)
		ray_text_add(out, what);
}

/* With counts of both signs the bars grow from the middle, each half as long. */
static void print_bar(const struct ray_histogram *h, int64_t n, const struct scale *s, struct ray_text *out)
{
	bool is_split = s->has_positive && s->has_negative;
	int room = is_split ? BAR / 2 : BAR;
	long double size = n < 0 ? -(long double)n : (long double)n;
	int depth = s->total > 0 ? (int)(size * room / s->total + 0.5L) : 0;
	bool is_left = is_split ? n <= 0 : s->has_negative;

	if (is_left) {
		repeat(out, " ", room - depth);
		repeat(out, "@", depth);
		ray_text_add(out, "|");
		repeat(out, " ", is_split ? room : 0);
	} else {
		repeat(out, " ", is_split ? room : 0);
		ray_text_add(out, "|");
		repeat(out, "@", depth);
		repeat(out, " ", room - depth);
	}
	/* INT64_MIN / -1 is no number. */
	if (h->normal == UINT64_MAX)
		n = (int64_t) - (uint64_t)n;
	else
		n /= (int64_t)h->normal;
	ray_text_printf(out, " %-9lld\n", (long long)n);
}

static void print_head(struct ray_text *out)
{
	ray_text_printf(out, "\n%16s %41s %-9s\n", "value", "------------- Distribution -------------", "count");
}

/* The bins with something in them, and one around; false: there is none. */
static bool find_range(const struct ray_histogram *h, size_t *first, size_t *last)
{
	size_t a = 0, b = h->count - 1;

	while (a < h->count && h->bins[a] == 0)
		a++;
	if (a == h->count)
		return false;
	while (h->bins[b] == 0)
		b--;
	*first = a;
	*last = b;
	return true;
}

/* ---- labels ---- */

static void label_linear(const struct ray_histogram *h, size_t bin, char label[LABEL])
{
	int64_t levels = (int64_t)h->count - 2;

	if (bin == 0)
		snprintf(label, LABEL, "< %lld", (long long)h->low);
	else if ((int64_t)bin == levels + 1)
		snprintf(label, LABEL, ">= %lld", (long long)(h->low + levels * h->step));
	else
		snprintf(label, LABEL, "%lld", (long long)(h->low + ((int64_t)bin - 1) * h->step));
}

static void print_plain(const struct ray_histogram *h, struct ray_text *out)
{
	bool is_linear = h->kind == RAY_HISTOGRAM_LINEAR;
	size_t first, last;
	struct scale scale;
	char label[LABEL];

	if (find_range(h, &first, &last)) {
		first -= first > 0;
		last += last < h->count - 1;
	} else { /* all came and went: what is around zero */
		first = is_linear ? 0 : RAY_POWER_ZERO - 1;
		last = is_linear ? 2 : RAY_POWER_ZERO + 1;
	}
	scale = measure(h, first, last);
	print_head(out);
	for (size_t i = first; i <= last; i++) {
		if (is_linear)
			label_linear(h, i, label);
		else
			snprintf(label, LABEL, "%lld", (long long)power_of_bin(i));
		ray_text_printf(out, "%16s ", label);
		print_bar(h, h->bins[i], &scale, out);
	}
}

/* ---- log-linear ---- */

struct labels {
	char (*at)[LABEL]; /* one per bin; "": values cannot fall there */
	size_t count;
};

static void label(struct labels *l, int64_t bin, const char *sign, uint64_t value)
{
	if (bin >= 0 && bin < (int64_t)l->count)
		snprintf(l->at[bin], LABEL, "%s%llu", sign, (unsigned long long)value);
}

/* Both sides of zero at once. When a range has more steps than whole numbers, most of the first range's bins stay
 * without a label: nothing can fall into them. */
static void label_log_linear(const struct ray_histogram *h, size_t first, struct labels *l)
{
	int64_t zero = 1 + (h->high_power - h->low_power + 1) * per_range(h), i = 1, magnitude = h->low_power;
	uint64_t scale = power((uint64_t)h->factor, h->low_power);

	if (scale == 1)
		label(l, zero, "", 0);
	else
		label(l, zero, (int64_t)first >= zero ? "< " : "abs() < ", scale);
	label(l, zero - 1, "-", scale);
	label(l, zero + 1, "", scale);
	if (h->low_power == 0 && h->steps > h->factor) {
		for (int64_t step = 2; step <= h->factor; step++) {
			i += h->steps / h->factor;
			label(l, zero - i, "-", (uint64_t)step);
			label(l, zero + i, "", (uint64_t)step);
		}
		magnitude++;
	}
	scale = power((uint64_t)h->factor, magnitude + 1) / (uint64_t)h->steps;
	for (; magnitude <= h->high_power; magnitude++, scale *= (uint64_t)h->factor)
		for (int64_t step = h->steps / h->factor + 1; step <= h->steps; step++) {
			i++;
			label(l, zero - i, "-", (uint64_t)step * scale);
			label(l, zero + i, "", (uint64_t)step * scale);
		}
	scale = power((uint64_t)h->factor, h->high_power + 1);
	label(l, 0, "<= -", scale);
	label(l, (int64_t)h->count - 1, ">= ", scale);
}

/* The empty row at either end takes the label of the nearest bin outside that has one. */
static void label_ends(const struct ray_histogram *h, size_t first, size_t last, struct labels *l)
{
	size_t reach = h->low_power == 0 && h->steps > h->factor ? (size_t)(h->steps / h->factor) : 0;

	for (size_t i = 1; i < reach && !*l->at[first] && i <= first; i++)
		memcpy(l->at[first], l->at[first - i], LABEL);
	for (size_t i = 1; i < reach && !*l->at[last] && last + i < l->count; i++)
		memcpy(l->at[last], l->at[last + i], LABEL);
}

static void print_log_linear(const struct ray_histogram *h, struct ray_text *out)
{
	struct labels labels = { calloc(h->count, LABEL), h->count };
	size_t first, last;
	struct scale scale;

	if (!labels.at) {
		out->failed = 1;
		return;
	}
	if (!find_range(h, &first, &last))
		first = last = (size_t)(2 + (h->high_power - h->low_power + 1) * per_range(h));
	scale = measure(h, first, last);
	first -= first > 0;
	last += last < h->count - 1;
	label_log_linear(h, first, &labels);
	label_ends(h, first, last, &labels);
	print_head(out);
	for (size_t i = first; i <= last; i++) {
		if (!*labels.at[i])
			continue;
		ray_text_printf(out, "%16s ", labels.at[i]);
		print_bar(h, h->bins[i], &scale, out);
	}
	free(labels.at);
}

void ray_histogram_print(const struct ray_histogram *h, struct ray_text *out)
{
	if (h->count == 0 || h->count != ray_histogram_bins(h))
		return;
	if (h->kind == RAY_HISTOGRAM_LOG_LINEAR)
		print_log_linear(h, out);
	else
		print_plain(h, out);
}

/* ---- sorting ---- */

static long double sum_log_linear(const struct ray_histogram *h)
{
	int64_t zero = 1 + (h->high_power - h->low_power + 1) * per_range(h), i = 1, magnitude = h->low_power;
	const int64_t *bins = h->bins;
	long double total, scale;

	total = (long double)power((uint64_t)h->factor, h->low_power) * (bins[zero + 1] - bins[zero - 1]);
	if (h->low_power == 0 && h->steps > h->factor) {
		for (int64_t step = 2; step <= h->factor; step++) {
			i += h->steps / h->factor;
			total += (long double)step * (bins[zero + i] - bins[zero - i]);
		}
		magnitude = 1;
	}
	scale = (long double)power((uint64_t)h->factor, magnitude + 1) / h->steps;
	for (; magnitude <= h->high_power; magnitude++, scale *= h->factor)
		for (int64_t step = h->steps / h->factor + 1; step <= h->steps; step++) {
			i++;
			if (zero + i < (int64_t)h->count && i <= zero)
				total += (long double)step * scale * (bins[zero + i] - bins[zero - i]);
		}
	return total;
}

long double ray_histogram_sum(const struct ray_histogram *h)
{
	long double total = 0;
	int64_t base = h->low;

	if (h->count == 0 || h->count != ray_histogram_bins(h))
		return 0;
	switch (h->kind) {
	case RAY_HISTOGRAM_POWERS:
		for (size_t i = 0; i < h->count; i++)
			total += (long double)power_of_bin(i) * h->bins[i];
		break;
	case RAY_HISTOGRAM_LINEAR:
		total = (long double)h->bins[0] * (base - 1);
		for (size_t i = 1; i < h->count - 1; i++, base += h->step)
			total += (long double)h->bins[i] * base;
		total += (long double)h->bins[h->count - 1] * (base + 1);
		break;
	case RAY_HISTOGRAM_LOG_LINEAR:
		total = sum_log_linear(h);
		break;
	}
	return total;
}

int64_t ray_histogram_at_zero(const struct ray_histogram *h)
{
	int64_t base = h->low;

	if (h->count == 0 || h->count != ray_histogram_bins(h))
		return 0;
	switch (h->kind) {
	case RAY_HISTOGRAM_POWERS:
		return h->bins[RAY_POWER_ZERO];
	case RAY_HISTOGRAM_LOG_LINEAR:
		return h->bins[1 + (h->high_power - h->low_power + 1) * per_range(h)];
	case RAY_HISTOGRAM_LINEAR:
		break;
	}
	if (base == 1)
		return h->bins[0];
	for (size_t i = 1; i < h->count - 1; i++, base += h->step)
		if (base == 0)
			return h->bins[i];
	return base == -1 ? h->bins[h->count - 1] : 0;
}
