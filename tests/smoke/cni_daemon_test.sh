#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sanitize
# The CNI binary with a weftd that is absent, silent, dying, stopped or refusing.
# timeout: 300
exec "$(dirname "${BASH_SOURCE[0]}")/../harness/cni_box.sh" cni_daemon
