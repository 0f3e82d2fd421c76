// SPDX-License-Identifier: Apache-2.0
// The network configuration that comes on stdin.
//
//	_cleanup_(cni_conf_fini) struct cni_conf conf = {0};
//	r = cni_conf_read(&conf, STDIN_FILENO, err);          codes 5, 6, 7; any version
//	r = cni_conf_load_add(&conf, err);                    what only ADD reads, code 7
//
// Keys are matched without regard to case, as Go's clients do. Strings and values are borrowed
// from the document that the struct owns. Unknown keys are ignored.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "cni_args.h"
#include "cni_version.h"
#include "json/jget.h"

#define CNI_CONF_TEXT_MAX (4u << 20) // bytes of stdin

struct cni_conf {
	struct buf text;          // stdin as it came: delegates get the same bytes
	struct jdoc *doc;
	struct jval root;
	const char *version_text; // as given; "0.1.0" where it is absent
	enum cni_version version; // may be CNI_VERSION_UNKNOWN
	const char *name;         // of the network
	const char *run_dir;      // of weftd
	const char *netns;        // name of the namespace with the host ends
	const char *ipam_type;    // "" = weftd's own addresses
	const char *log_file;     // "" = stderr
	const char *log_level;    // "" = not given
	struct jval prev_result;  // absent or any type
	// Set by cni_conf_load_add.
	uint32_t mtu;             // bytes, 0 = weftd decides
	unsigned add_timeout_s;   // how long ADD waits for the agent
	struct ip_list ips;       // asked for by args.cni.ips, else runtimeConfig.ips
	bool has_mac;
	struct macaddr mac;       // asked for by runtimeConfig.mac
	struct jval dns;          // absent: none
};

// Reads fd to its end and takes out what every verb needs. 0 or -errno with a code set.
int cni_conf_read(struct cni_conf *conf, int fd, struct err *err);
// The same from text that is in conf->text already.
int cni_conf_parse(struct cni_conf *conf, struct err *err);
// Code 1 unless version is one of ours and at least min; verb names the caller in the text.
int cni_conf_check_version(const struct cni_conf *conf, enum cni_version min, const char *verb,
			   struct err *err);
// Reads and checks what ADD alone needs, capabilities included. 0 or -errno with a code set.
int cni_conf_load_add(struct cni_conf *conf, struct err *err);
void cni_conf_fini(struct cni_conf *conf);
