/* work_name.c - see work_name.h. SPDX-License-Identifier: MIT
 *
 * node's own works are classes: node::crypto::DeriveBitsJob<node::crypto::PBKDF2Traits>, (anonymous)::CompressionStream<ZlibContext>. The innermost
 * argument says what is done, as the class around it is the same for many. */
#include "view/work_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

void ray_work_name_deinit(struct ray_work_name *name)
{
	ray_text_deinit(&name->kind);
	ray_text_deinit(&name->what);
}

/* "PBKDF2" is pbkdf2, "RandomBytes" is randomBytes, "RSACipher" is rsaCipher. */
static void add_camel(struct ray_text *out, const char *word, size_t length)
{
	bool is_start = true;

	for (size_t i = 0; i < length; i++) {
		char byte = word[i];

		/* The last capital of a run begins the next word. */
		if (i && i + 1 < length && islower((unsigned char)word[i + 1]))
			is_start = false;
		if (islower((unsigned char)byte))
			is_start = false;
		byte = (char)(is_start ? tolower((unsigned char)byte) : byte);
		ray_text_add_bytes(out, &byte, 1);
	}
}

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t n = strlen(end);

	return length > n && !memcmp(text + length - n, end, n);
}

/* The last of the words of a name that ends so, without its end: "PBKDF2" of "...<node::crypto::PBKDF2Traits>::...". 0: there is none. */
static size_t find_word(const char *text, const char *end, const char **ret)
{
	size_t found = 0;

	while (*text) {
		size_t length = 0;

		while (isalnum((unsigned char)text[length]) || text[length] == '_')
			length++;
		if (ends_with(text, length, end)) {
			*ret = text;
			found = length - strlen(end);
		}
		text += length ? length : 1;
	}
	return found;
}

/* The class that has the function: "BackupJob" of "node::sqlite::BackupJob::DoThreadPoolWork()". */
static size_t find_class(const char *function, const char **ret)
{
	const char *end = strstr(function, "::DoThreadPoolWork"), *start = end;

	while (start && start > function && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
		start--;
	*ret = start;
	return start ? (size_t)(end - start) : 0;
}

static bool is_plain(const char *kind)
{
	return !strcmp(kind, "work");
}

static bool is_addon(const char *kind)
{
	return is_plain(kind) || !strcmp(kind, "node_api");
}

void ray_work_name(const char *kind, const char *operation, const char *function, struct ray_work_name *ret)
{
	const char *symbol = strchr(function, '`'), *word;
	bool is_job = strstr(function, "::DoThreadPoolWork") != NULL;
	size_t length;

	*ret = (struct ray_work_name){ 0 };
	symbol = symbol ? symbol + 1 : function;
	if (is_job && is_plain(kind))
		kind = strstr(symbol, "::crypto::") ? "crypto" : strstr(symbol, "CompressionStream<") ? "zlib" : kind;
	ray_text_add_bytes(&ret->kind, kind, strcspn(kind, ".")); /* node has "fs.readfile", too */
	if (*operation) {
		ray_text_add(&ret->what, operation);
	} else if (is_job && (length = find_word(symbol, "Traits", &word))) {
		add_camel(&ret->what, word, length);
	} else if (is_job && (length = find_word(symbol, "Context", &word))) {
		add_camel(&ret->what, word, length);
	} else if (is_job && (length = find_class(symbol, &word))) {
		add_camel(&ret->what, word, length - (ends_with(word, length, "Job") ? strlen("Job") : 0));
	} else if (is_addon(kind) && strncmp(symbol, "0x", 2) != 0) {
		ray_text_add(&ret->what, function); /* an addon's: with the file that it is in */
	}
}
