/* script.c - see script.h. SPDX-License-Identifier: MIT */
#include "target/script.h"

#include <string.h>

#include "base/text.h"

/* Options whose value may be the next word. Underscores count as dashes, as in node. */
static const char *const valued[] = {
	"--allow-fs-read",
	"--allow-fs-write",
	"--bench-isolation",
	"--bench-name-pattern",
	"--bench-reporter",
	"--bench-reporter-destination",
	"--bench-samples",
	"--bench-warmup",
	"--build-sea",
	"--build-snapshot-config",
	"--conditions",
	"--cpu-prof-dir",
	"--cpu-prof-interval",
	"--cpu-prof-name",
	"--debug-port",
	"--diagnostic-dir",
	"--disable-proto",
	"--disable-warning",
	"--dns-result-order",
	"--env-file",
	"--env-file-if-exists",
	"--es-module-specifier-resolution",
	"--experimental-config-file",
	"--experimental-default-type",
	"--experimental-loader",
	"--experimental-package-map",
	"--experimental-policy",
	"--experimental-sea-config",
	"--experimental-specifier-resolution",
	"--experimental-test-isolation",
	"--experimental-test-tag-filter",
	"--heap-prof-dir",
	"--heap-prof-interval",
	"--heap-prof-name",
	"--heapsnapshot-near-heap-limit",
	"--heapsnapshot-signal",
	"--icu-data-dir",
	"--import",
	"--input-type",
	"--inspect-port",
	"--inspect-publish-uid",
	"--loader",
	"--localstorage-file",
	"--max-http-header-size",
	"--max-old-space-size-percentage",
	"--network-family-autoselection-attempt-timeout",
	"--openssl-config",
	"--policy-integrity",
	"--redirect-warnings",
	"--report-dir",
	"--report-directory",
	"--report-filename",
	"--report-signal",
	"--require",
	"--secure-heap",
	"--secure-heap-min",
	"--security-revert",
	"--security-reverts",
	"--snapshot-blob",
	"--stack-trace-limit",
	"--test-concurrency",
	"--test-coverage-branches",
	"--test-coverage-exclude",
	"--test-coverage-functions",
	"--test-coverage-include",
	"--test-coverage-lines",
	"--test-global-setup",
	"--test-isolation",
	"--test-name-pattern",
	"--test-random-seed",
	"--test-reporter",
	"--test-reporter-destination",
	"--test-rerun-failures",
	"--test-shard",
	"--test-skip-pattern",
	"--test-timeout",
	"--title",
	"--tls-cipher-list",
	"--tls-keylog",
	"--trace-event-categories",
	"--trace-event-file-pattern",
	"--trace-require-module",
	"--unhandled-rejections",
	"--use-largepages",
	"--v8-pool-size",
	"--vfs-load",
	"--vfs-mount",
	"--watch-kill-signal",
	"--watch-path",
	"-C",
	"-r",
};

/* Modes in which node itself does something with the words that follow, and runs no script. */
static const char *const tools[] = { "--prof-process", "--build-sea", "--experimental-sea-config" };

static const char *const kind_names[] = {
	[RAY_SCRIPT_NONE] = "none",	  [RAY_SCRIPT_FILE] = "file",	    [RAY_SCRIPT_EVAL] = "eval",
	[RAY_SCRIPT_REPL] = "repl",	  [RAY_SCRIPT_STDIN] = "stdin",	    [RAY_SCRIPT_TEST] = "test",
	[RAY_SCRIPT_RUN] = "run",	  [RAY_SCRIPT_INSPECT] = "inspect", [RAY_SCRIPT_TOOL] = "tool",
	[RAY_SCRIPT_BUNDLED] = "bundled", [RAY_SCRIPT_TITLE] = "title",
};

const char *ray_script_kind_name(enum ray_script_kind kind)
{
	return kind_names[kind];
}

struct parse {
	struct ray_arena *arena;
	const char **words; /* NULL-ended */
	size_t next;	    /* the first word that was not looked at yet */
	const char **options;
	size_t option_count;
	const char *eval_option, *code, *task, *tool;
	bool test, interactive, ended; /* ended: by "--" */
};

/* node takes --inspect_brk for --inspect-brk, and --name=value for --name value. Returns what follows the
 * name: "" or "=value"; NULL when it is another option. */
static const char *after_option(const char *word, const char *name)
{
	for (; *name; word++, name++)
		if (*word != *name && !(*word == '_' && *name == '-'))
			return NULL;
	return *word == '\0' || *word == '=' ? word : NULL;
}

static bool is_option(const char *word, const char *name)
{
	const char *rest = after_option(word, name);

	return rest && !*rest;
}

static bool in_list(const char *word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_option(word, list[i]))
			return true;
	return false;
}

/* Splits at each NUL; a last word without one counts too. */
static bool split(struct parse *p, const char *args, size_t size)
{
	const char *at = args, *end = args + size, *stop;
	size_t n = 0;

	for (size_t i = 0; i < size; i++)
		n += args[i] == '\0';
	p->words = ray_arena_alloc(p->arena, (n + 2) * sizeof(*p->words));
	p->options = ray_arena_alloc(p->arena, (n + 2) * sizeof(*p->options));
	if (!p->words || !p->options)
		return false;
	for (n = 0; at < end; at = stop + 1, n++) {
		stop = memchr(at, '\0', (size_t)(end - at));
		if (!stop)
			stop = end;
		p->words[n] = ray_arena_copy(p->arena, at, (size_t)(stop - at));
		if (!p->words[n])
			return false;
	}
	return true;
}

/* libuv writes the title over the words and fills the rest with NULs. */
static bool is_title(const char *args, size_t size)
{
	size_t length = strnlen(args, size);

	if (!length || size < length + 3)
		return false;
	for (size_t i = length; i < size; i++)
		if (args[i])
			return false;
	return true;
}

/* The option, and the words from next on. */
static const char *joined(struct parse *p, const char *first)
{
	ray_auto_text text = { 0 };

	ray_text_add(&text, first);
	for (size_t i = p->next; p->words[i]; i++)
		ray_text_printf(&text, "%s%s", text.length ? " " : "", p->words[i]);
	return ray_arena_strdup(p->arena, ray_text_get(&text));
}

static const char *take(struct parse *p)
{
	return p->words[p->next] ? p->words[p->next++] : "";
}

static void keep(struct parse *p)
{
	p->options[p->option_count++] = take(p);
}

/* Options that say what to run. False when the word is none of them. */
static bool take_mode(struct parse *p)
{
	const char *word = p->words[p->next], *rest;

	if (is_option(word, "-e") || is_option(word, "-pe") || is_option(word, "--eval")) {
		p->next++;
		p->eval_option = word;
		p->code = take(p);
	} else if ((rest = after_option(word, "--eval"))) {
		p->next++;
		p->eval_option = "-e";
		p->code = rest + 1;
	} else if (is_option(word, "-p") || is_option(word, "--print")) {
		/* The code follows, unless another option does. */
		p->next++;
		p->eval_option = word;
		if (p->words[p->next] && p->words[p->next][0] != '-')
			p->code = take(p);
	} else if ((rest = after_option(word, "--run"))) {
		p->next++;
		p->task = *rest ? rest + 1 : take(p);
	} else if (is_option(word, "--test")) {
		p->test = true;
		p->next++;
	} else if (is_option(word, "-i") || is_option(word, "--interactive")) {
		p->interactive = true;
		p->next++;
	} else if (in_list(word, tools, RAY_COUNT(tools))) {
		p->tool = word;
		p->next++;
	} else {
		return false;
	}
	return true;
}

static void take_options(struct parse *p)
{
	const char *word;

	while ((word = p->words[p->next]) && word[0] == '-' && word[1] && !p->tool) {
		if (!strcmp(word, "--")) {
			p->next++;
			p->ended = true;
			return;
		}
		if (take_mode(p))
			continue;
		keep(p);
		if (p->words[p->next] && in_list(word, valued, RAY_COUNT(valued)))
			keep(p);
	}
}

static void decide(struct parse *p, bool terminal, struct ray_script *ret)
{
	const char *word = p->words[p->next];

	if (p->code) {
		ret->kind = RAY_SCRIPT_EVAL;
		ret->text = ray_arena_printf(p->arena, "%s '%s'", p->eval_option, p->code);
	} else if (p->tool) {
		ret->kind = RAY_SCRIPT_TOOL;
		ret->text = joined(p, p->tool);
	} else if (p->task) {
		ret->kind = RAY_SCRIPT_RUN;
		ret->text = ray_arena_printf(p->arena, "--run %s", p->task);
	} else if (p->test) {
		ret->kind = RAY_SCRIPT_TEST;
		ret->text = joined(p, "--test");
	} else if (word && !p->ended && !strcmp(word, "inspect")) {
		ret->kind = RAY_SCRIPT_INSPECT;
		ret->text = joined(p, "");
	} else if (word && strcmp(word, "-") != 0) {
		ret->kind = RAY_SCRIPT_FILE;
		ret->text = word;
	} else if (!word && (p->interactive || (terminal && !p->eval_option))) {
		ret->kind = RAY_SCRIPT_REPL;
		ret->text = "<repl>";
	} else {
		ret->kind = RAY_SCRIPT_STDIN;
		ret->text = "-";
	}
}

bool ray_script_parse(const char *args, size_t size, bool terminal, struct ray_arena *arena, struct ray_script *ret)
{
	struct parse p = { .arena = arena };

	*ret = (struct ray_script){ RAY_SCRIPT_NONE, "", NULL };
	if (!split(&p, args, size))
		return false;
	ret->options = p.options;
	if (!p.words[0])
		return true;
	if (is_title(args, size)) {
		ret->kind = RAY_SCRIPT_TITLE;
		ret->text = p.words[0];
		return true;
	}
	p.next = 1;
	take_options(&p);
	decide(&p, terminal, ret);
	return ret->text != NULL;
}
