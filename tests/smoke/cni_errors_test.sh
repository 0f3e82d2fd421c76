#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sanitize
# Answers of the CNI binary to bad environment and stdin, beside those of a stock plugin.
exec "$(dirname "${BASH_SOURCE[0]}")/../harness/cni_box.sh" cni_errors
