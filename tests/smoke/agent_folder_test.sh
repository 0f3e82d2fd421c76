#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sanitize
# weft-agent and its folder: gone and back, a mounted ConfigMap that switches, another start.
set -euo pipefail
. "$(dirname "$0")/../harness/agent.sh"

agent_setup
m=$AGENT_DIR/m
pod a | put a.yaml
mkdir "$m/sub"
pod c | put sub/c.yaml
peer_start
agent_start
expect '(.objects | keys) == ["pod/default/a","pod/default/c"]'

# The folder goes and comes back; a mounted ConfigMap switches.
rm -rf "$m"
what "manifests folder \`$m\`: No such file"
expect '(.objects | keys) == ["pod/default/a","pod/default/c"] and .ops == 2'
mkdir -p "$AGENT_DIR/new.m/..1"
{ pod a; pod e; } >"$AGENT_DIR/new.m/..1/p.yaml"
ln -s ..1 "$AGENT_DIR/new.m/..data"
ln -s ..data/p.yaml "$AGENT_DIR/new.m/p.yaml"
mv "$AGENT_DIR/new.m" "$m"
expect '(.objects | keys) == ["pod/default/a","pod/default/e"]'
no_problems
mkdir "$m/..2"
pod f >"$m/..2/p.yaml"
ln -s ..2 "$m/..data_tmp"
mv -T "$m/..data_tmp" "$m/..data"
expect '(.objects | keys) == ["pod/default/f"]'

# The agent starts again: nothing that it still wants is ever gone.
agent_stop
rm -rf "$m"/..1
agent_start
expect '.end_syncs == 2 and (.objects | keys) == ["pod/default/f"]'
agent_stop
! grep -E 'ERR|runtime error|AddressSanitizer' "$AGENT_DIR/log" || fail "errors in the log"
echo ok
