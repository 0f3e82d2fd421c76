// SPDX-License-Identifier: Apache-2.0
// What goes to stdout: the result of ADD in the shape of each spec version, and the error object.
//
//	return err_set_code(err, CNI_CODE_NETNS, ENOENT, "network namespace `%s`", path);
//	return cni_code(err, r, CNI_CODE_CONFIG);      a code for an error that lib/ made
//	text = cni_error_text(r, &err, "1.0.0");
//
// Texts are malloc'ed and become the caller's. Pure functions, one thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/ipaddr.h"
#include "cni_version.h"
#include "json/jget.h"

// Codes below 100 are those of the CNI specification.
enum cni_code {
	CNI_CODE_VERSION = 1,
	CNI_CODE_UNSUPPORTED_FIELD = 2,
	CNI_CODE_UNKNOWN_CONTAINER = 3,
	CNI_CODE_ENVIRONMENT = 4,
	CNI_CODE_IO = 5,
	CNI_CODE_DECODE = 6,
	CNI_CODE_CONFIG = 7,
	CNI_CODE_NETNS = 8,
	CNI_CODE_TRY_AGAIN = 11,
	CNI_CODE_UNAVAILABLE = 50,
	CNI_CODE_LIMITED = 51,
	CNI_CODE_POOL_EXHAUSTED = 100,
	CNI_CODE_INTERFACE_EXISTS = 101,
	CNI_CODE_LINK = 102,
	CNI_CODE_MISMATCH = 103,
	CNI_CODE_DELEGATE = 104,
};

#define CNI_IPS_MAX 16 // addresses of one attachment

// Addresses in order, without prefix length.
struct ip_list {
	struct ipaddr ip[CNI_IPS_MAX];
	size_t count;
};

// All borrowed; nothing of it is kept.
struct cni_result {
	enum cni_version version;
	const char *ifname;
	const char *sandbox; // CNI_NETNS as it was given
	struct macaddr mac;
	uint32_t mtu; // bytes
	struct ip_list ips;
	struct ip_list gateways; // one per address
	struct jval prev;        // prevResult, absent for the first of a chain
	struct jval dns;         // absent: none
};

// Gives the error *err (made with return value r) a code unless it has one. Returns r.
int cni_code(struct err *err, int r, enum cni_code code);
// The result of ADD on one line. NULL when memory is short.
char *cni_result_text(const struct cni_result *result);
// The error object on one line: `code` of err or what r stands for, `msg` the first line of err's
// text, `details` the lines after it. version may be NULL. Never NULL: a constant text stands in
// when memory is short, and the caller frees nothing then (*ret_owned NULL).
const char *cni_error_text(int r, const struct err *err, const char *version, char **ret_owned);
