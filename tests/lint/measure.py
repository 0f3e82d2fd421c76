# SPDX-License-Identifier: Apache-2.0
"""Numbers about functions, headers, variables and repeated blocks; metrics.py judges them."""
import re
from dataclasses import dataclass

import csrc

DUP_WINDOW = 10
# A line that ends so ends a declaration or a directive.
ENDS = ',;}{#>"'
_BRANCH = re.compile(r"\b(?:if|for|while|case)\b|&&|\|\||\?")
# A brace after one of these opens a list of values and no block.
_VALUE_BEFORE = re.compile(r"(?:[=,(\[{]|\breturn)\s*(?:\([\w\s*\[\]]+\)\s*)?$")


@dataclass
class Function:
    path: str
    name: str
    lines: int
    ccn: int
    nesting: int
    params: int
    gotos: int
    backward_gotos: int

    @property
    def key(self):
        return f"{self.path}:{self.name}"


def count_params(signature):
    inner = signature.strip()[1:-1].strip()
    if inner in ("", "void"):
        return 0
    depth = commas = 0
    for char in inner:
        depth += (char in "([{") - (char in ")]}")
        commas += char == "," and depth == 0
    return commas + 1


def nesting(text):
    """Depth of blocks; the body is 1. Braces of initializers do not count."""
    stack, deepest = [], 0
    for match in re.finditer(r"[{}]", text):
        if match.group() == "}":
            if stack:
                stack.pop()
            continue
        before = text[max(0, match.start() - 120):match.start()].rstrip()
        in_values = bool(stack) and not stack[-1]
        block = not in_values and not (stack and _VALUE_BEFORE.search(before)
                                       and not before.endswith("{"))
        # `({` is a statement expression, a block after all.
        if stack and before.endswith("(") and not in_values:
            block = True
        stack.append(block)
        deepest = max(deepest, sum(stack))
    return deepest


def backward_gotos(body):
    labels = {}
    for number, line in enumerate(body):
        match = re.match(r"\s*(\w+)\s*:(?!:)", line)
        if match and match.group(1) != "default":
            labels.setdefault(match.group(1), number)
    return sum(labels.get(name, number) < number
               for number, line in enumerate(body) for name in re.findall(r"\bgoto\s+(\w+)", line))


def functions(sources):
    found = []
    for tag in csrc.tags(list(sources), "f"):
        if "end" not in tag:
            continue
        body = sources[tag["path"]].code[tag["line"] - 1:tag["end"]]
        text = "\n".join(body)
        found.append(Function(
            path=tag["path"], name=tag["name"], lines=len(body), ccn=1 + len(_BRANCH.findall(text)),
            nesting=nesting(text), params=count_params(tag.get("signature", "()")),
            gotos=len(re.findall(r"\bgoto\b", text)), backward_gotos=backward_gotos(body)))
    return found


def has_contract(source, line):
    """Does a comment head the paragraph in which the declaration on this line stands?"""
    number = line - 1
    while number >= 0 and source.lines[number].strip():
        if number in source.comments and not source.lines[number].startswith("// SPDX"):
            return True
        number -= 1
    return False


def contracts(sources):
    """(declared functions, those without a comment) over the headers."""
    headers = [path for path in sources if path.endswith(".h")]
    total, bare = 0, []
    for tag in csrc.tags(headers, "pf"):
        total += 1
        if not has_contract(sources[tag["path"]], tag["line"]):
            bare.append(f"{tag['path']}:{tag['name']}")
    return total, bare


def has_top_block(source):
    """A comment that says what the header is for, right after the licence line."""
    return any(number in source.comments for number in range(1, 4))


def is_const(declaration):
    head = declaration.split("=")[0]
    if "*" in head:
        return re.search(r"\*\s*const\b[^*]*$", head) is not None
    return re.search(r"\bconst\b", head) is not None


def variables(sources):
    """File-scope variables that can change, as path:name."""
    paths = [path for path in sources if path.endswith(".c")]
    found = []
    for tag in csrc.tags(paths, "v"):
        code = sources[tag["path"]].code
        line = tag["line"] - 1
        # A declaration may be spread over lines; it begins after the line that ended the last one.
        first = line
        while first > 0 and code[first - 1].strip()[-1:] not in ("", *ENDS):
            first -= 1
        if not is_const(" ".join(code[first:line + 1]).split(tag["name"])[0] + tag["name"]):
            found.append(f"{tag['path']}:{tag['name']}")
    return found


def conditionals(source):
    """(#if lines besides an include guard, those inside functions)"""
    depth = total = inside = 0
    for number, line in enumerate(source.code):
        if re.match(r"\s*#\s*if", line):
            guard = re.match(r"\s*#\s*ifndef\s+\w+_H_*\s*$", line) and number < 60
            total += not guard
            inside += depth > 0 and not guard
        elif not re.match(r"\s*#", line):
            depth += line.count("{") - line.count("}")
    return total, inside


def _significant(source):
    """(line, text without white space) of the lines that carry a statement."""
    for number, line in enumerate(source.code, 1):
        text = "".join(line.split())
        if re.search(r"\w", text) and not text.startswith("#include"):
            yield number, text


def duplicates(sources):
    """(share in percent of lines inside a repeated block, [(lines, place)] of long blocks)"""
    rows = {path: list(_significant(source)) for path, source in sources.items()}
    seen = {}
    for path, lines in rows.items():
        for start in range(len(lines) - DUP_WINDOW + 1):
            block = "\n".join(text for _, text in lines[start:start + DUP_WINDOW])
            seen.setdefault(block, []).append((path, start))
    marked = {}
    for places in seen.values():
        if len(places) > 1:
            for path, start in places:
                marked.setdefault(path, set()).add(start)
    repeated, blocks = 0, []
    for path, starts in marked.items():
        covered = sorted({start + k for start in starts for k in range(DUP_WINDOW)})
        repeated += len(covered)
        run = 0
        for index, row in enumerate(covered):
            run = run + 1 if index and covered[index - 1] == row - 1 else 1
            if index + 1 == len(covered) or covered[index + 1] != row + 1:
                blocks.append((run, f"{path}:{rows[path][row - run + 1][0]}"))
    total = sum(len(lines) for lines in rows.values())
    return 100 * repeated / max(1, total), sorted(blocks, reverse=True)
