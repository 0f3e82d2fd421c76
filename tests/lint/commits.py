#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Subjects and bodies of the last commits."""
import re
import subprocess
import sys

import csrc

LAST = 100
SUBJECT_MAX = 60
SUBJECT = re.compile(r"[a-z0-9.][\w./+-]*(, ?[a-z][\w./+-]*)*: (?![A-Z][a-z])\S")
TRAILER = re.compile(r"^[A-Z][\w-]*-by: |^Fixes: |^$")


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=csrc.ROOT, capture_output=True, text=True,
                          check=False)
    return done.stdout if done.returncode == 0 else None


def commits(last=LAST):
    """[(short hash, subject, body)] without merges, newest first; None without a history."""
    text = git("log", f"-{last}", "--no-merges", "--format=%h%x00%s%x00%b%x01")
    if text is None:
        return None
    return [tuple(entry.strip("\n").split("\0")) for entry in text.split("\1") if entry.strip()]


def is_empty(body):
    return all(TRAILER.match(line) for line in body.split("\n"))


def check(entries):
    for name, subject, body in entries:
        if len(subject) > SUBJECT_MAX:
            yield f"{name}: subject has {len(subject)} characters, {SUBJECT_MAX} are allowed"
        if not SUBJECT.match(subject) or subject.endswith("."):
            yield f"{name}: subject is not 'area: imperative lower-case': {subject}"
        if is_empty(body):
            yield f"{name}: no body: say what was wrong and why this way"


def main():
    entries = commits()
    if entries is None:
        print("no git history here")
        return 77
    errors = list(check(entries))
    print("\n".join(errors) or f"{len(entries)} commits are fine")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
