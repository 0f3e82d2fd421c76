#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that building and testing need. Silent and quick when all are there.
set -euo pipefail

packages=(
	gcc clang llvm make pkg-config git clang-format
	libdpdk-dev libnl-3-dev libjson-c-dev libyaml-dev libevent-dev libcurl4-openssl-dev
	libcmocka-dev libxxhash-dev uthash-dev
	universal-ctags shellcheck python3 pyflakes3
	iproute2 iputils-ping iputils-arping ethtool iperf3 sockperf nftables
	containernetworking-plugins jq tcpdump strace netcat-openbsd procps
)

# The fuzzer's run-time library is named after the compiler release.
# shellcheck source=/dev/null
case "$(. /etc/os-release && echo "${VERSION_ID:-}")" in
12) packages+=(libclang-rt-14-dev) ;;
13) packages+=(libclang-rt-19-dev) ;;
esac

# Prints the packages that are not installed.
missing() {
	local installed
	installed=$(dpkg-query -W -f '${binary:Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
		sed -n 's/^\([^ :]*\)[^ ]* installed$/\1/p') || true
	comm -23 <(printf '%s\n' "$@" | sort) <(sort -u <<<"$installed")
}

mapfile -t need < <(missing "${packages[@]}")
if [ "${#need[@]}" -eq 0 ]; then
	exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "missing packages: ${need[*]}" >&2
	echo "run 'make deps' as root" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
# Another package manager may be at work; wait for it instead of failing.
apt=(apt-get -q -o DPkg::Lock::Timeout=600)
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends "${need[@]}"
