# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The real weft-agent against a scripted daemon (agent_peer.py), for smoke tests.
#
#	agent_setup; peer_start; agent_start; expect '.objects["pod/default/a"]'
#
# AGENT_DIR/m is the folder of manifests, AGENT_DIR/peer.json what the daemon holds,
# AGENT_DIR/script.json bends the daemon. Everything ends with the script.

AGENT_HARNESS=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
agent_pid=
peer_pid=

fail() {
	echo "FAIL: $*" >&2
	[ ! -f "$AGENT_DIR/peer.json" ] || jq -c . "$AGENT_DIR/peer.json" >&2
	[ ! -f "$AGENT_DIR/log" ] || tail -n 20 "$AGENT_DIR/log" >&2
	exit 1
}

stop_pid() {
	[ -n "$1" ] || return 0
	kill "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}

agent_cleanup() {
	stop_pid "$agent_pid"
	stop_pid "$peer_pid"
	rm -rf "$AGENT_DIR"
}

agent_setup() {
	AGENT_DIR=$(mktemp -d)
	trap agent_cleanup EXIT
	mkdir "$AGENT_DIR/m"
	: >"$AGENT_DIR/log"
}

# agent_start OPTION...: --node n1, the folder m and the run dir are given.
agent_start() {
	"$BUILD/weft-agent" --node n1 --run-dir "$AGENT_DIR" --manifests "$AGENT_DIR/m" \
		--log-level debug "$@" 2>>"$AGENT_DIR/log" &
	agent_pid=$!
}

# SIGTERM must end it, with status 0.
agent_stop() {
	local rc=0
	kill "$agent_pid"
	wait "$agent_pid" || rc=$?
	agent_pid=
	[ "$rc" -eq 0 ] || fail "the agent ended with $rc"
}

peer_start() {
	python3 "$AGENT_HARNESS/agent_peer.py" "$AGENT_DIR" "$AGENT_DIR/script.json" &
	peer_pid=$!
}

peer_stop() {
	stop_pid "$peer_pid"
	peer_pid=
}

# script JSON: how the daemon answers from now on.
script() {
	echo "$1" >"$AGENT_DIR/script.new"
	mv "$AGENT_DIR/script.new" "$AGENT_DIR/script.json"
}

# until_ok SECONDS COMMAND...
until_ok() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -le "$end" ] || return 1
		sleep 0.05
	done
}

peer_has() {
	jq -e "$1" "$AGENT_DIR/peer.json" >/dev/null 2>&1
}

# expect JQ: the daemon's state comes to satisfy the expression.
expect() {
	until_ok 10 peer_has "$1" || fail "never: $1"
}

# what PART: a problem with that text is reported; no_problems: none is.
what() {
	expect "[.report.problems[].what | select(contains(\"$1\"))] | length > 0"
}

no_problems() {
	expect '.report.problems == []'
}

# put FILE: writes a manifest from stdin in one step, as an editor would.
put() {
	cat >"$AGENT_DIR/new"
	mv "$AGENT_DIR/new" "$AGENT_DIR/m/$1"
}

# pod NAME [NODE]: a Pod as YAML.
pod() {
	printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {nodeName: %s}\n---\n' \
		"$1" "${2:-n1}"
}
