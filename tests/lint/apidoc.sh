#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails when docs/api.md or the fuzz dictionary no longer say what lib/api/messages.def says.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/apidoc.py" --check
