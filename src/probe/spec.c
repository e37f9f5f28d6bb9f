/* spec.c - a probe description as text. SPDX-License-Identifier: MIT */
#include "probe/spec.h"

void ray_probe_spec_print(const struct ray_probe_spec *spec, struct ray_text *out)
{
	if (spec->id)
		ray_text_printf(out, "%u", spec->id);
	else
		ray_text_printf(out, "%s:%s:%s:%s", spec->provider, spec->module, spec->function, spec->name);
}
