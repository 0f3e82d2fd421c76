// SPDX-License-Identifier: Apache-2.0
// weftd as the plugin sees it: one function per message of the control socket that we use.
//
//	_cleanup_(daemon_closep) struct client *c = NULL;
//	r = daemon_open(run_dir, deadline, true, &c, err);
//	r = daemon_attach(c, &att, &want, deadline, &grant, err);
//
// A reply of weftd that says no carries weftd's CNI code; a weftd that cannot be reached or gives
// no proper answer in time is an error with code 11 that daemon_is_away knows. Deadlines are
// monotonic ns.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "api/client.h"
#include "attachment.h"
#include "base/err.h"
#include "base/ipaddr.h"
#include "cni_result.h"
#include "json/jput.h"

// What an attachment should be like. Borrowed.
struct daemon_want {
	const char *netns;                              // for display
	const char *pod_namespace, *pod_name, *pod_uid; // NULL where there is none
	const struct ip_list *ips;                      // empty: weftd chooses
	bool delegated;                                 // ips come from an IPAM plugin
	const struct macaddr *mac;                      // NULL: weftd chooses
	uint32_t mtu;                                   // 0: weftd chooses
};

// What weftd reserved.
struct daemon_grant {
	struct ip_list ips, gateways; // one gateway per address
	struct macaddr mac, gateway_mac;
	uint32_t mtu, gso_max_size, gso_max_segs; // bytes; segments in one frame
	uint32_t host_ifindex;
	char host_ifname[16];
	int netns_fd; // private namespace, -1 = none
};

// True for the result of a call that weftd did not answer, or not properly.
bool daemon_is_away(int r);
// Connects and says hello. patient: a weftd that is starting is tried again until the deadline.
int daemon_open(const char *run_dir, unsigned long long deadline_ns, bool patient,
		struct client **ret_client, struct err *err);
void daemon_closep(struct client **c);
// Ends the object of a request that is being written, sends it and waits for the reply, which is
// the caller's. j is empty afterwards.
int daemon_call(struct client *c, struct jput *j, unsigned long long deadline_ns,
		struct jdoc **ret_reply, struct err *err);
int daemon_attach(struct client *c, const struct attachment *a, const struct daemon_want *want,
		  unsigned long long deadline_ns, struct daemon_grant *ret_grant, struct err *err);
// Closes the descriptor of a grant.
void daemon_grant_fini(struct daemon_grant *grant);
// wait_ms 0: a plain attachment that no policy waits for.
int daemon_activate(struct client *c, const struct attachment *a, unsigned wait_ms,
		    unsigned long long deadline_ns, struct err *err);
// *ret_found (may be NULL): weftd knew the attachment.
int daemon_detach(struct client *c, const struct attachment *a, unsigned long long deadline_ns,
		  bool *ret_found, struct err *err);
// mac NULL: not known.
int daemon_check(struct client *c, const struct attachment *a, const struct ip_list *ips,
		 const struct macaddr *mac, unsigned long long deadline_ns, struct err *err);
// 0 when an ADD would work; else code 50 or 51 and the reason.
int daemon_ready(struct client *c, unsigned long long deadline_ns, struct err *err);
