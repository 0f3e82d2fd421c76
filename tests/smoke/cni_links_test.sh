#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sanitize
# ADD, CHECK and DEL in real namespaces.
exec "$(dirname "${BASH_SOURCE[0]}")/../harness/cni_box.sh" cni_links
