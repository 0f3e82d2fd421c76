#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs test suites: run.sh all|unit|smoke|fuzz|lint. Started by make, which sets BUILD, SANITIZE, T
# and FUZZ_SECONDS. One line per test; logs stay below $BUILD/test-logs; the last line is the sum.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
MAKE=${MAKE:-make}
CC=${CC:-gcc}
BUILD=${BUILD:-build}
SANITIZE=${SANITIZE:-}
T=${T:-}
FUZZ_SECONDS=${FUZZ_SECONDS:-5}
TEST_TIMEOUT=${TEST_TIMEOUT:-120}
TAIL_LINES=30

passed=0
failed=0
skipped=0
logs=$BUILD/test-logs
# The builds below choose their own number of jobs; variables of the command line stay.
case ${MAKEFLAGS:-} in
*'-- '*) MAKEFLAGS=${MAKEFLAGS#*-- } ;;
*) MAKEFLAGS= ;;
esac
unset MFLAGS
export CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=1:detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/tests/lsan.supp:print_suppressions=0}

# report pass|fail|skip NAME [DETAIL]
report() {
	case $1 in
	pass) passed=$((passed + 1)) ;;
	fail) failed=$((failed + 1)) ;;
	skip) skipped=$((skipped + 1)) ;;
	esac
	printf '%s %s%s\n' "${1^^}" "$2" "${3:+: $3}"
}

# show_tail LOG
show_tail() {
	[ -f "$1" ] || return 0
	echo "----- tail of $1"
	tail -n "$TAIL_LINES" "$1"
	echo "-----"
}

# new_log NAME: prints the path of an empty log file for a test of that name.
new_log() {
	local log=$logs/$1.log
	mkdir -p "$(dirname "$log")"
	: >"$log"
	echo "$log"
}

# build DIR SANITIZE TARGET...: builds on after errors; the caller looks at what exists.
build() {
	local dir=$1 sanitize=$2
	shift 2
	"$MAKE" --no-print-directory -k -j"$(nproc)" CC="$CC" BUILD="$dir" SANITIZE="$sanitize" "$@"
}

# selected NAME: does T choose this test? T is a name or a folder of names.
selected() {
	[ -z "$T" ] || [ "$1" = "$T" ] || [[ $1 == "$T"/* ]]
}

# run_check NAME COMMAND...: one pass or fail by exit status; 77 skips.
run_check() {
	local name=$1 log rc=0
	shift
	log=$(new_log "$name")
	"$@" >"$log" 2>&1 </dev/null || rc=$?
	case $rc in
	0) report pass "$name" ;;
	77) report skip "$name" "$(grep -v '^$' "$log" | tail -n 1)" ;;
	*)
		report fail "$name" "exit status $rc"
		show_tail "$log"
		;;
	esac
}

# count_tap NAME LOG RC: adds up the functions of one cmocka program.
count_tap() {
	local name=$1 log=$2 rc=$3 ok bad skip line
	ok=$(grep -c '^ok ' "$log") || true
	skip=$(grep -c '^not ok [0-9]* # SKIP' "$log") || true
	bad=$(($(grep -c '^not ok [0-9]' "$log" || true) - skip))
	# A crash leaves no "not ok" line behind, and a program may fail after its last test.
	if [ "$rc" -ne 0 ] && [ "$bad" -eq 0 ]; then
		bad=1
	elif [ "$rc" -eq 0 ] && [ $((ok + bad + skip)) -eq 0 ]; then
		ok=1
	fi
	passed=$((passed + ok))
	failed=$((failed + bad))
	skipped=$((skipped + skip))
	if [ "$bad" -gt 0 ]; then
		echo "FAIL $name: $bad of $((ok + bad + skip)) failed, exit status $rc"
		show_tail "$log"
	else
		echo "PASS $name ($ok)"
	fi
	# The reason stands in the line that the test printed before it gave up.
	while read -r line; do
		echo "SKIP $name/$line"
	done < <(awk '/^not ok [0-9]+ # SKIP/ { sub(/^.*SKIP /, ""); print $0 ": " last }
		{ last = $0 }' "$log")
}

# build_tests DIR SANITIZE LOG TARGET...: prints the targets that are not up to date afterwards, so
# that a binary of an earlier build cannot stand in for one that fails to build now.
build_tests() {
	local dir=$1 sanitize=$2 log=$3 target
	shift 3
	if build "$dir" "$sanitize" "$@" >"$log" 2>&1; then
		return
	fi
	for target in "$@"; do
		build "$dir" "$sanitize" -q "$target" >/dev/null 2>&1 || echo "$target"
	done
	show_tail "$log" >&2
}

# run_unit DIR SANITIZE
run_unit() {
	local dir=$1 sanitize=$2 tag=${2:+-asan} src name log rc target stale
	local -a names=() targets=()
	while read -r src; do
		name=${src#tests/}
		name=${name#unit/}
		name=${name%_test.c}
		if selected "$name"; then
			names+=("$name")
			targets+=("$dir/${src%.c}")
		fi
	done < <(find tests/unit tests/packet -name '*_test.c' 2>/dev/null | sort)
	if [ ${#targets[@]} -eq 0 ]; then
		[ -z "$T" ] || report fail "unit$tag/$T" "no such test"
		return
	fi
	stale=$(build_tests "$dir" "$sanitize" "$(new_log "build-unit$tag")" "${targets[@]}")
	for target in "${targets[@]}"; do
		name=${names[0]}
		names=("${names[@]:1}")
		if grep -qxF "$target" <<<"$stale"; then
			report fail "unit$tag/$name" "does not build"
			continue
		fi
		log=$(new_log "unit$tag/$name")
		rc=0
		timeout -k 5 "$TEST_TIMEOUT" "$target" >"$log" 2>&1 </dev/null || rc=$?
		count_tap "unit$tag/$name" "$log" "$rc"
	done
}

# run_script DIR NAME FILE TAG
run_script() {
	local dir=$1 name=$2 file=$3 tag=$4 limit start
	limit=$(sed -n '1,5s/^# timeout: *//p' "$file")
	start=$SECONDS
	run_check "smoke${tag:+-$tag}/$name" env BUILD="$(realpath "$dir")" \
		timeout -k 5 "${limit:-$TEST_TIMEOUT}" bash "$file"
	if [ $((SECONDS - start)) -ge 30 ]; then
		echo "     took $((SECONDS - start)) s"
	fi
}

# run_smoke DIR all|sanitize TAG
run_smoke() {
	local dir=$1 which=$2 tag=$3 file name
	for file in tests/smoke/*_test.sh; do
		[ -e "$file" ] || continue
		name=$(basename "$file" _test.sh)
		selected "$name" || continue
		if [ "$which" = sanitize ] && ! sed -n '1,3p' "$file" | grep -q '^# sanitize'; then
			continue
		fi
		if [ "$(id -u)" -ne 0 ]; then
			report skip "smoke/$name" "needs root"
			continue
		fi
		run_script "$dir" "$name" "$file" "$tag"
	done
}

# fuzz_one BINARY NAME DIR: known inputs first, then new ones for FUZZ_SECONDS.
fuzz_one() {
	local seeds=tests/fuzz/corpus/$2 found=$3/corpus/$2
	local -a options=(-timeout=10 -rss_limit_mb=1024 -artifact_prefix="$3/test-logs/$2-")
	local -a corpora=("$found")
	mkdir -p "$found" "$3/test-logs"
	if [ -e "tests/fuzz/$2.dict" ]; then
		options+=(-dict="tests/fuzz/$2.dict")
	fi
	if [ -d "$seeds" ]; then
		corpora+=("$seeds")
		"$1" "${options[@]}" -runs=0 "$seeds" || return
	fi
	"$1" "${options[@]}" -max_total_time="$FUZZ_SECONDS" "${corpora[@]}"
}

# Targets run side by side, one per processor; each leaves its exit status in a file.
run_fuzz() {
	local dir=$BUILD-fuzz src name log stale rc
	local -a names=()
	for src in tests/fuzz/*_fuzz.c; do
		name=$(basename "$src" _fuzz.c)
		if [ -e "$src" ] && selected "$name"; then
			names+=("$name")
		fi
	done
	[ ${#names[@]} -gt 0 ] || return 0
	local -a targets=("${names[@]/#/$dir/tests/fuzz/}")
	targets=("${targets[@]/%/_fuzz}")
	stale=$(CC=clang build_tests "$dir" fuzz "$(new_log build-fuzz)" "${targets[@]}")
	for name in "${names[@]}"; do
		log=$(new_log "fuzz/$name")
		echo 125 >"$log.rc"
		if grep -qxF "$dir/tests/fuzz/${name}_fuzz" <<<"$stale"; then
			continue
		fi
		while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
			wait -n || true
		done
		{
			rc=0
			fuzz_one "$dir/tests/fuzz/${name}_fuzz" "$name" "$dir" >"$log" 2>&1 || rc=$?
			echo "$rc" >"$log.rc"
		} &
	done
	wait
	for name in "${names[@]}"; do
		log=$logs/fuzz/$name.log
		rc=$(cat "$log.rc")
		if [ "$rc" -eq 0 ]; then
			report pass "fuzz/$name" "$(find "$dir/corpus/$name" -type f | wc -l) new"
		elif [ "$rc" -eq 125 ]; then
			report fail "fuzz/$name" "does not build"
		else
			report fail "fuzz/$name" "exit status $rc, input in $dir/test-logs"
			show_tail "$log"
		fi
	done
}

scripts() {
	find .ci tests deploy -name "$1" -type f 2>/dev/null
	[ "$1" != '*.sh' ] || echo .ci/run
}

check_shell() {
	scripts '*.sh' | xargs shellcheck --severity=warning
}

check_python() {
	scripts '*.py' | xargs pyflakes3
}

run_lint() {
	local other=clang
	[ "$CC" != clang ] || other=gcc
	run_check "lint/$CC" build "$BUILD" "$SANITIZE" objects headers
	CC=$other run_check "lint/$other" build "$BUILD-$other" "" objects headers
	run_check lint/deps tests/lint/deps.py
	run_check lint/text tests/lint/text.py
	run_check lint/symbols tests/lint/symbols.py "$BUILD"
	run_check lint/apidoc tests/lint/apidoc.sh
	run_check lint/shell check_shell
	run_check lint/python check_python
	run_check lint/commits tests/lint/commits.py
}

run_all() {
	run_check build/programs build "$BUILD" "" all tools
	run_check build/asan build "$BUILD-asan" 1 all tools
	run_unit "$BUILD" ""
	run_unit "$BUILD-asan" 1
	run_smoke "$BUILD" all ""
	run_smoke "$BUILD-asan" sanitize asan
	run_fuzz
	run_lint
	run_check lint/metrics tests/lint/metrics.py
	sed -n '/./p' "$logs/lint/metrics.log"
}

build_programs() {
	run_check build/programs build "$BUILD" "$SANITIZE" all tools
}

mkdir -p "$logs"
case ${1:-all} in
all) run_all ;;
unit) run_unit "$BUILD" "$SANITIZE" ;;
smoke)
	build_programs
	run_smoke "$BUILD" all "${SANITIZE:+asan}"
	;;
fuzz) run_fuzz ;;
lint) run_lint ;;
*)
	echo "usage: run.sh all|unit|smoke|fuzz|lint" >&2
	exit 2
	;;
esac
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
