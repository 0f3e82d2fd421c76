// SPDX-License-Identifier: Apache-2.0
// Attachments: which pod interface has which addresses, host end and port, until its release.
//
// One attachment per (network, container id, interface). States:
//
//	reserved  addresses, names and an index are set aside for a connection; dies with it
//	waiting   the port is open but inactive until the agent knows the pod; dies likewise
//	active    forwards
//	gone      the host end vanished; the address is kept until detach, gc, ATTACH_GONE_NS
//
// Everything is in the journal before a caller hears of it; after a restart attach_restore compares
// the journal with the links that exist and opens their ports again. Ports, flows and pods belong
// to others: attach reaches them through struct attach_ops. Control thread. Times are
// CLOCK_MONOTONIC.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/err.h"
#include "base/ipaddr.h"
#include "core/port.h"
#include "netlink/link.h"

#define ATTACH_ID_MIN 2                         // port id 1 is the host port's
#define ATTACH_IFINDEX_BASE 16                  // a port's host end has index base + port id
#define ATTACH_GONE_NS (60 * 1000000000ull)     // a gone attachment is released after this
#define ATTACH_RESERVED_NS (60 * 1000000000ull) // and a reservation that nobody activates
#define ATTACH_WAIT_MS_DEFAULT 15000
#define ATTACH_WAIT_MS_MAX 60000
#define ATTACH_ALIAS_MAX 38  // "weft:" + 32 hex digits + NUL
#define ATTACH_GSO_MAX 65536 // bytes
#define ATTACH_HOST_PREFIX "weft:"

// CNI error codes of this feature's errors.
enum attach_code {
	ATTACH_CODE_UNKNOWN = 3,
	ATTACH_CODE_IO = 5,
	ATTACH_CODE_CONFIG = 7,
	ATTACH_CODE_RETRY = 11,
	ATTACH_CODE_NO_ADDRESS = 100,
	ATTACH_CODE_EXISTS = 101,
	ATTACH_CODE_LINK = 102,
	ATTACH_CODE_MISMATCH = 103,
};

enum attach_state { ATTACH_RESERVED, ATTACH_WAITING, ATTACH_ACTIVE, ATTACH_GONE };
enum attach_event { ATTACH_ADDED, ATTACH_CHANGED, ATTACH_REMOVED };
enum attach_outcome { ATTACH_NOT_FOUND = 1, ATTACH_WAITS = 2 };

struct attachment;
struct attach;

// Told once how an activation that had to wait ended; err is NULL on success, and at is valid only
// then.
typedef void attach_done_fn(const struct attachment *at, const struct err *err, void *arg);

struct attach_key {
	const char *network, *container_id, *ifname; // borrowed
};

// Read-only for everybody else.
struct attachment {
	char *network, *container_id, *ifname;    // owned
	char *netns;                              // CNI_NETNS, "" = unknown
	char *pod_namespace, *pod_name, *pod_uid; // "" = no Kubernetes pod
	char *holder;                             // what error texts call it
	struct ipaddr addrs[PORT_ADDRS_MAX];      // IPv4 first
	uint8_t addr_count;
	bool delegated; // addresses came from an IPAM plugin
	struct macaddr mac;
	uint32_t mtu; // bytes
	uint16_t port_id;
	uint32_t ifindex; // of the host end, in the private namespace
	char host_name[LINK_NAME_MAX];
	char alias[ATTACH_ALIAS_MAX];
	enum attach_state state;
	bool has_port;        // the port is open
	bool unlisted;        // gc wants it gone as soon as its link is
	uint64_t owner;       // connection of a reservation
	uint64_t deadline_ns; // when this state ends by itself; not for active
	attach_done_fn *done; // of waiting
	void *done_arg;
	TAILQ_ENTRY(attachment) pending; // all that are not active
};

// None of these may call attach_ functions.
struct attach_ops {
	// Opens port->id on the host end port->ifindex: sockets, receive, endpoint flows. Takes the
	// port on success. Seen by packets after commit. 0 or -errno.
	int (*port_open)(void *arg, struct port *port, const char *cookie, struct err *err);
	// Takes flows, receive and the port away, at once; the id is free when id_is_free says so.
	void (*port_close)(void *arg, uint16_t id);
	bool (*id_is_free)(void *arg, uint16_t id);
	// The pod's interface has another MAC from here on. 0 or -errno.
	int (*port_mac)(void *arg, uint16_t id, const struct macaddr *mac, struct err *err);
	void (*commit)(void *arg);
	bool (*pod_is_known)(void *arg, const char *ns, const char *name);
	// An attachment came, changed its state or goes.
	void (*changed)(void *arg, enum attach_event event, const struct attachment *at);
};

struct attach_conf {
	const char *state_dir, *run_dir; // borrowed for the life of attach
	struct rtnl *rtnl;               // socket of the private namespace, borrowed
	int netns_fd;                    // the private namespace, borrowed; -1: no extra threads
	bool standalone;                 // activate does not wait for the agent
	uint32_t mtu;                    // pods' MTU, bytes
	struct macaddr gateway_mac;      // no pod may have it
	const struct attach_ops *ops;
	void *ops_arg;
};

// Reads the journal; opens nothing yet. 0 or -errno.
int attach_open(const struct attach_conf *conf, struct attach **ret_attach, struct err *err);
// Compares the journal with the links that exist: opens ports, forgets the dead, removes host ends
// that are nobody's. Once, after attach_open and the spool. 0 or -errno (links cannot be listed).
int attach_restore(struct attach *a, struct err *err);
// Frees memory; ports, links and the journal stay as they are.
void attach_close(struct attach *a);

// Ranges for new attachments; those that exist keep what they have. 0 or -EINVAL (too many).
int attach_set_ranges(struct attach *a, const struct ipprefix *ranges, size_t count,
		      struct err *err);
// MTU of new attachments that ask for none, bytes.
void attach_set_mtu(struct attach *a, uint32_t mtu);
// The address store, to look at.
struct ipam *attach_ipam(struct attach *a);
// As given in struct attach_conf.
struct macaddr attach_gateway_mac(const struct attach *a);

struct attach_request {
	struct attach_key key;
	const char *netns, *pod_namespace, *pod_name, *pod_uid; // "" = none
	struct ipaddr addrs[PORT_ADDRS_MAX];
	size_t addr_count; // asked for; families that are missing are filled from the ranges
	bool delegated;    // take addrs as they are and nothing else
	bool has_mac;
	struct macaddr mac;
	uint32_t mtu; // bytes, 0 = the node's
	uint64_t owner;
};
// Reserves. 0 or -errno with a CNI code.
int attach_reserve(struct attach *a, const struct attach_request *request,
		   const struct attachment **ret_at, struct err *err);

struct attach_activation {
	struct attach_key key;
	uint64_t owner;
	uint32_t wait_ms;
	attach_done_fn *done; // called later, and only, when ATTACH_WAITS was returned
	void *done_arg;
};
// Opens the port. 0 (*ret_at is active), ATTACH_WAITS, or -errno; after an error nothing is left.
int attach_activate(struct attach *a, const struct attach_activation *activation,
		    const struct attachment **ret_at, struct err *err);

// Releases. 0 or ATTACH_NOT_FOUND; a journal that cannot be written is remembered, not an error.
int attach_detach(struct attach *a, const struct attach_key *key);
struct attach_check {
	struct attach_key key;
	struct ipaddr addrs[PORT_ADDRS_MAX];
	size_t addr_count; // 0 = do not compare
	bool has_mac;
	struct macaddr mac; // taken over when it differs
};
// 0, or -errno with code 103 (3: unknown).
int attach_check(struct attach *a, const struct attach_check *check, struct err *err);

struct attach_gc {
	const char *network;
	bool has_list; // false: nothing is known of what is valid
	bool (*is_valid)(const struct attachment *at, void *arg); // the caller listed it
	void (*released)(const struct attachment *at, void *arg); // before it goes
	void *arg;
};
// Releases what is unlisted and has no host end any more.
void attach_gc(struct attach *a, const struct attach_gc *gc);

// The connection is gone: its reservations die.
void attach_owner_gone(struct attach *a, uint64_t owner);
// Pods became known: ends waits.
void attach_pods_changed(struct attach *a);
// A host end vanished.
void attach_link_gone(struct attach *a, uint32_t ifindex);
// Events were lost: compares with all links again.
void attach_resync(struct attach *a);
// Ends what is due; attach_deadline says when to call again (UINT64_MAX = never).
void attach_tick(struct attach *a, uint64_t now_ns);
uint64_t attach_deadline(const struct attach *a);

// By port id; NULL = none.
const struct attachment *attach_by_port(const struct attach *a, uint16_t id);
const char *attach_state_name(enum attach_state state);
// "pod/NS/NAME" or "attachment/CONTAINER/IFNAME"; returns out.
const char *attach_cookie(const struct attachment *at, char *out, size_t size);
// Why the journal cannot be written, or ""; live host ends whose addresses nobody knows; lines of
// the journal that were damaged at start.
struct attach_health {
	const char *journal_problem;
	unsigned unknown_links, corrupt_lines;
	bool damaged;
};
void attach_health(const struct attach *a, struct attach_health *ret);
