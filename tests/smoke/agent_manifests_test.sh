#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sanitize
# weft-agent follows a folder of manifests: what happens to files happens to the daemon's objects.
set -euo pipefail
. "$(dirname "$0")/../harness/agent.sh"

agent_setup
m=$AGENT_DIR/m
node() { # node NAME ADDRESS CIDR
	printf '{"apiVersion":"v1","kind":"Node","metadata":{"name":"%s"},' "$1"
	printf '"spec":{"podCIDRs":["%s"]},"status":{"addresses":[{"type":"%s","address":"%s"}]}}' \
		"$3" "${4:-InternalIP}" "$2"
}

{ pod a; pod b; } | put pods.yaml
node n1 192.0.2.11 10.244.1.0/24 | put n1.json
peer_start
agent_start
expect '.end_syncs == 1 and (.objects | keys) == ["node/n1","pod/default/a","pod/default/b"]'
expect '.objects["node/n1"] | .self and .ips == ["192.0.2.11"] and .pod_cidrs == ["10.244.1.0/24"]'
expect '.objects["pod/default/a"] | .node == "n1" and .phase == "Pending" and (.host_network | not)'
no_problems

# Add, change, remove: one operation each, nothing is sent twice.
node n2 192.0.2.12 10.244.2.0/24 | put n2.json
expect '.ops == 4 and (.objects["node/n2"] | .self | not)'
node n2 192.0.2.13 10.244.2.0/24 >"$m/n2.json"
expect '.ops == 5 and .objects["node/n2"].ips == ["192.0.2.13"]'
node n2 n2 10.244.2.0/24 Hostname | put n2.json
{ pod a; pod b n2; } >"$m/pods.yaml"
expect '.ops == 6 and .objects["pod/default/b"].node == "n2"'
expect '.objects["node/n2"].ips == ["192.0.2.13"]' # the last address is kept
pod a | put pods.yaml
expect '.ops == 7 and (.objects | has("pod/default/b") | not)'
rm "$m/n2.json"
expect '.ops == 8 and (.objects | has("node/n2") | not)'

# A renamed file and one in a new folder; lists; editors' files; kinds of no concern.
mv "$m/pods.yaml" "$m/renamed.yml"
mkdir "$m/sub"
printf '{"kind":"PodList","items":[{"metadata":{"name":"c"}},{"metadata":{"name":"d"}}]}' |
	put sub/list.json
echo "broken: [" >"$m/.pods.yaml.swp"
echo "broken: [" >"$m/pods.yaml~"
printf 'kind: Service\nmetadata: {name: s}\n---\nkind: Widget\n' | put other.yaml
expect '.ops == 10 and .objects["pod/default/d"] and .objects["pod/default/a"]'
no_problems

# Broken, then mended; the same object twice; a value that is left out.
printf 'kind: Pod\nmetadata: {name: a}\n x: y\n' | put renamed.yml
what "manifest $m/renamed.yml:3:"
expect '.ops == 10 and .objects["pod/default/a"]'
pod a | put renamed.yml
no_problems
pod a n9 | put z.yaml
what "manifest $m/z.yaml: pod/default/a also stands in $m/renamed.yml"
expect '.objects["pod/default/a"].node == "n9"'
rm "$m/z.yaml"
expect '.objects["pod/default/a"].node == "n1"'
node n1 192.0.2.11 10.244.1.0/99 | put n1.json
what 'node n1: $.spec.podCIDRs[0]: `10.244.1.0/99` is no pod range'
expect '.objects["node/n1"] | .pod_cidrs == [] and .ips == ["192.0.2.11"]'
node n1 192.0.2.11 10.244.1.0/24 | put n1.json
no_problems

agent_stop
! grep -E 'ERR|runtime error|AddressSanitizer' "$AGENT_DIR/log" || fail "errors in the log"
echo ok
