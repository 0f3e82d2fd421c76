// SPDX-License-Identifier: Apache-2.0
#include "caps.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"

#define PORT_MAPPINGS_MAX 1024
// A burst is handed on in bytes and 32 bits, as the stock bandwidth plugin has it.
#define BURST_BYTES_LIMIT UINT32_MAX

static int check_protocol(const struct jval *m, struct err *err)
{
	static const char *const known[] = {"tcp", "udp", "sctp"};
	const char *text = "";
	int r = jget_string(m, "protocol", JOPTIONAL | JNOCASE, &text, err);

	if (r < 0 || text[0] == 0)
		return r;
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (strcasecmp(text, known[i]) == 0)
			return 0;
	}
	return err_set(err, 0, "%s.protocol: `%.64s` is none of tcp, udp, sctp", m->path, text);
}

static int check_host_ip(const struct jval *m, struct err *err)
{
	const char *text = "";
	struct ipaddr a;
	int r = jget_string(m, "hostIP", JOPTIONAL | JNOCASE, &text, err);

	if (r < 0 || text[0] == 0)
		return r;
	if (ipaddr_parse(text, &a) < 0)
		return err_set(err, 0, "%s.hostIP: `%.64s` is no address", m->path, text);
	return 0;
}

static int check_mapping(const struct jval *m, struct err *err)
{
	static const struct jrange port = {1, 65535};
	int64_t value;
	int r;

	if (jval_type(m) != JTYPE_OBJECT)
		return err_set(err, 0, "%s: expected an object", m->path);
	r = jget_int(m, "hostPort", JREQUIRED | JNOCASE, port, &value, err);
	if (r == 0)
		r = jget_int(m, "containerPort", JREQUIRED | JNOCASE, port, &value, err);
	if (r == 0)
		r = check_protocol(m, err);
	if (r == 0)
		r = check_host_ip(m, err);
	return r;
}

static int read_port_mappings(const struct jval *rc, size_t *ret_count, struct err *err)
{
	struct jval arr = {0};
	int r = jget_array(rc, "portMappings", JOPTIONAL | JNOCASE, &arr, err);

	if (r == 0 && jarray_len(&arr) > PORT_MAPPINGS_MAX)
		return err_set(err, 0, "%s: more than %d entries", arr.path, PORT_MAPPINGS_MAX);
	for (size_t i = 0; r == 0 && i < jarray_len(&arr); i++) {
		struct jval m = jarray_at(&arr, i);

		r = check_mapping(&m, err);
	}
	if (r == 0)
		*ret_count = jarray_len(&arr);
	return r;
}

// Rates are bits a second, bursts are bits. One without the other would mean "no traffic" or
// nothing.
static int check_limit(const struct jval *bw, const char *rate_key, const char *burst_key,
		       bool *ret_limited, struct err *err)
{
	uint64_t rate = 0, burst = 0;
	int r = jget_u64(bw, rate_key, JOPTIONAL | JNOCASE, &rate, err);

	if (r == 0)
		r = jget_u64(bw, burst_key, JOPTIONAL | JNOCASE, &burst, err);
	if (r < 0)
		return r;
	if ((rate == 0) != (burst == 0))
		return err_set(err, 0, "%s: %s and %s must be given together", bw->path, rate_key,
			       burst_key);
	if (burst / 8 >= BURST_BYTES_LIMIT)
		return err_set(err, 0, "%s.%s: more than 4 GB", bw->path, burst_key);
	*ret_limited |= rate > 0;
	return 0;
}

int caps_read(const struct jval *rc, struct caps *ret_caps, struct err *err)
{
	struct caps caps = {0};
	struct jval bw = {0};
	int r = read_port_mappings(rc, &caps.port_mappings, err);

	if (r == 0)
		r = jget_object(rc, "bandwidth", JOPTIONAL | JNOCASE, &bw, err);
	if (r == 0 && !jval_is_null(&bw)) {
		r = check_limit(&bw, "ingressRate", "ingressBurst", &caps.bandwidth, err);
		if (r == 0)
			r = check_limit(&bw, "egressRate", "egressBurst", &caps.bandwidth, err);
	}
	if (r == 0)
		*ret_caps = caps;
	return r;
}
