#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Objects of the packet path must not need the heap, locks, logs or system calls (tokens.txt)."""
import fnmatch
import os
import re
import subprocess
import sys

import csrc

TABLE = os.path.join(csrc.ROOT, "tests/lint/tokens.txt")


def read_table():
    """(sets, [(object pattern, set names)], [(object pattern, symbol)])"""
    sets, deny, allow = {}, [], []
    with open(TABLE, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            head, _, rest = line.partition(": ")
            words = head.split()
            if not rest.strip():
                sys.exit(f"{TABLE}:{number}: nothing after the colon")
            if words[0] == "set":
                sets[words[1]] = re.compile("|".join(f"(?:{w})" for w in rest.split()))
            elif words[0] == "deny":
                deny.append((words[1], rest.split()))
            elif words[0] == "allow":
                allow.append((words[1], words[2]))
            else:
                sys.exit(f"{TABLE}:{number}: unknown word {words[0]}")
    return sets, deny, allow


def undefined(path):
    done = subprocess.run(["nm", "-u", path], capture_output=True, text=True, check=True)
    return [line.split()[-1].split("@")[0] for line in done.stdout.splitlines() if line.strip()]


def check_object(folder, name, table):
    sets, deny, allow = table
    for pattern, groups in deny:
        if not fnmatch.fnmatchcase(name, pattern):
            continue
        for symbol in undefined(os.path.join(folder, name)):
            bad = [g for g in groups if sets[g].fullmatch(symbol)]
            if bad and not any(fnmatch.fnmatchcase(name, p) and s == symbol for p, s in allow):
                yield f"{name}: needs {symbol} ({bad[0]})"


def check(build):
    """(errors, number of objects that a rule covers)"""
    table, errors, covered = read_table(), [], 0
    folder = os.path.join(csrc.ROOT, build, "obj")
    for place, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(place, name), folder)
            source = os.path.join(csrc.ROOT, path[:-2] + ".c")
            # An object whose source is gone says nothing about the tree.
            if not name.endswith(".o") or not os.path.exists(source):
                continue
            covered += any(fnmatch.fnmatchcase(path, pattern) for pattern, _ in table[1])
            errors += check_object(folder, path, table)
    return errors, covered


def main():
    errors, covered = check(sys.argv[1] if len(sys.argv) > 1 else "build")
    print("\n".join(errors) or f"{covered} objects of the packet path are clean")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
