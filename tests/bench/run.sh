#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The comparison with peers; started by `make bench`, BENCH="tcp pps" runs parts. Prints a table,
# writes $BUILD/bench.json. Needs root; everything happens in namespaces of its own.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
export BUILD=${BUILD:?run it by make bench}
if [ "$(id -u)" -ne 0 ]; then
	echo "the bench needs root" >&2
	exit 1
fi
if [ "${1:-}" != inside ]; then
	exec unshare -nm ./run.sh inside
fi
mkdir -p /run/netns
mount -t tmpfs none /run/netns
ip link set lo up
# shellcheck disable=SC2086
exec python3 bench.py ${BENCH:-}
