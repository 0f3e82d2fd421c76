# SPDX-License-Identifier: Apache-2.0
"""C sources as the checks see them: lines, code without comments, includes, functions."""
import json
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PRODUCT = ("lib", "cni-plugin", "dataplane", "agent")
SKIP_DIRS = re.compile(r"^(\.git|build.*|__pycache__|node_modules)$")

_TOKEN = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'""", re.S | re.X)
_INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def walk(*tops):
    """Paths of all files below the folders (default: the whole tree), relative to the root."""
    for top in tops or (".",):
        for folder, dirs, names in os.walk(os.path.join(ROOT, top)):
            dirs[:] = sorted(d for d in dirs if not SKIP_DIRS.match(d))
            for name in sorted(names):
                path = os.path.join(folder, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    yield os.path.relpath(path, ROOT)


def c_files(*tops):
    return [p for p in walk(*(tops or PRODUCT)) if p.endswith((".c", ".h"))]


class Source:
    """One C file. lines[i] is the text, code[i] the same without comments and string contents,
    and i in comments says that a comment stands on the line; all three count from 0."""

    def __init__(self, path):
        self.path = path
        with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
            text = file.read()
        self.lines = text.splitlines()
        self.comments = set()
        self.code = _TOKEN.sub(lambda m: self._blank(text, m), text).splitlines()
        self.code += [""] * (len(self.lines) - len(self.code))

    def _blank(self, text, match):
        token = match.group(0)
        if token[0] != "/":
            return token[0] * 2
        first = text.count("\n", 0, match.start())
        self.comments.update(range(first, first + token.count("\n") + 1))
        return "\n" * token.count("\n")

    def includes(self):
        """(line number, quoted?, name) of each include, in order."""
        found = []
        for number, line in enumerate(self.lines, 1):
            match = _INCLUDE.match(line)
            if match:
                found.append((number, match.group(1) == '"', match.group(2)))
        return found

    def code_lines(self):
        return sum(1 for line in self.code if line.strip())


def attribute_macros():
    """Names that lib/base defines as attributes; ctags must look through them."""
    names = []
    for path in c_files("lib/base"):
        for line in Source(path).lines:
            match = re.match(r"#define\s+(\w+)(\([^)]*\))?\s+__attribute__", line)
            if match:
                names.append(match.group(1) + ("+" if match.group(2) else ""))
    return names


def tags(paths, kinds):
    """What ctags finds: dicts with path, name, kind, line, and end and signature of functions."""
    if not paths:
        return []
    command = ["ctags", "--languages=C", "--langmap=C:.c.h", "--c-kinds=" + kinds,
               "--fields=+neSK", "--output-format=json", "-f", "-", "-L", "-"]
    for name in attribute_macros():
        command += ["-I", name]
    done = subprocess.run(command, input="\n".join(paths), cwd=ROOT, text=True,
                          capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def components(graph):
    """Knots (strongly connected components of more than one node) of {node: set of nodes}."""
    order, seen = [], set()
    reverse = {}
    for node, targets in graph.items():
        for target in targets:
            reverse.setdefault(target, set()).add(node)

    def visit(start, edges, out):
        stack = [(start, iter(sorted(edges.get(start, ()))))]
        seen.add(start)
        while stack:
            node, rest = stack[-1]
            for target in rest:
                if target not in seen:
                    seen.add(target)
                    stack.append((target, iter(sorted(edges.get(target, ())))))
                    break
            else:
                stack.pop()
                out.append(node)

    for node in sorted(graph):
        if node not in seen:
            visit(node, graph, order)
    seen.clear()
    knots = []
    for node in reversed(order):
        if node not in seen:
            group = []
            visit(node, reverse, group)
            if len(group) > 1:
                knots.append(sorted(group))
    return knots
