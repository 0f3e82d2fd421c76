#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a daemon finds when it starts: running pods, dead pods, half an ADD, another boot, a damaged
# journal. And what waits for the agent.
set -euo pipefail
. "$(dirname "$0")/../harness/node.sh"
node_enter "$0" "$@"

start() { node_start --standalone --pod-cidr 10.244.1.0/28 --pod-cidr fd00:10:1::/64; }
pods() { ctl -j pod | jq -r ".pods[] | select(.state == \"$1\") | .container_id" | sort | xargs; }
pings() { in_pod "$1" ping -c1 -W1 "$(pod_ip4 "$2")"; }
journal=$NODE_DIR/state/journal

start
for p in a b c d e; do pod_add $p; done
until_ok 5 pings a b || fail "no ping at first"
before=$(in_pod a ip -j addr show eth0)

# Killed; meanwhile one pod is deleted by its runtime, one dies alone, one cannot be added (row 45).
node_kill
cni DEL id-c /run/netns/c || fail "DEL while weftd was away"
ip netns del c
ip netns del d
ip netns add f
rc=0; cni ADD id-f /run/netns/f >"$NODE_DIR/out" || rc=$?
if [ $rc = 0 ] || ! grep -q '"code": *11' "$NODE_DIR/out"; then
	fail "ADD without weftd: $(cat "$NODE_DIR/out")"
fi
! pings a b >/dev/null || fail "packets pass without weftd"
# Half an ADD is left in the private namespace.
ip link add orphan netns f type veth peer name w0123456789ab netns weft
t0=$(now_ms)
start
until_ok 5 pings a b || fail "no ping after the restart"
echo "forwarding $(($(now_ms) - t0)) ms after the start"
until_ok 5 pings e a || fail "e is not served"
[ "$(pods active)" = "id-a id-b id-e" ] || fail "active: $(pods active)"
[ "$(pods gone)" = id-d ] || fail "gone: $(pods gone)"
! ctl -j pod | grep -q id-c || fail "c is back"
! ip -n weft link show w0123456789ab >/dev/null 2>&1 || fail "the orphan is still there"
[ "$(in_pod a ip -j addr show eth0)" = "$before" ] || fail "a's interface changed"
[ "$(ctl -j status | jq .restarts)" = 1 ] || fail "restarts"
cni ADD id-f /run/netns/f >"$NODE_DIR/f.json" || fail "ADD of f after the restart"
for p in a b e; do [ "$(pod_ip4 f)" != "$(pod_ip4 $p)" ] || fail "f has the address of $p"; done

# A second life by SIGTERM, then a damaged disk copy: the copy in the run-dir heals it.
node_stop
printf 'X' | dd of="$journal" bs=1 seek=300 conv=notrunc status=none
start
[ "$(pods active)" = "id-a id-b id-e id-f" ] || fail "after damage: $(pods active)"
grep -q "second copy was whole" "$NODE_DIR/weftd.log" || fail "damage went unnoticed"

# Both copies are gone: the pods' links stay, they are reported, and nothing is opened.
node_kill
rm "$journal" "$NODE_DIR/run/journal"
start
[ "$(ctl -j pod | jq '.pods | length')" = 0 ] || fail "records out of nothing"
[ "$(ip -n weft -o link show | grep -c ' w[0-9a-f]\{12\}@')" = 4 ] || fail "links of live pods went"
{ ctl -j status || true; } | grep -q "4 pods run without a record" || fail "no problem told"
node_kill

# Reboot: another boot id, no links. All addresses come back at once (row 8).
for p in a b e f; do ip netns del $p; done
rm -rf "${NODE_DIR:?}/state" "$NODE_DIR/run"
start
for i in 1 2 3 4 5 6; do pod_add r$i; done
node_kill
for i in 1 2 3 4 5 6; do ip netns del r$i; done
ip netns del weft
ip link del weft0 2>/dev/null || true
rm -rf "$NODE_DIR/run"
echo 99999999-9999-9999-9999-999999999999 >"$NODE_DIR/boot_id"
mount --bind "$NODE_DIR/boot_id" /proc/sys/kernel/random/boot_id
start
[ "$(ctl -j pod | jq '.pods | length')" = 0 ] || fail "pods of the former boot are kept"
for i in $(seq 13); do pod_add n$i; done
ip netns add more
! cni ADD id-more /run/netns/more >"$NODE_DIR/out" || fail "a 14th address in a /28"
grep -q "13 of 13 used" "$NODE_DIR/out" || fail "no fill: $(cat "$NODE_DIR/out")"
if cni ADD id-more /run/netns/more >/dev/null 2>&1; then fail "the range is larger than it is"; fi
node_stop
