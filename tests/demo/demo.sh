#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# weft's main job on one machine, without a cluster, on real packets: six pods in two namespaces
# are attached by the CNI binary as a runtime does it, talk to each other and to the node, a forged
# packet is dropped and named, and at the end nothing is left. `make demo`; needs root. Changes
# nothing outside of namespaces of its own.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
: "${BUILD:?run it by make demo}"
if [ "$(id -u)" -ne 0 ]; then
	echo "the demo needs root: it makes network namespaces" >&2
	exit 1
fi
if [ "${1:-}" != inside ]; then
	exec unshare -nm "$PWD/demo.sh" inside
fi

NODE4=192.0.2.11 NODE6=fd00:c0::11
GATEWAY4=169.254.1.1
PODS=(shop/web shop/cart shop/stock mail/smtp mail/imap mail/store)
work=$(mktemp -d)
run=$work/run
passed=0
failed=0
pids=()

# ---- helpers ----

ctl() {
	"$BUILD/weftctl" --run-dir "$run" "$@"
}

step() {
	printf '\n== %s\n' "$*"
}

# check NAME COMMAND...: one line of the list.
check() {
	local name=$1
	shift
	if "$@" >"$work/check.log" 2>&1; then
		passed=$((passed + 1))
		echo "PASS  $name"
	else
		failed=$((failed + 1))
		echo "FAIL  $name"
		sed 's/^/      /' "$work/check.log" | tail -n 15
	fi
}

# until_true SECONDS COMMAND...: polls, with a deadline.
until_true() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.02
	done
}

# Names on this machine: shop/web lives in the namespace shop-web.
ns() {
	echo "${1/\//-}"
}

in_pod() {
	local pod=$1
	shift
	ip netns exec "$(ns "$pod")" "$@"
}

# ip_of POD 4|6, from what the CNI binary printed.
ip_of() {
	jq -r --arg family "$2" '.ips[].address | split("/")[0] |
		select(($family == "6") == contains(":"))' "$work/$(ns "$1").result"
}

stop() {
	local pid
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null
	done
	for pid in "${pids[@]}"; do
		wait "$pid" 2>/dev/null
	done
	pids=()
}

clean_up() {
	local name
	stop
	for name in "${PODS[@]}"; do
		ip netns del "$(ns "$name")" 2>/dev/null
	done
	[ ! -e /run/netns/weft ] || ip netns del weft
	rm -rf "$work"
}

# ---- the node ----

write_manifests() {
	local pod
	mkdir "$work/manifests"
	cat >"$work/manifests/node.yaml" <<-END
		apiVersion: v1
		kind: Node
		metadata: {name: n1}
		spec: {podCIDR: 10.244.1.0/24, podCIDRs: [10.244.1.0/24, "fd00:10:1::/64"]}
		status:
		  addresses:
		  - {type: InternalIP, address: $NODE4}
		  - {type: InternalIP, address: "$NODE6"}
	END
	for pod in shop mail; do
		printf -- '---\napiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n' "$pod"
	done >"$work/manifests/namespaces.yaml"
	for pod in "${PODS[@]}"; do
		cat <<-END
			---
			apiVersion: v1
			kind: Pod
			metadata: {namespace: ${pod%/*}, name: ${pod#*/}, uid: uid-$(ns "$pod")}
			spec: {nodeName: n1, containers: [{name: main, image: none}]}
		END
	done >"$work/manifests/pods.yaml"
}

start_programs() {
	"$BUILD/weftd" --foreground --run-dir "$run" --state-dir "$work/state" \
		>"$work/weftd.log" 2>&1 &
	pids+=($!)
	"$BUILD/weft-agent" --node n1 --run-dir "$run" --manifests "$work/manifests" \
		>"$work/agent.log" 2>&1 &
	pids+=($!)
}

is_synced() {
	ctl -j status | jq -e '.state == "ok" and .agent.synced'
}

# What the demo must leave as it was: interfaces, routes, namespaces, files.
snapshot() {
	ip -o link show | sed 's/^[0-9]*: //'
	ip -4 route show table all
	ip -6 route show table all
	ls /run/netns
	find "$run" "$work/state" 2>/dev/null
}

# cni VERB POD [RESULT]: as a container runtime calls it; CHECK is given the result of ADD.
cni() {
	local pod=$2 name args prev=
	[ -z "${3:-}" ] || prev=", \"prevResult\": $(cat "$3")"
	name=$(ns "$pod")
	args="IgnoreUnknown=1;K8S_POD_NAMESPACE=${pod%/*};K8S_POD_NAME=${pod#*/}"
	args+=";K8S_POD_UID=uid-$name;K8S_POD_INFRA_CONTAINER_ID=demo-$name"
	env CNI_COMMAND="$1" CNI_CONTAINERID="demo-$name" CNI_NETNS="/run/netns/$name" \
		CNI_IFNAME=eth0 CNI_PATH="$BUILD" CNI_ARGS="$args" "$BUILD/weft" <<-END
			{"cniVersion": "1.0.0", "name": "weft", "type": "weft",
			 "runDir": "$run"$prev}
		END
}

add_pod() {
	ip netns add "$(ns "$1")" && ip -n "$(ns "$1")" link set lo up &&
		cni ADD "$1" >"$work/$(ns "$1").result" || {
		cat "$work/$(ns "$1").result"
		return 1
	}
}

# ---- what is checked ----

ping_once() {
	ping -n -c 1 -W 3 "$@"
}

ping_pairs() {
	local from to bad=0
	for from in "${PODS[@]}"; do
		for to in "${PODS[@]}"; do
			[ "$from" != "$to" ] || continue
			in_pod "$from" ping -n -c 1 -W 3 "$(ip_of "$to" "$1")" || bad=1
		done
	done
	return "$bad"
}

ping_node() {
	local pod bad=0 node=$NODE4
	[ "$1" = 4 ] || node=$NODE6
	for pod in "${PODS[@]}"; do
		ping_once "$(ip_of "$pod" "$1")" || bad=1
		in_pod "$pod" ping -n -c 1 -W 3 "$node" || bad=1
	done
	return "$bad"
}

# transfer tcp|udp 4|6 FROM TO: a payload and its checksum.
transfer() {
	local to server rc=0
	to=$(ip_of "$4" "$2")
	: >"$work/serve.log"
	in_pod "$4" python3 "$PWD/probe.py" serve "$1" "$to" 7000 >"$work/serve.log" 2>&1 &
	server=$!
	until_true 5 grep -q ready "$work/serve.log" &&
		in_pod "$3" timeout 15 python3 "$PWD/probe.py" send "$1" "$to" 7000 || rc=1
	kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
	cat "$work/serve.log"
	return "$rc"
}

forge() {
	local mac
	mac=$(ip -n shop-web -j neigh show "$GATEWAY4" | jq -r '.[0].lladdr')
	in_pod shop/web python3 "$PWD/probe.py" forge eth0 "$mac" 10.244.1.222 \
		"$(ip_of mail/smtp 4)" 5
}

# The forged packets are counted at the pod's own port, and the victim saw none of them.
forged_is_counted() {
	ctl -j drop | jq -e '[.drops[] | select(.reason == "guard-source-address")] |
		length == 1 and .[0].packets == 5'
}

pods_are() {
	ctl -j pod | jq -e --argjson n "$1" '(.pods | length) == $n and
		all(.pods[]; .state == "active")'
}

same_as_before() {
	snapshot >"$work/after"
	diff "$work/before" "$work/after"
}

log_is_quiet() {
	! grep -E ' (ERR|WARN) ' "$work/weftd.log" "$work/agent.log"
}

# ---- the demo ----

mkdir -p /run/netns
mount -t tmpfs none /run/netns
trap clean_up EXIT
trap 'exit 130' INT TERM
ip link set lo up
ip addr add "$NODE4/32" dev lo
ip addr add "$NODE6/128" dev lo nodad
snapshot >"$work/before"

step "weftd and weft-agent start; the agent reads $(ls -d "$work")/manifests"
write_manifests
start_programs
check "weftd is ready and the agent is synced" until_true 15 is_synced

step "the CNI binary attaches six pods"
for pod in "${PODS[@]}"; do
	check "ADD $pod" add_pod "$pod"
done
check "six pods are active" until_true 5 pods_are 6

step "they reach each other and the node"
check "ping, IPv4, all pairs of pods" ping_pairs 4
check "ping, IPv6, all pairs of pods" ping_pairs 6
check "ping, IPv4, node to pods and pods to node" ping_node 4
check "ping, IPv6, node to pods and pods to node" ping_node 6
for family in 4 6; do
	check "TCP over IPv$family: 10 MB, same checksum" transfer tcp "$family" shop/web mail/store
	check "UDP over IPv$family: 500 datagrams answered" \
		transfer udp "$family" mail/imap shop/cart
done

step "a pod sends packets with another address as source"
check "shop/web sends five forged packets" forge
check "they are dropped and counted by reason" until_true 5 forged_is_counted

step "what weftctl shows"
for object in status pod port drop; do
	echo "\$ weftctl $object"
	ctl "$object"
	echo
done
check "status is ok" ctl status
check "CHECK accepts shop/web" cni CHECK shop/web "$work/shop-web.result"

step "everything is taken away again"
for pod in "${PODS[@]}"; do
	check "DEL $pod" cni DEL "$pod"
	ip netns del "$(ns "$pod")"
done
check "no pod is left" pods_are 0
check "no warning in the logs" log_is_quiet
stop
check "weftctl uninstall-node" ctl uninstall-node --state-dir "$work/state"
check "interfaces, routes, namespaces and files are as before" same_as_before

printf '\n%d passed, %d failed, %d s\n' "$passed" "$failed" "$SECONDS"
[ "$failed" -eq 0 ]
