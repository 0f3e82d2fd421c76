#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks of the text: licence line, width, banned calls, open ends, paths of one machine."""
import os
import re
import sys

import csrc

WIDTH = 100
TAB = 8
SPDX = "SPDX-License-Identifier: Apache-2.0"
C_LIKE = (".c", ".h", ".def")
SCRIPT = (".sh", ".py", ".mk", ".yaml", ".yml")
PROSE = (".md", ".txt", ".json", ".conflist")

# Call -> what to use. Each has put a hole into some C program of this kind.
BANNED = {
    "strcpy": "a buffer with its size", "strcat": "a buffer with its size",
    "sprintf": "snprintf", "vsprintf": "vsnprintf", "gets": "fgets",
    "strtok": "strtok_r or strchr", "atoi": "a parser that reports errors",
    "atol": "a parser that reports errors", "alloca": "a fixed array or the heap",
    "system": "posix_spawn with arguments", "popen": "posix_spawn with arguments",
    "rand": "getrandom", "srand": "getrandom",
}
CALL = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")
OPEN_END = re.compile(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))")
MACHINE = re.compile(r"(?<![\w./$}*-])/(?:" + "|".join(("home", "Users", "work")) + r")/\w")


def is_script(path):
    name = os.path.basename(path)
    return path.endswith(SCRIPT) or name == "Makefile" or path == ".ci/run"


def check_licence(path, lines):
    head = lines[:1] if path.endswith(C_LIKE) else lines[:3]
    prefix = "// " if path.endswith(C_LIKE) else "# "
    if prefix + SPDX not in head:
        yield 1, f"'{prefix}{SPDX}' is missing at the top"


def check_lines(lines, columns):
    for number, line in enumerate(lines, 1):
        if columns and len(line.expandtabs(TAB)) > WIDTH:
            yield number, f"longer than {WIDTH} columns"
        if line != line.rstrip() and columns:
            yield number, "white space at the end of the line"
        if MACHINE.search(line):
            yield number, "a path that exists on one machine only"


def check_c(path):
    source = csrc.Source(path)
    for number, line in enumerate(source.code, 1):
        match = CALL.search(line)
        if match:
            yield number, f"{match.group(1)}() is banned; use {BANNED[match.group(1)]}"
    for number in sorted(source.comments):
        match = OPEN_END.search(source.lines[number])
        if match:
            yield number + 1, f"{match.group(1)} without an issue: write {match.group(1)}(#N)"


def check(path):
    code = path.endswith(C_LIKE) or is_script(path)
    if not code and not path.endswith(PROSE) or "/corpus/" in path:
        return
    with open(os.path.join(csrc.ROOT, path), encoding="utf-8", errors="replace") as file:
        lines = file.read().split("\n")
    if lines[-1]:
        yield len(lines), "no newline at the end"
    if code:
        yield from check_licence(path, lines)
    # The rows of an X-macro table stay whole.
    yield from check_lines(lines, code and not path.endswith(".def"))
    if path.endswith((".c", ".h")):
        yield from check_c(path)


def main():
    errors = [f"{path}:{number}: {text}" for path in csrc.walk() for number, text in check(path)]
    print("\n".join(errors) or "text is clean")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
