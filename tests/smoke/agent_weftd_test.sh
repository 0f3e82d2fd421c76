#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sanitize
# weft-agent and a daemon that comes, goes, hangs, refuses and is not ready; the CNI configuration.
set -euo pipefail
[ -n "${AGENT_NETNS:-}" ] || AGENT_NETNS=1 exec unshare -n bash "$0"
ip link set lo up
. "$(dirname "$0")/../harness/agent.sh"

agent_setup
conf=$AGENT_DIR/net.d/10-weft.conflist
conf_is_right() { jq -e '.plugins[0].type == "weft"' "$conf" >/dev/null 2>&1; }
{ for i in $(seq 1200); do pod "p$i"; done; } | put pods.yaml

# No daemon yet: the agent waits. Then one that hangs up within the first sync, twice.
agent_start --cni-conf-dir "$AGENT_DIR/net.d" --health 127.0.0.1:9641
until_ok 10 grep -q 'weftd is away' "$AGENT_DIR/log" || fail "the agent does not try"
script '{"hang_up": "apply", "hang_up_after": 1}'
peer_start
expect '.connections >= 2 and .end_syncs == 0'
script '{"ready": false}'
expect '.end_syncs == 1 and (.objects | length) == 1200'
what 'there is no Node object named n1'
[ ! -e "$conf" ] || fail "the CNI configuration came too early"
script '{}'
until_ok 10 conf_is_right || fail "no CNI configuration"
no_problems

# Put back when removed; it stays when the daemon and the agent go.
rm "$conf"
until_ok 10 conf_is_right || fail "the CNI configuration was not restored"
peer_stop
pod p1 n2 | put p1.yaml # a change that happens while nobody listens
rm "$AGENT_DIR/m/pods.yaml"
until_ok 5 grep -q 'manifest gone' "$AGENT_DIR/log" || fail "the removal was not seen"
peer_start
expect '.end_syncs == 1 and (.objects | keys) == ["pod/default/p1"]'
expect '.objects["pod/default/p1"].node == "n2"'

# An object that the daemon refuses does not stop the others, and is told.
script '{"refuse": ["pod/default/r2"]}'
{ pod r1; pod r2; pod r3; } | put r.yaml
expect '.objects["pod/default/r1"] and .objects["pod/default/r3"]'
what 'weftd refuses pod/default/r2: invalid op'
script '{}'
{ pod r1; pod r2 n2; pod r3; } | put r.yaml
expect '.objects["pod/default/r2"].node == "n2"'
no_problems

# A daemon that falls silent is given up after the time limit.
before=$(jq .connections "$AGENT_DIR/peer.json")
script '{"silent": "apply"}'
pod s | put s.yaml
until_ok 20 grep -q 'no reply in time' "$AGENT_DIR/log" || fail "the silent daemon is kept"
script '{}'
expect ".connections > $before and .objects[\"pod/default/s\"]"

# Health and metrics.
page() {
	python3 -c "import urllib.request as r
print(r.urlopen('http://127.0.0.1:9641/$1').read().decode())" 2>/dev/null
}
ready() { [[ $(page readyz) == ok* ]]; }
[[ $(page healthz) == ok* ]] || fail "no health"
until_ok 5 ready || fail "not ready"
metrics=$(page metrics)
[[ $metrics == *$'\nweft_agent_pods 5\n'* ]] || fail "wrong metrics: $metrics"
agent_stop
conf_is_right || fail "the CNI configuration went with the agent"
! grep -E ' ERR |runtime error|AddressSanitizer' "$AGENT_DIR/log" || fail "errors in the log"
echo ok
