/* color.c - see color.h. SPDX-License-Identifier: MIT */
#include "profile/color.h"

#include <math.h>
#include <stdio.h>

/* Hue, and of 100: saturation, lightness. */
static const struct {
	double hue, saturation, light;
} kinds[RAY_KIND_COUNT] = {
	[RAY_KIND_JS] = { 40, 92, 70 },	  [RAY_KIND_PACKAGE] = { 265, 58, 80 },	 [RAY_KIND_NODE] = { 150, 42, 72 },
	[RAY_KIND_WASM] = { 68, 55, 68 }, [RAY_KIND_BUILTIN] = { 182, 42, 70 },	 [RAY_KIND_NATIVE] = { 211, 66, 77 },
	[RAY_KIND_GC] = { 4, 76, 75 },	  [RAY_KIND_COMPILER] = { 335, 60, 80 }, [RAY_KIND_KERNEL] = { 215, 14, 75 },
	[RAY_KIND_IDLE] = { 220, 6, 88 }, [RAY_KIND_UNKNOWN] = { 30, 8, 74 },
};

/* FNV-1a: a function has the same color in each run and each format; colors.js computes it likewise. */
static uint32_t hash(const char *text)
{
	uint32_t h = 2166136261u;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 16777619u;
	return h ^ h >> 13;
}

/* One of the three parts, as CSS defines hsl(). */
static int part(double n, double hue, double saturation, double light)
{
	double k = fmod(n + hue / 30, 12);

	return (int)lround(255 * (light - saturation * fmin(light, 1 - light) * fmax(-1, fmin(fmin(k - 3, 9 - k), 1))));
}

static const char *write_color(double hue, double saturation, double light, char out[8])
{
	snprintf(out, 8, "#%02x%02x%02x", (unsigned)part(0, hue, saturation, light) & 255,
		 (unsigned)part(8, hue, saturation, light) & 255, (unsigned)part(4, hue, saturation, light) & 255);
	return out;
}

const char *ray_color_of(const struct ray_profile_function *f, char out[8])
{
	enum ray_profile_kind kind = f->kind < RAY_KIND_COUNT ? f->kind : RAY_KIND_UNKNOWN;
	double hue = kinds[kind].hue + (*f->package ? (int)(hash(f->package) % 9) * 8 - 32 : 0);
	double saturation = kinds[kind].saturation / 100;
	/* Neighbours of one kind are told apart by a little light. */
	double light = (kinds[kind].light + ((int)(hash(f->name) % 5) - 2) * 1.6) / 100;

	return write_color(hue, saturation, light, out);
}

const char *ray_color_of_change(double change, double most, char out[8])
{
	/* The square root, so that small changes are seen too. */
	double strength = fmin(1, sqrt(fabs(change) / most));

	if (strength < 0.04)
		return write_color(220, 0.08, 0.91, out);
	return write_color(change > 0 ? 6 : 214, 0.2 + strength * 0.62, 0.91 - strength * 0.29, out);
}
