/* words.h - what args and env print alike. SPDX-License-Identifier: MIT */
#ifndef RAY_CMD_WORDS_H
#define RAY_CMD_WORDS_H

#include <jansson.h>

#include "target/target.h"
#include "view/words.h"

/* "4711:   node app.js", as pargs heads its list. */
void ray_words_heading(struct ray_target *t, const char *args, size_t size);
/* All of them on one line, quoted. */
void ray_words_line(const char *list, size_t size);
json_t *ray_words_json(const struct ray_word *word);

#endif
