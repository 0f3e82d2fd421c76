// SPDX-License-Identifier: Apache-2.0
#include "main/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/port.h"
#include "main/config.h"

#define VNI_MAX 0xffffff
#define MTU_MIN 1280 // IPv6 needs it on every link
#define MTU_MAX 65535
#define SHORT_NONE 1000 // long options have values from here on

struct option_desc;
typedef int option_fn(const struct option_desc *d, struct options *o, const char *value,
		      struct err *err);

struct option_desc {
	const char *name, *arg, *help; // arg NULL: a flag
	option_fn *set;
	size_t offset;            // of the member
	size_t size;              // of a text
	uint32_t min, max;        // of a number
	const char *const *words; // of an enum, ended by NULL
	bool is_list;
};

static void *member(const struct option_desc *d, struct options *o)
{
	return (char *)o + d->offset;
}

static int bad(const struct option_desc *d, const char *value, const char *why, struct err *err)
{
	return err_set(err, 0, "--%s: `%.128s` %s", d->name, value, why);
}

static int set_text(const struct option_desc *d, struct options *o, const char *value,
		    struct err *err)
{
	char *to = member(d, o);

	if (value[0] == '\0' || strlen(value) >= d->size)
		return err_set(err, 0, "--%s: must be 1..%zu bytes long", d->name, d->size - 1);
	for (const char *p = value; *p; p++)
		if ((unsigned char)*p < 0x20)
			return err_set(err, 0, "--%s: control character", d->name);
	snprintf(to, d->size, "%s", value);
	return 0;
}

static int set_folder(const struct option_desc *d, struct options *o, const char *value,
		      struct err *err)
{
	return value[0] == '/' ? set_text(d, o, value, err)
			       : bad(d, value, "is no absolute path", err);
}

// Names of links and namespaces become parts of paths.
static int set_name(const struct option_desc *d, struct options *o, const char *value,
		    struct err *err)
{
	return value[0] == '.' || value[strcspn(value, "/: \t")] != '\0'
		       ? bad(d, value, "is no plain name", err)
		       : set_text(d, o, value, err);
}

static int set_number(const struct option_desc *d, struct options *o, const char *value,
		      struct err *err)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(value, &end, 10);
	if (errno || value[0] < '0' || value[0] > '9' || *end || n < d->min || n > d->max)
		return err_set(err, 0, "--%s: `%.64s` is not within %u..%u", d->name, value, d->min,
			       d->max);
	if (d->size == sizeof(uint16_t))
		*(uint16_t *)member(d, o) = (uint16_t)n;
	else
		*(uint32_t *)member(d, o) = (uint32_t)n;
	return 0;
}

// Enums of the table are ints, which C leaves open and the assertion below does not.
static int set_word(const struct option_desc *d, struct options *o, const char *value,
		    struct err *err)
{
	for (unsigned i = 0; d->words[i]; i++) {
		if (strcmp(d->words[i], value) == 0) {
			*(unsigned *)member(d, o) = i;
			return 0;
		}
	}
	return bad(d, value, "is not one of its values", err);
}
_Static_assert(sizeof(enum options_routing) == sizeof(unsigned) &&
		       sizeof(enum rx_mode) == sizeof(unsigned),
	       "set_word stores an unsigned");

static int set_flag(const struct option_desc *d, struct options *o, const char *value,
		    struct err *err)
{
	bool on = !value || value[0] == '\0' || strcmp(value, "true") == 0;

	if (!on && strcmp(value, "false") != 0)
		return bad(d, value, "is neither true nor false", err);
	*(bool *)member(d, o) = on;
	return 0;
}

static int set_format(const struct option_desc *d, struct options *o, const char *value,
		      struct err *err)
{
	if (strcmp(value, "text") != 0 && strcmp(value, "json") != 0)
		return bad(d, value, "is neither text nor json", err);
	o->log_json = value[0] == 'j';
	return 0;
}

static int set_level(const struct option_desc *d, struct options *o, const char *value,
		     struct err *err)
{
	return log_level_parse(value, &o->log_level) < 0 ? bad(d, value, "is no log level", err)
							 : 0;
}

static int set_uplink(const struct option_desc *d, struct options *o, const char *value,
		      struct err *err)
{
	static const struct {
		const char *prefix;
		enum options_uplink kind;
	} kinds[] = {{"share:", OPTIONS_UPLINK_SHARE}, {"ethdev:", OPTIONS_UPLINK_ETHDEV}};

	o->uplink_arg[0] = '\0';
	if (strcmp(value, "auto") == 0 || strcmp(value, "none") == 0) {
		o->uplink = value[0] == 'a' ? OPTIONS_UPLINK_AUTO : OPTIONS_UPLINK_NONE;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		size_t len = strlen(kinds[i].prefix);

		if (strncmp(value, kinds[i].prefix, len) != 0 || value[len] == '\0' ||
		    strlen(value + len) >= sizeof(o->uplink_arg))
			continue;
		o->uplink = kinds[i].kind;
		snprintf(o->uplink_arg, sizeof(o->uplink_arg), "%s", value + len);
		return 0;
	}
	return bad(d, value, "is not auto, none, share:INTERFACE or ethdev:ARGUMENTS", err);
}

static int push(const struct option_desc *d, struct options *o, const struct ipprefix *p,
		struct err *err)
{
	struct options_prefixes *list = member(d, o);

	if (list->count == OPTIONS_LIST_MAX)
		return err_set(err, 0, "--%s: more than %d", d->name, OPTIONS_LIST_MAX);
	list->list[list->count++] = *p;
	return 0;
}

static int add_address(const struct option_desc *d, struct options *o, const char *value,
		       struct err *err)
{
	struct ipprefix p;

	if (ipaddr_parse(value, &p.addr) < 0 || !ipaddr_is_unicast(&p.addr))
		return bad(d, value, "is no address of a node", err);
	p.len = ipaddr_is_v4(&p.addr) ? 32 : 128;
	return push(d, o, &p, err);
}

static int add_prefix(const struct option_desc *d, struct options *o, const char *value,
		      struct err *err)
{
	struct ipprefix p;
	struct ipaddr base;

	if (!strchr(value, '/') || ipprefix_parse(value, &p) < 0)
		return bad(d, value, "is no range ADDRESS/LENGTH", err);
	base = ipprefix_mask(&p);
	if (!ipaddr_is_equal(&base, &p.addr))
		return bad(d, value, "has bits set behind its prefix length", err);
	return push(d, o, &p, err);
}

static const char *const routing_words[] = {[OPTIONS_ROUTING_VXLAN] = "vxlan",
					    [OPTIONS_ROUTING_NATIVE] = "native",
					    [OPTIONS_ROUTING_AUTO] = "auto",
					    NULL};
static const char *const rx_words[] = {
	[RX_MODE_AUTO] = "auto", [RX_MODE_LANES] = "lanes", [RX_MODE_MMSG] = "mmsg", NULL};

#define AT(m) .offset = offsetof(struct options, m), .size = sizeof(((struct options *)0)->m)

static const struct option_desc table[] = {
	{"config", "FILE", "YAML file with these options; the command line wins", set_text,
	 AT(config)},
	{"run-dir", "DIR", "socket, lock and spool (/run/weft)", set_folder, AT(run_dir)},
	{"state-dir", "DIR", "journal of attachments (/var/lib/weft)", set_folder, AT(state_dir)},
	{"netns", "NAME", "private namespace for host ends (weft)", set_name, AT(netns)},
	{"host-if", "NAME", "host side of the host port (weft0)", set_name, AT(host_if)},
	{"workers", "N", "packet threads (1 for up to 4 CPUs)", set_number, AT(workers), .min = 1,
	 .max = PORT_WORKERS_MAX},
	{"uplink", "KIND", "auto, none, share:IF or ethdev:ARGS (auto)", set_uplink, AT(uplink)},
	{"node-ip", "ADDR", "address of this node; may be repeated", add_address, AT(node_ips),
	 .is_list = true},
	{"pod-cidr", "CIDR", "pod range of this node; may be repeated", add_prefix, AT(pod_cidrs),
	 .is_list = true},
	{"service-cidr", "CIDR", "Service range; may be repeated", add_prefix, AT(service_cidrs),
	 .is_list = true},
	{"no-masquerade-to", "CIDR", "destinations that see pods' own addresses; may be repeated",
	 add_prefix, AT(no_masquerade_to), .is_list = true},
	{"routing", "MODE", "vxlan, native or auto (vxlan)", set_word, AT(routing),
	 .words = routing_words},
	{"vni", "N", "VXLAN network identifier (1)", set_number, AT(vni), .max = VNI_MAX},
	{"vxlan-port", "PORT", "UDP port of the tunnel (4789)", set_number, AT(vxlan_port),
	 .min = 1, .max = UINT16_MAX},
	{"mtu", "N", "pods' MTU; default: the node interface's less the tunnel's", set_number,
	 AT(mtu), .min = MTU_MIN, .max = MTU_MAX},
	{"standalone", NULL, "no agent is expected: pods start without it", set_flag,
	 AT(standalone)},
	{"rx", "MODE", "auto, lanes or mmsg (auto)", set_word, AT(rx), .words = rx_words},
	{"hugepages", NULL, "take packet memory from hugepages", set_flag, AT(hugepages)},
	{"metrics", "WHERE", "ADDR:PORT or unix:PATH", set_text, AT(metrics)},
	{"log-level", "LEVEL", "err, warn, info or debug (info)", set_level, AT(log_level)},
	{"log-format", "FORMAT", "text or json (text)", set_format, AT(log_json)},
	{"foreground", NULL, "stay in the foreground, which weftd always does", set_flag,
	 AT(foreground)},
};

static const struct option_desc *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

bool options_is_flag(const char *name)
{
	const struct option_desc *d = find(name);

	return d && !d->arg;
}

bool options_is_list(const char *name)
{
	const struct option_desc *d = find(name);

	return d && d->is_list;
}

void options_clear(struct options *o, const char *name)
{
	const struct option_desc *d = find(name);

	if (d && d->is_list)
		((struct options_prefixes *)member(d, o))->count = 0;
}

void options_init(struct options *o)
{
	*o = (struct options){
		.run_dir = "/run/weft",
		.state_dir = "/var/lib/weft",
		.netns = "weft",
		.host_if = "weft0",
		.vni = 1,
		.vxlan_port = 4789,
		.log_level = LOG_LEVEL_INFO,
	};
}

int options_set(struct options *o, const char *name, const char *value, struct err *err)
{
	const struct option_desc *d = find(name);

	if (!d) {
		err_set(err, 0, "unknown option --%.64s", name);
		return -ENOENT;
	}
	if (d->arg && !value)
		return err_set(err, 0, "--%s needs a value", name);
	return d->set(d, o, value, err);
}

int options_check(const struct options *o, struct err *err)
{
	if (o->uplink == OPTIONS_UPLINK_SHARE || o->uplink == OPTIONS_UPLINK_ETHDEV)
		return err_set(err, 0,
			       "--uplink: this release has no uplinks, only auto and "
			       "none are possible");
	if (o->routing != OPTIONS_ROUTING_VXLAN)
		return err_set(err, 0, "--routing: this release has no uplinks to route by");
	if (o->metrics[0])
		return err_set(err, 0, "--metrics: this release has no metrics endpoint");
	if (o->service_cidrs.count > 0)
		return err_set(err, 0, "--service-cidr: this release knows no Services");
	if (o->no_masquerade_to.count > 0)
		return err_set(err, 0, "--no-masquerade-to: this release does not masquerade");
	return 0;
}

static void fill_long(struct option *out)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(table); i++)
		out[i] = (struct option){
			.name = table[i].name,
			.has_arg = table[i].arg ? required_argument : no_argument,
			.val = SHORT_NONE + (int)i,
		};
	out[i++] = (struct option){.name = "help", .val = 'h'};
	out[i++] = (struct option){.name = "version", .val = 'V'};
	out[i] = (struct option){0};
}

// One walk over the command line. only_config: just finds the config file.
static int walk(int argc, char *const *argv, bool only_config, struct options *o, struct err *err)
{
	struct option longs[ARRAY_LEN(table) + 3];
	bool cleared[ARRAY_LEN(table)] = {false};
	int c, r = 0;

	fill_long(longs);
	optind = 0; // starts getopt anew
	opterr = 0;
	while (r == 0 && (c = getopt_long(argc, argv, ":hV", longs, NULL)) != -1) {
		size_t i = (size_t)(c - SHORT_NONE);

		if (c == 'h' || c == 'V') {
			o->action = c == 'h' ? OPTIONS_HELP : OPTIONS_VERSION;
		} else if (c == '?' || c == ':') {
			r = err_set(err, 0, "%s `%.64s`",
				    c == '?' ? "unknown option" : "no value for", argv[optind - 1]);
		} else if (only_config == (table[i].offset == offsetof(struct options, config))) {
			if (table[i].is_list && !cleared[i])
				options_clear(o, table[i].name);
			cleared[i] = true;
			r = options_set(o, table[i].name, optarg, err);
		}
	}
	if (r == 0 && optind < argc)
		r = err_set(err, 0, "unexpected argument `%.64s`", argv[optind]);
	return r;
}

int options_parse(int argc, char *const *argv, struct options *ret_options, struct err *err)
{
	struct options o;
	int r;

	options_init(&o);
	r = walk(argc, argv, true, &o, err);
	if (r == 0 && o.action == OPTIONS_RUN && o.config[0])
		r = config_load(o.config, &o, err);
	if (r == 0)
		r = walk(argc, argv, false, &o, err);
	if (r == 0 && o.action == OPTIONS_RUN)
		r = options_check(&o, err);
	if (r == 0)
		*ret_options = o;
	return r;
}

void options_usage(char *out, size_t size)
{
	size_t len = (size_t)snprintf(out, size, "usage: weftd [OPTION]...\n");

	for (size_t i = 0; i < ARRAY_LEN(table) && len < size; i++) {
		char left[64];

		snprintf(left, sizeof(left), "--%s%s%s", table[i].name, table[i].arg ? " " : "",
			 table[i].arg ? table[i].arg : "");
		len += (size_t)snprintf(out + len, size - len, "  %-24s %s\n", left, table[i].help);
	}
}
