#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An ADD that is killed at each of its system calls, and a weftd that is killed, leave nothing.
# timeout: 300
[ -x "$BUILD/weftd" ] || { echo "needs weftd"; exit 77; }
strace -o /dev/null true 2>/dev/null || { echo "needs strace"; exit 77; }
exec "$(dirname "${BASH_SOURCE[0]}")/../harness/cni_box.sh" cni_kill
