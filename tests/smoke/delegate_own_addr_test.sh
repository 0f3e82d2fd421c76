#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An IPAM plugin that gives out the node's own address, or the gateway's: ADD is refused naming the
# address, and the node stays reachable.
set -euo pipefail
. "$(dirname "$0")/../harness/node.sh"
node_enter "$0" "$@"

mkdir "$NODE_DIR/bin"
cat >"$NODE_DIR/bin/giver" <<'END'
#!/bin/sh
cat >/dev/null
[ "$CNI_COMMAND" != ADD ] || echo "{\"cniVersion\":\"1.0.0\",\"ips\":[{\"address\":\"$GIVE\"}]}"
END
chmod +x "$NODE_DIR/bin/giver"

node_start --standalone --pod-cidr 10.244.1.0/24 --pod-cidr fd00:10:1::/64
pod_add p
until_ok 5 in_pod p ping -c1 -W1 $NODE_IP4 || fail "no ping to the node before"
before=$(ctl -j flow | jq -cS '[.flows[] | del(.packets)]')

ip netns add bad
for GIVE in $NODE_IP4/32 $NODE_IP6/128 10.244.1.1/32 fd00:10:1::1/128 169.254.1.1/32; do
	export GIVE
	rc=0
	out=$(CNI_EXTRA=', "ipam": {"type": "giver"}' CNI_PATH_EXTRA=$NODE_DIR/bin \
		cni ADD id-bad /run/netns/bad) || rc=$?
	[ $rc -ne 0 ] || fail "ADD with $GIVE worked"
	[ "$(jq .code <<<"$out")" = 100 ] || fail "code for $GIVE: $out"
	[[ $out == *"${GIVE%/*}"* ]] || fail "the error does not name $GIVE: $out"
done
[ "$(ctl -j flow | jq -cS '[.flows[] | del(.packets)]')" = "$before" ] || fail "flows changed"
in_pod p ping -c1 -W1 -q $NODE_IP4 || fail "the node's IPv4 address is lost"
in_pod p ping -c1 -W1 -q $NODE_IP6 || fail "the node's IPv6 address is lost"
pod_del p
node_stop
