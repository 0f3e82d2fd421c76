#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sanitize
# Delegation of addresses to other plugins.
exec "$(dirname "${BASH_SOURCE[0]}")/../harness/cni_box.sh" cni_ipam
