/* options.h - a command line against a verb's option table.
 * SPDX-License-Identifier: MIT
 *
 * Long and short forms, bundled flags (-av), --name=VALUE, --name VALUE, -pVALUE, operands anywhere,
 * and -- to end the options. Knows no verb in particular and prints nothing. What it returns keeps
 * pointers into argv, which must outlive it. */
#ifndef RAY_CMD_OPTIONS_H
#define RAY_CMD_OPTIONS_H

#include "cmd/cmd.h"

/* Every verb has it without listing it. */
extern const struct ray_option ray_option_help;

/* argv holds what follows the verb's name. With --help given, operands are not counted. */
RAY_MUST_USE struct ray_error *ray_call_parse(const struct ray_verb *verb, size_t argc, char *const *argv,
					      struct ray_call **ret);
void ray_call_free(struct ray_call *call);
RAY_DEFINE_AUTO(ray_call, ray_call_free)
int ray_call_exit_status(void); /* see ray_call_exit_with() */

#endif
