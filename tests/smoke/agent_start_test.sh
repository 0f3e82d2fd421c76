#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sanitize
# Exit status of weft-agent: 0 stopped by a signal, 1 cannot run, 2 wrong command line.
set -euo pipefail
. "$(dirname "$0")/../harness/agent.sh"

agent_setup

# ends STATUS PART OPTION...: the agent ends by itself, with that status and that text on stderr.
ends() {
	local want=$1 part=$2 rc=0
	shift 2
	timeout -k 1 20 "$BUILD/weft-agent" "$@" >"$AGENT_DIR/out" 2>"$AGENT_DIR/log" || rc=$?
	if [ "$rc" -ne "$want" ] || ! grep -qF -e "$part" "$AGENT_DIR/log" "$AGENT_DIR/out"; then
		fail "weft-agent $*: status $rc, wanted $want and '$part'"
	fi
}

good=(--node n1 --run-dir "$AGENT_DIR" --manifests "$AGENT_DIR/m")
ends 0 "usage: weft-agent" --help
ends 0 "weft-agent " --version
ends 2 "--node NAME is missing"
ends 2 "--manifests DIR is missing" --node n1
ends 2 "unknown option \`--bogus\`" "${good[@]}" --bogus
ends 2 "--kubeconfig: not supported yet" --node n1 --kubeconfig /etc/x
ends 2 "is no ADDR:PORT" "${good[@]}" --metrics 9641
ends 1 "manifests folder \`$AGENT_DIR/none\`: No such file" --node n1 --manifests "$AGENT_DIR/none"
ends 1 "NAME.conflist" "${good[@]}" --cni-conf-dir "$AGENT_DIR" --cni-conf-name x.json
ends 1 "listen on \`192.0.2.1:9641\`" "${good[@]}" --health 192.0.2.1:9641

for signal in TERM INT; do
	: >"$AGENT_DIR/log"
	agent_start --log-format json
	until_ok 10 grep -q '"weftd is away"' "$AGENT_DIR/log" || fail "did not start"
	kill -s "$signal" "$agent_pid"
	rc=0
	wait "$agent_pid" || rc=$?
	agent_pid=
	[ "$rc" -eq 0 ] || fail "SIG$signal: status $rc"
	jq -e .msg "$AGENT_DIR/log" >/dev/null || fail "a log line is no JSON"
done
echo ok
