# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A node on one machine for scripts: private mount and network namespaces, the real weftd, pods
# attached by the real CNI binary. Source it as the first thing of a test:
#
#	. "$(dirname "$0")/../harness/node.sh"; node_enter "$0" "$@"
#	node_start --standalone --pod-cidr 10.244.1.0/24
#	pod_add p1; ip netns exec p1 ping -c1 "$(pod_ip4 p2)"; pod_del p1
#
# node_enter runs the script again under `unshare -nm` with a private tmpfs on /run/netns, so
# nothing outlives it but files below $NODE_DIR, which is removed. Needs root and BUILD (folder of
# the binaries).

NODE_IP4=192.0.2.11
NODE_IP6=fd00:c0::11

node_enter() {
	if [ "$(id -u)" != 0 ]; then
		echo "needs root"
		exit 77
	fi
	if [ -z "${NODE_INSIDE:-}" ]; then
		NODE_DIR=$(mktemp -d)
		export NODE_DIR NODE_INSIDE=1
		local rc=0
		unshare -nm --propagation private --kill-child bash "$@" || rc=$?
		rm -rf "$NODE_DIR"
		exit "$rc"
	fi
	: "${BUILD:=$(cd "$(dirname "$1")/../.." && pwd)/build}"
	for bin in weft weftd weftctl; do
		[ -x "$BUILD/$bin" ] || { echo "no $BUILD/$bin"; exit 77; }
	done
	mkdir -p /run/netns "$NODE_DIR/run" "$NODE_DIR/state"
	mount -t tmpfs none /run/netns
	ip link set lo up
	ip addr add $NODE_IP4/32 dev lo
	ip addr add $NODE_IP6/128 dev lo nodad
	trap node_exit EXIT
}

node_exit() {
	local rc=$?
	trap - EXIT
	set +e
	[ "$rc" = 0 ] || { echo "--- weftd log"; tail -40 "$NODE_DIR/weftd.log" 2>/dev/null; }
	local pid
	for pid in $(jobs -p); do kill -9 "$pid" 2>/dev/null; done
	exit "$rc"
}

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

# until_ok SECONDS COMMAND...: runs the command again until it succeeds or the time is over.
until_ok() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt "$end" ] || return 1
		read -rt 0.02 <> <(:) || true
	done
}

now_ms() { echo $(($(date +%s%N) / 1000000)); }

ctl() { "$BUILD/weftctl" --run-dir "$NODE_DIR/run" "$@"; }

# node_start [weftd options]: starts weftd in the background and waits until it answers.
# Sets WEFTD_PID.
node_start() {
	"$BUILD/weftd" --foreground --run-dir "$NODE_DIR/run" --state-dir "$NODE_DIR/state" \
		--node-ip $NODE_IP4 --node-ip $NODE_IP6 "$@" >>"$NODE_DIR/weftd.log" 2>&1 &
	WEFTD_PID=$!
	until_ok 20 node_answers || fail "weftd did not start: $(tail -3 "$NODE_DIR/weftd.log")"
}

# Answers at all: ok and degraded both count.
node_answers() {
	local rc=0
	ctl -j status || rc=$?
	[ $rc -le 1 ]
}

node_stop() {
	kill "$WEFTD_PID"
	wait "$WEFTD_PID" || fail "weftd ended with $?"
}

node_kill() {
	kill -9 "$WEFTD_PID"
	wait "$WEFTD_PID" 2>/dev/null || true
}

# cni VERB ID NETNS_PATH [CNI_ARGS] [IFNAME]: one call of the CNI binary with the test's network.
cni() {
	CNI_COMMAND=$1 CNI_CONTAINERID=$2 CNI_NETNS=$3 CNI_ARGS=${4:-} CNI_IFNAME=${5:-eth0} \
		CNI_PATH=$BUILD${CNI_PATH_EXTRA:+:$CNI_PATH_EXTRA} "$BUILD/weft" <<-CONF
	{"cniVersion": "${CNI_VERSION:-1.0.0}", "name": "${CNI_NETWORK:-weft}", "type": "weft",
	 "runDir": "$NODE_DIR/run" ${CNI_EXTRA:-}}
	CONF
}

# pod_add NAME: makes namespace NAME and attaches it; the result lies in $NODE_DIR/NAME.json.
pod_add() {
	ip netns add "$1"
	cni ADD "id-$1" "/run/netns/$1" "${2:-}" >"$NODE_DIR/$1.json" ||
		fail "ADD $1: $(cat "$NODE_DIR/$1.json")"
}

pod_del() {
	cni DEL "id-$1" "/run/netns/$1" || fail "DEL $1"
	ip netns del "$1"
}

pod_ip4() { jq -r '.ips[].address' "$NODE_DIR/$1.json" | grep -v : | cut -d/ -f1; }
pod_ip6() { jq -r '.ips[].address' "$NODE_DIR/$1.json" | grep : | cut -d/ -f1; }
in_pod() { ip netns exec "$@"; }
