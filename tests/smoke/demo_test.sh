#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sanitize
# The demo as a test.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
BUILD=$(realpath "$BUILD") exec demo/demo.sh
