#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs tests/smoke/NAME.py in a network and a mount namespace of its own, with an empty /run/netns:
#	exec harness/cni_box.sh NAME
set -euo pipefail

tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PYTHONPATH=$tests/harness PYTHONDONTWRITEBYTECODE=1
# shellcheck disable=SC2016
exec unshare -nm bash -c 'mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && exec "$@"' \
	box python3 "$tests/smoke/$1.py"
