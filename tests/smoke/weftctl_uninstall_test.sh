#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sanitize
# weftctl uninstall-node takes away what is weft's, keeps what is not, and may be repeated.
set -euo pipefail

if [ "${1:-}" != inside ]; then
	exec unshare -nm bash "$0" inside
fi
mkdir -p /run/netns
mount -t tmpfs none /run/netns
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -m 700 "$dir/run" "$dir/state"

uninstall() {
	"$BUILD/weftctl" --run-dir "$dir/run" "$@" uninstall-node --state-dir "$dir/state" \
		--netns private --host-if node0
}

fail() {
	echo "$*"
	exit 1
}

# A node as weftd and the CNI binary leave it: host port, one pod, files.
make_node() {
	ip netns add private
	ip link add node0 type veth peer name inner netns private
	ip netns add pod
	ip -n pod link add eth0 type veth peer name wpod netns private
	ip -n private link set wpod alias weft:0123
	touch "$dir/run/journal" "$dir/state/journal"
}

make_node
uninstall >"$dir/out"
cat "$dir/out"
[ ! -e /run/netns/private ] || fail "the private namespace is still there"
! ip link show node0 2>/dev/null || fail "the host port is still there"
! ip -n pod link show eth0 2>/dev/null || fail "the pod's interface is still there"
[ ! -e "$dir/run" ] && [ ! -e "$dir/state" ] || fail "files are still there"
uninstall >"$dir/out"
[ ! -s "$dir/out" ] || fail "the second time there was something to remove"

# What is not weft's stays, and is named.
mkdir "$dir/state"
touch "$dir/state/photo.jpg"
ip link add node0 type bridge
ip netns add private
ip -n private link add stranger type veth peer name friend
rc=0
uninstall -j >"$dir/out" || rc=$?
[ "$rc" -eq 1 ] || fail "status $rc, wanted 1"
jq -e '[.steps[] | select(.removed | not)] | length == 3' "$dir/out" >/dev/null || cat "$dir/out"
ip link show node0 >/dev/null && ip -n private link show stranger >/dev/null
[ -e "$dir/state/photo.jpg" ]

# A held lock is a daemon that does not answer: nothing is touched.
mkdir "$dir/run"
exec 9>"$dir/run/lock"
flock -n 9
rc=0
uninstall 2>"$dir/err" || rc=$?
[ "$rc" -eq 1 ] && grep -q 'stop weftd first' "$dir/err" || fail "the lock was not seen"
exec 9>&-
echo ok
