#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of code metrics: value, target, hard gate. Exit status 1 when a gate is broken.

metrics.py -v names what misses a target, too. Exceptions stand in metrics_allow.txt."""
import fnmatch
import os
import re
import subprocess
import sys

import commits
import csrc
import deps
import measure
import symbols
import text

ALLOW = os.path.join(csrc.ROOT, "tests/lint/metrics_allow.txt")
VERBOSE = "-v" in sys.argv[1:]
CHANGED_LAST = 100
NEEDS_TEST = re.compile(
    r"lib/|cni-plugin/|dataplane/(packet|core|flow|features)/|agent/(model|compile|sync)/")


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else 0


def read_allow():
    """{(metric, object)}; every entry carries a reason."""
    entries = set()
    if not os.path.exists(ALLOW):
        return entries
    with open(ALLOW, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) < 4:
                sys.exit(f"metrics_allow.txt:{number}: write 'METRIC OBJECT reason in words'")
            entries.add((words[0], words[1]))
    return entries


class Table:
    def __init__(self):
        self.rows, self.details, self.failed = [], [], 0
        self.allow = read_allow()

    def over_gate(self, metric, offenders):
        """Offenders that no entry of the allow-list excuses."""
        patterns = [name for kind, name in self.allow if kind == metric]
        return [o for o in offenders
                if not any(fnmatch.fnmatchcase(o.split(" ")[0], p) for p in patterns)]

    def row(self, name, value, target, gate="-", broken=(), missed=(), met=None):
        """broken: what breaks the gate; missed: what misses the target; met: target reached?"""
        if met is None:
            met = not missed and not broken
        state = "FAIL" if broken else "ok" if met else "miss"
        self.failed += bool(broken)
        self.rows.append((name, str(value), target, gate, state))
        self.details += [f"FAIL {name}: {item}" for item in broken]
        if VERBOSE:
            self.details += [f"miss {name}: {item}" for item in missed if item not in broken]

    def gated(self, name, metric, value, target, gate, offenders, met=True):
        self.row(name, value, target, gate, self.over_gate(metric, offenders), met=met)

    def show(self):
        head = ("metric", "value", "target", "gate", "")
        widths = [max(len(r[i]) for r in [head, *self.rows]) for i in range(5)]
        for row in [head, *self.rows]:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
        print("\n".join(self.details))


def function_rows(table, functions):
    lines = [f.lines for f in functions]
    p50, p90 = percentile(lines, .5), percentile(lines, .9)
    table.gated("function lines p50 / p90 / max", "function-lines",
                f"{p50} / {p90} / {max(lines, default=0)}", "15 / 40", "> 80",
                [f"{f.key} {f.lines}" for f in functions if f.lines > 80], p50 <= 15 and p90 <= 40)
    ccn = [f.ccn for f in functions]
    above = 100 * sum(c > 15 for c in ccn) / max(1, len(ccn))
    table.gated("CCN p90 / max; > 15", "ccn",
                f"{percentile(ccn, .9)} / {max(ccn, default=0)}; {above:.1f} %", "8; 0 %", "> 20",
                [f"{f.key} {f.ccn}" for f in functions if f.ccn > 20],
                percentile(ccn, .9) <= 8 and above == 0)
    depth = [f.nesting for f in functions]
    table.gated("nesting p90 / max", "nesting",
                f"{percentile(depth, .9)} / {max(depth, default=0)}", "3 / 4", "> 5",
                [f"{f.key} {f.nesting}" for f in functions if f.nesting > 5],
                percentile(depth, .9) <= 3 and max(depth, default=0) <= 4)
    many = [f"{f.key} {f.params}" for f in functions if f.params > 6]
    table.gated("functions with > 6 parameters", "params", len(many), "0", "> 7",
                [f"{f.key} {f.params}" for f in functions if f.params > 7], not many)
    gotos = 100 * sum(f.gotos > 0 for f in functions) / max(1, len(functions))
    table.gated("functions with goto; backward", "goto",
                f"{gotos:.1f} %; {sum(f.backward_gotos for f in functions)}", "3 %; 0",
                "backward >= 1", [f.key for f in functions if f.backward_gotos], gotos <= 3)


def file_rows(table, sources):
    size = {path: len(source.lines) for path, source in sources.items()}
    body = [n for path, n in size.items() if path.endswith(".c")]
    head = [n for path, n in size.items() if path.endswith(".h")]
    p50, p90 = percentile(body, .5), percentile(body, .9)
    table.gated(".c lines p50 / p90 / max", "file-lines", f"{p50} / {p90} / {max(body, default=0)}",
                "220 / 450 / 600", "> 800",
                [f"{p} {n}" for p, n in size.items() if p.endswith(".c") and n > 800],
                p50 <= 220 and p90 <= 450 and max(body, default=0) <= 600)
    table.gated(".h lines max", "file-lines", max(head, default=0), "-", "> 400",
                [f"{p} {n}" for p, n in size.items() if p.endswith(".h") and n > 400])
    share, blocks = measure.duplicates(sources)
    long_blocks = table.over_gate("duplicate", [f"{where} {n} lines" for n, where in blocks
                                                if n >= 20])
    table.row("10-line duplicates", f"{share:.1f} %", "1 %", "> 2 %; block >= 20",
              long_blocks + ([f"{share:.1f} %"] if share > 2 else []),
              [f"{where} {n} lines" for n, where in blocks], share <= 1)


def include_rows(table):
    errors, cycles = deps.check()
    table.row("include cycles", len(cycles), "0", ">= 1", [" ".join(c) for c in cycles])
    table.row("forbidden includes", len(errors), "0", ">= 1", errors)


def comment_rows(table, sources):
    total, bare = measure.contracts(sources)
    share = 100 * (total - len(bare)) / max(1, total)
    table.row("exported functions with contract", f"{share:.1f} %" if total else "-", "100 %",
              "< 95 %", bare if total and share < 95 else [], bare)
    headers = [s for p, s in sources.items() if p.endswith(".h")]
    plain = [s.path for s in headers if not measure.has_top_block(s)]
    table.row("headers with top block", f"{len(headers) - len(plain)} of {len(headers)}", "all",
              missed=plain)
    alone = code = 0
    for path, source in sources.items():
        if path.endswith(".c"):
            alone += sum(not source.code[n].strip() for n in source.comments if n > 0)
            code += source.code_lines()
    share = 100 * alone / max(1, alone + code)
    table.row("comment share of .c", f"{share:.1f} %", "6-15 %", met=6 <= share <= 15)


def shape_rows(table, sources):
    code = sum(source.code_lines() for source in sources.values())
    counts = [measure.conditionals(source) for source in sources.values()]
    rate = 1000 * sum(total for total, _ in counts) / max(1, code)
    inside = sum(number for _, number in counts)
    too_many = [f"{rate:.1f} per 1000 lines"] if rate > 2 and code > 1000 else []
    table.row("#if per 1000 lines; in functions", f"{rate:.1f}; {inside}", "1; 0", "> 2", too_many,
              met=rate <= 1 and not inside)
    found = measure.variables(sources)
    table.gated("changeable file-scope variables", "variable", len(found), "listed", "unlisted",
                found)
    open_ends = [f"{path}:{number}" for path in sources for number, what in text.check(path)
                 if "without an issue" in what]
    table.row("TODO without issue", len(open_ends), "0", ">= 1", open_ends)


def symbol_row(table):
    build = os.environ.get("BUILD", "build")
    errors, covered = symbols.check(build)
    value = f"{len(errors)} in {covered} objects" if covered else "not built"
    table.row("forbidden symbols in packet objects", value, "0", ">= 1", errors)


def test_of(path):
    """Where the test of a source file may stand."""
    name = os.path.basename(path)[:-2] + "_test.c"
    return (f"tests/unit/{path[:-2]}_test.c", f"tests/packet/{name}")


def test_rows(table, sources):
    tests = [csrc.Source(path).code_lines() for path in csrc.c_files("tests")]
    scripts = 0
    for path in csrc.walk("tests"):
        if path.endswith((".sh", ".py")) and not path.startswith("tests/lint/"):
            with open(os.path.join(csrc.ROOT, path), encoding="utf-8") as file:
                scripts += sum(bool(re.match(r"\s*[^\s#]", line)) for line in file)
    code = sum(source.code_lines() for source in sources.values())
    ratio = (sum(tests) + scripts) / max(1, code)
    table.row("test lines per code line", f"{ratio:.2f}", ">= 0.8", met=ratio >= 0.8)
    bare = [path for path in sources if path.endswith(".c") and NEEDS_TEST.match(path)
            and not path.startswith("dataplane/ctl/") and os.path.basename(path) != "main.c"
            and not any(os.path.exists(os.path.join(csrc.ROOT, t)) for t in test_of(path))]
    table.row("source files without unit test", len(bare), "0", missed=bare)


def is_code(path):
    return path.endswith((".c", ".h", ".def")) and not path.startswith("tests/")


def commit_rows(table):
    entries = commits.commits(CHANGED_LAST)
    if entries is None:
        table.row("commits", "no history", "-")
        return
    empty = [name for name, _, body in entries if commits.is_empty(body)]
    long_ones = [name for name, subject, _ in entries if len(subject) > commits.SUBJECT_MAX]
    table.row("commits: empty body; subject > 60", f"{len(empty)}; {len(long_ones)}", "0; 0",
              "empty >= 1", empty, long_ones)
    log = commits.git("log", f"-{CHANGED_LAST}", "--no-merges", "--numstat", "--format=@%h")
    sizes, with_code, with_both = [], 0, 0
    for entry in log.split("@")[1:]:
        rows = [line.split("\t") for line in entry.splitlines()[1:] if line.count("\t") == 2]
        paths = [row[2] for row in rows]
        sizes.append(sum(int(n) for row in rows for n in row[:2] if n.isdigit()))
        if any(map(is_code, paths)):
            with_code += 1
            with_both += any(path.startswith("tests/") for path in paths)
    share = 100 * with_both / max(1, with_code)
    table.row("commits: changed lines p50 / p90",
              f"{percentile(sizes, .5)} / {percentile(sizes, .9)}", "40 / 250",
              met=percentile(sizes, .5) <= 40 and percentile(sizes, .9) <= 250)
    table.row("code commits that touch tests", f"{share:.0f} %" if with_code else "-", ">= 60 %",
              met=share >= 60)


def main():
    sources = {path: csrc.Source(path) for path in csrc.c_files()}
    table = Table()
    function_rows(table, measure.functions(sources))
    file_rows(table, sources)
    include_rows(table)
    comment_rows(table, sources)
    shape_rows(table, sources)
    symbol_row(table)
    test_rows(table, sources)
    commit_rows(table)
    table.show()
    print(f"{len(table.rows)} metrics, {table.failed} hard gates broken")
    return 1 if table.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error.cmd[0]}: {error.stderr}")
