#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/api.md and tests/fuzz/msg.dict from lib/api/messages.def (and, for what the list does
not hold, lib/api/objects.md); with --check it fails when one of them is stale."""
import os
import re
import sys

import csrc

TABLE = os.path.join(csrc.ROOT, "lib/api/messages.def")
OBJECTS = os.path.join(csrc.ROOT, "lib/api/objects.md")
PAGE = os.path.join(csrc.ROOT, "docs/api.md")
DICT = os.path.join(csrc.ROOT, "tests/fuzz/msg.dict")

ENTRY = re.compile(r"^(MSG_BEGIN|REQ|REP|MSG_END)\((.*)\)(?: // (.*))?$")
ARGUMENT = re.compile(r'"([^"]*)"|(\w+)')
TYPES = {
    "STRING": "string", "BOOL": "boolean", "INT": "integer", "ARRAY": "array", "OBJECT": "object",
    "ADDR": "address", "PREFIX": "prefix", "MAC": "MAC address",
}
INTRO = """# Control socket

`weftd` listens on `RUN_DIR/weftd.sock` (mode 0600, folder 0700; only user 0 is served). It speaks
JSON: one object a line, at most 1 MiB with its newline, UTF-8. `weft`, `weft-agent` and `weftctl`
are its clients, `lib/api` is the code for both sides. This page is made from `lib/api/messages.def`
and `lib/api/objects.md` by `tests/lint/apidoc.py`.

- A request is `{"type": NAME, "id": N, ...}`; `id` is optional and comes back in the reply. Each
  request gets exactly one reply, in order: `{"ok": true, "id": N, ...}` or
  `{"ok": false, "id": N, "error": {"code": CODE, "msg": "...", "details": "..."}}` with a CNI error
  code.
- `hello` comes first and settles the version.
- Fields are checked before anything is done: a missing one, a wrong type, a text that is no
  address, a string of more than 1024 bytes or with control characters is code 7, and the text names
  the field. `null` is the same as absent. Unknown fields are ignored.
- Addresses stand without prefix length, prefixes as `ADDRESS/LENGTH`, MAC addresses as
  `aa:bb:cc:dd:ee:ff`.
- A file descriptor travels beside the first byte of a line (SCM_RIGHTS), at most 4 at a time.
- Requests count against a rate per client, except those marked cheap.

"""


def arguments(text):
    return [quoted or word for quoted, word in ARGUMENT.findall(text)]


def messages():
    """[(name, cheap, help, [request field], [reply field], note)]; fields are argument lists."""
    found = []
    with open(TABLE, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = ENTRY.match(line.rstrip("\n"))
            if not match:
                if line.strip() and not line.startswith("//"):
                    sys.exit(f"{TABLE}:{number}: not one entry on one line")
                continue
            kind, args = match.group(1), arguments(match.group(2))
            if kind == "MSG_BEGIN":
                found.append([args[1], args[2] == "CHEAP", args[3], [], [], ""])
            elif kind == "MSG_END":
                found[-1][5] = match.group(3) or ""
            else:
                found[-1][3 if kind == "REQ" else 4].append(args)
    return found


def request_table(rows):
    if not rows:
        return "The request has no fields.\n"
    out = ["| request field | type | need | meaning |\n|---|---|---|---|\n"]
    out += [f"| `{name}` | {TYPES[kind]} | {need.lower()} | {what} |\n"
            for name, kind, need, what in rows]
    return "".join(out)


def reply_table(rows):
    if not rows:
        return "The reply has no fields.\n"
    out = ["| reply field | type | meaning |\n|---|---|---|\n"]
    out += [f"| `{name}` | {TYPES[kind]} | {what} |\n" for name, kind, what in rows]
    return "".join(out)


def page():
    out = [INTRO, "## Messages\n"]
    for name, cheap, what, request, reply, note in messages():
        out.append(f"\n### {name}\n\n{what[0].upper()}{what[1:]}.{' Cheap.' if cheap else ''}"
                   f"{f' {note[0].upper()}{note[1:]}.' if note else ''}\n\n")
        out.append(request_table(request) + "\n" + reply_table(reply))
    with open(OBJECTS, encoding="utf-8") as file:
        return "".join(out) + "\n" + file.read()


def dictionary():
    words = {'\\"type\\"', '\\"id\\"', "true", "false", "null"}
    for name, _, _, request, _, _ in messages():
        words.add(f'\\"{name}\\"')
        words.update(f'\\"{field[0]}\\"' for field in request)
    return ("# SPDX-License-Identifier: Apache-2.0\n# Made from lib/api/messages.def by "
            "tests/lint/apidoc.py.\n" + "".join(f'"{word}"\n' for word in sorted(words)))


def main():
    stale = 0
    for path, text in ((PAGE, page()), (DICT, dictionary())):
        if sys.argv[1:] != ["--check"]:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            continue
        try:
            with open(path, encoding="utf-8") as file:
                fresh = file.read() == text
        except FileNotFoundError:
            fresh = False
        name = os.path.relpath(path, csrc.ROOT)
        print(f"{name} is current" if fresh else f"{name} is stale: run tests/lint/apidoc.py")
        stale += not fresh
    return int(stale > 0)


if __name__ == "__main__":
    sys.exit(main())
