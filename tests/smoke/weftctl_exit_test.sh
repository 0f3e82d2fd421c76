#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sanitize
# Exit status and streams of weftctl where there is no daemon, and of wrong command lines.
set -euo pipefail

ctl=$BUILD/weftctl
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# expect STATUS STDOUT-PART STDERR-PART ARGS...
expect() {
	local want=$1 out=$2 err=$3 rc=0
	shift 3
	"$ctl" --run-dir "$dir" "$@" >"$dir/out" 2>"$dir/err" || rc=$?
	if [ "$rc" -ne "$want" ] || [[ $(cat "$dir/out") != *"$out"* ]] ||
		[[ $(cat "$dir/err") != *"$err"* ]]; then
		echo "weftctl $*: status $rc, wanted $want"
		cat "$dir/out" "$dir/err"
		exit 1
	fi
}

# empty FILE: nothing was printed there.
empty() {
	if [ -s "$1" ]; then
		echo "unexpected output:"
		cat "$1"
		exit 1
	fi
}

expect 0 "usage: weftctl" "" --help
empty "$dir/err"
expect 0 "uninstall-node" "" help
expect 0 "weftctl pod" "" pod --help
expect 2 "" "which object"
expect 2 "" 'unknown object `pods`' pods
expect 2 "" 'not in this release' why a b tcp:80
expect 2 "" 'not in this release' ct
expect 2 "" "exclude each other" -4 -6 pod
expect 2 "" "needs a value" pod --run-dir
expect 2 "" 'unknown argument `x`' status x
empty "$dir/out"
expect 3 "state      down" "" status
expect 3 '"state":"down"' "" -j status
jq -e '.api_version == 1 and (.problems | length) == 1 and (.agent.connected | not)' \
	"$dir/out" >/dev/null
expect 3 "" "weftd.sock" pod
expect 3 '"error"' "weftd.sock" -j pod
jq -e .api_version "$dir/out" >/dev/null
expect 3 "does not answer" "" version

# A stale socket file, and one that is a plain file.
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$dir/weftd.sock"
expect 3 "state      down" "" status
rm "$dir/weftd.sock"
: >"$dir/weftd.sock"
expect 3 "state      down" "" status

# Nobody reads: an error, not a crash.
rc=0
"$ctl" --help >/dev/full 2>/dev/null || rc=$?
[ "$rc" -eq 1 ]
echo ok
