#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sanitize
# weftd killed during a TCP transfer: nothing is forwarded while it is away, pods are not touched,
# and after the start the same connection goes on to its right end.
set -euo pipefail
. "$(dirname "$0")/../harness/node.sh"
node_enter "$0" "$@"

start() { node_start --standalone --pod-cidr 10.244.1.0/24 --pod-cidr fd00:10:1::/64; }
pings() { in_pod a ping -c1 -W1 "$(pod_ip4 b)"; }
received() { [ "$(stat -c %s "$NODE_DIR/out" 2>/dev/null || echo 0)" -gt "$1" ]; }

start
pod_add a
pod_add b
until_ok 5 pings || fail "no ping before the test"
before=$(in_pod a ip -j link show eth0; in_pod b ip -j addr show eth0)

# 64 MB, paced so that the kill falls into the middle whatever the machine's speed.
head -c 67108864 /dev/urandom >"$NODE_DIR/in"
in_pod b nc -l -p 5001 >"$NODE_DIR/out" &
receiver=$!
until_ok 5 in_pod b sh -c "ss -Hltn | grep -q :5001" || fail "receiver does not listen"
in_pod a python3 - "$(pod_ip4 b)" "$NODE_DIR/in" <<'PY' &
import socket, sys, time
s = socket.create_connection((sys.argv[1], 5001))
data = open(sys.argv[2], "rb").read()
end = time.monotonic() + 120
for i in range(0, len(data), 1 << 20):
    s.sendall(data[i:i + (1 << 20)])
    if time.monotonic() > end:
        sys.exit("too slow")
    time.sleep(0.03)
s.shutdown(socket.SHUT_WR)
PY
sender=$!

until_ok 20 received 4000000 || fail "transfer did not start"
node_kill
! pings >/dev/null || fail "a packet was forwarded while weftd was dead"
size=$(stat -c %s "$NODE_DIR/out")
[ "$size" -lt 67108864 ] || fail "the transfer was over before the kill"

t0=$(now_ms)
start
until_ok 10 pings || fail "pods do not reach each other after the restart"
echo "forwarding again $(($(now_ms) - t0)) ms after the start"
until_ok 60 received 67108863 || fail "transfer did not complete: $(stat -c %s "$NODE_DIR/out")"
wait $sender || fail "sender failed"
wait $receiver || fail "receiver failed"
cmp "$NODE_DIR/in" "$NODE_DIR/out" || fail "data differs"
after=$(in_pod a ip -j link show eth0; in_pod b ip -j addr show eth0)
[ "$before" = "$after" ] || fail "pods' interfaces changed"

pod_del a
pod_del b
node_stop
