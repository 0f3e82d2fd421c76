#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The control socket and its run-dir: modes, one daemon per folder, stale and foreign files, clients
# that send garbage, half a line or a whole gigabyte, and a daemon that is stopped and killed.
set -euo pipefail
. "$(dirname "$0")/../harness/node.sh"
node_enter "$0" "$@"

start() { node_start --standalone --pod-cidr 10.244.1.0/24; }
sock=$NODE_DIR/run/weftd.sock

# refuses TEXT [options]: weftd ends with 1 and says TEXT.
refuses() {
	local text=$1 rc=0
	shift
	timeout 20 "$BUILD/weftd" --run-dir "$NODE_DIR/run" --state-dir "$NODE_DIR/state" \
		--standalone "$@" >"$NODE_DIR/out" 2>&1 || rc=$?
	[ $rc = 1 ] || fail "weftd ended with $rc: $(cat "$NODE_DIR/out")"
	grep -qF -- "$text" "$NODE_DIR/out" || fail "no '$text': $(cat "$NODE_DIR/out")"
}

start
[ "$(stat -c %a "$NODE_DIR/run")" = 700 ] || fail "mode of the run-dir"
[ "$(stat -c %a "$NODE_DIR/state")" = 700 ] || fail "mode of the state-dir"
[ "$(stat -c '%a %F' "$sock")" = "600 socket" ] || fail "mode of the socket"

refuses "another weftd is running on \`$NODE_DIR/run\`"
refuses "another weftd is running on \`$NODE_DIR/state\`" --run-dir "$NODE_DIR/run2"
refuses "another weftd uses namespace \`weft\`" --run-dir "$NODE_DIR/run2" \
	--state-dir "$NODE_DIR/state2"
node_answers >/dev/null || fail "the first weftd was disturbed"

NODE_DIR=$NODE_DIR python3 - <<'PY'
import os, socket, sys
sys.path.insert(0, "tests/harness")
from weftc import Weft, check, until

run = os.path.join(os.environ["NODE_DIR"], "run")
w = Weft(run)

# One line that never ends: an error within the limit, and the end.
c = Weft(run, timeout=30)
try:
    for _ in range(1024):
        c.sock.sendall(b"x" * (1 << 20))
except OSError:
    pass
else:
    sys.exit("FAIL: weftd swallowed a gigabyte")

# Garbage, half a line, silence: each is shown the door, nobody else notices.
rude = [Weft(run, hello=False) for _ in range(3)]
rude[0].sock.sendall(os.urandom(4096) + b"\n")
rude[1].sock.sendall(b'{"type":"hel')
crowd = [Weft(run) for _ in range(200)]
w.call("ready")
for i, c in enumerate(rude):
    lines = []
    try:
        while True:
            line = c.recv()
            if line is None:
                break
            lines.append(line)
    except ConnectionResetError:
        pass
    check(not lines or lines[0]["ok"] is False, f"client {i}: {lines}")
w.call("ready")
PY

# Another user: the folder keeps him out, and behind it the socket does.
if id nobody >/dev/null 2>&1; then
	chmod 711 "$NODE_DIR" "$NODE_DIR/run"
	chmod 666 "$sock"
	setpriv --reuid nobody --clear-groups nc -d -U -w 5 "$sock" >"$NODE_DIR/out" || true
	grep -q "only root" "$NODE_DIR/out" || fail "nobody was served: $(cat "$NODE_DIR/out")"
	chmod 700 "$NODE_DIR/run"
fi

# Killed: the socket is stale and replaced. Stopped: it is removed.
node_kill
[ -S "$sock" ] || fail "no stale socket to test with"
rc=0; ctl status >/dev/null 2>&1 || rc=$?
[ $rc = 3 ] || fail "weftctl ended with $rc while weftd was dead"
start
node_stop
[ ! -e "$sock" ] || fail "socket left behind"
ip netns list | grep -qw weft || fail "the namespace went with weftd"
ip link show weft0 >/dev/null || fail "weft0 went with weftd"

# What is no socket of ours is refused and left alone.
echo mine >"$sock"
refuses "weftd.sock"
[ "$(cat "$sock")" = mine ] || fail "foreign file touched"
rm "$sock"
ln -s "$NODE_DIR/elsewhere" "$sock"
refuses "weftd.sock"
[ -L "$sock" ] || fail "symlink touched"
rm "$sock"
mkdir "$NODE_DIR/real"
ln -s real "$NODE_DIR/link"
refuses "$NODE_DIR/link" --run-dir "$NODE_DIR/link"

# A missing folder is made; two starters at once: one wins.
starters=()
for i in 1 2; do
	"$BUILD/weftd" --run-dir "$NODE_DIR/new/run" --state-dir "$NODE_DIR/new/state" \
		--standalone >"$NODE_DIR/starter$i" 2>&1 &
	starters+=($!)
done
count() { [ "$(grep -l "$1" "$NODE_DIR"/starter? | wc -l)" = 1 ]; }
until_ok 20 count "daemon: ready" || fail "not exactly one starter came up"
until_ok 10 count "another weftd is running" || fail "not exactly one starter was refused"
ends=""
for pid in "${starters[@]}"; do
	kill "$pid" 2>/dev/null || true
	rc=0
	wait "$pid" || rc=$?
	ends+=$rc
done
[ "$ends" = 01 ] || [ "$ends" = 10 ] || fail "the starters ended with $ends"

# A daemon that does not answer: clients give up in time, and go on when it does.
start
kill -STOP "$WEFTD_PID"
t0=$(now_ms)
rc=0; ctl status >/dev/null 2>&1 || rc=$?
[ $rc = 3 ] || fail "weftctl ended with $rc while weftd was stopped"
[ $(($(now_ms) - t0)) -lt 10000 ] || fail "weftctl waited $(($(now_ms) - t0)) ms"
rc=0; cni STATUS x "" >"$NODE_DIR/out" || rc=$?
[ $rc != 0 ] || fail "STATUS was fine while weftd was stopped"
kill -CONT "$WEFTD_PID"
until_ok 10 node_answers || fail "weftd does not answer after SIGCONT"
node_stop
