#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/drops.md from dataplane/packet/drop.def; with --check it fails when that is stale."""
import os
import re
import sys

import csrc

TABLE = os.path.join(csrc.ROOT, "dataplane/packet/drop.def")
PAGE = os.path.join(csrc.ROOT, "docs/drops.md")

ENTRY = re.compile(
    r'^DROP\((\w+),\s*"([^"]*)",\s*(RX|TX),\s*((?:"[^"]*"\s*)+)\)$|^// ([a-z][^\n]*)$', re.M)
INTRO = """# Why a frame was dropped

`weftctl drop` lists what was dropped, by reason and port. Reasons of the receive side are counted
on the port that the frame came from, those of the transmit side on the port that it was to leave
by.
This page is made from `dataplane/packet/drop.def` by `tests/lint/drops.py`.
"""
HEAD = "| reason | what happened, and what to do |\n|---|---|\n"


def entries(text):
    """(section, None, None) and (None, name, help) in the order of the table."""
    body = text[text.index("\n\n"):]
    for match in ENTRY.finditer(body):
        _, name, _, texts, section = match.groups()
        if section:
            yield section, None, None
        else:
            yield None, name, "".join(re.findall(r'"([^"]*)"', texts))


def page(text):
    out, count = [INTRO], 0
    for section, name, what in entries(text):
        if section:
            out.append(f"\n## {section[0].upper()}{section[1:]}\n\n{HEAD}")
        else:
            out.append(f"| `{name}` | {what} |\n")
            count += 1
    if count != len(re.findall(r"^DROP\(", text, re.M)):
        sys.exit(f"{TABLE}: an entry does not have the form DROP(ID, \"name\", RX or TX, \"text\")")
    return "".join(out)


def main():
    with open(TABLE, encoding="utf-8") as file:
        want = page(file.read())
    if sys.argv[1:] == ["--check"]:
        with open(PAGE, encoding="utf-8") as file:
            stale = file.read() != want
        print("docs/drops.md is stale: run tests/lint/drops.py" if stale else "drops.md is current")
        return int(stale)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(want)
    return 0


if __name__ == "__main__":
    sys.exit(main())
