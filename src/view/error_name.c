/* error_name.c - see error_name.h. SPDX-License-Identifier: MIT
 *
 * libuv's errors are those of the system, and some of its own from -3000 down (uv/errno.h); c-ares counts from 1 (ares.h). Both are public
 * and only ever grow. */
#include "view/error_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"

static const struct {
	int number;
	const char *name;
} uv_errors[] = {
	{ -4095, "EOF" },	   { -4094, "UNKNOWN" },      { -4080, "ECHARSET" },	 { -3000, "EAI_ADDRFAMILY" },
	{ -3001, "EAI_AGAIN" },	   { -3002, "EAI_BADFLAGS" }, { -3003, "EAI_CANCELED" }, { -3004, "EAI_FAIL" },
	{ -3005, "EAI_FAMILY" },   { -3006, "EAI_MEMORY" },   { -3007, "EAI_NODATA" },	 { -3008, "EAI_NONAME" },
	{ -3009, "EAI_OVERFLOW" }, { -3010, "EAI_SERVICE" },  { -3011, "EAI_SOCKTYPE" }, { -3013, "EAI_BADHINTS" },
	{ -3014, "EAI_PROTOCOL" },
};

/* By number, from 1. */
static const char *const ares_errors[] = {
	"",	      "ENODATA",   "EFORMERR",	"ESERVFAIL",	   "ENOTFOUND",	    "ENOTIMP",
	"EREFUSED",   "EBADQUERY", "EBADNAME",	"EBADFAMILY",	   "EBADRESP",	    "ECONNREFUSED",
	"ETIMEOUT",   "EOF",	   "EFILE",	"ENOMEM",	   "EDESTRUCTION",  "EBADSTR",
	"EBADFLAGS",  "ENONAME",   "EBADHINTS", "ENOTINITIALIZED", "ELOADIPHLPAPI", "EADDRGETNETWORKPARAMS",
	"ECANCELLED",
};

const char *ray_view_uv_error(int64_t result, char out[24])
{
	const char *name;

	if (result >= 0)
		return NULL;
	for (size_t i = 0; i < RAY_COUNT(uv_errors); i++)
		if (uv_errors[i].number == result)
			return uv_errors[i].name;
	name = result > -4096 ? strerrorname_np((int)-result) : NULL;
	if (name)
		return name;
	snprintf(out, 24, "%" PRId64, result);
	return out;
}

const char *ray_view_dns_error(int64_t result, char out[24])
{
	if (result < 0) {
		const char *name = ray_view_uv_error(result, out);

		/* node has one word for both. */
		return !strcmp(name, "EAI_NONAME") || !strcmp(name, "EAI_NODATA") ? "ENOTFOUND" : name;
	}
	if (!result)
		return NULL;
	if ((uint64_t)result < RAY_COUNT(ares_errors))
		return ares_errors[result];
	snprintf(out, 24, "%" PRId64, result);
	return out;
}
