#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Include directions: which folder may include what. The rules stand in docs/style.md."""
import os
import re
import sys

import csrc

# Include roots of a component, as the Makefile gives them to the compiler.
ROOTS = (
    ("dataplane/ctl/", ("dataplane/ctl", "lib")),
    ("dataplane/", ("dataplane", "lib")),
    ("cni-plugin/", ("cni-plugin", "lib")),
    ("agent/", ("agent", "lib")),
    ("lib/", ("lib",)),
)

# Folder -> folders it may include besides itself. A folder of the agent that is not named here may
# include what agent/kube may; the files right below agent/ wire everything and may include all.
LAYERS = {
    "lib/base": (),
    "lib/json": ("lib/base",),
    "lib/api": ("lib/base", "lib/json"),
    "lib/netlink": ("lib/base",),
    "dataplane/packet": (),
    "dataplane/core": ("dataplane/packet",),
    "dataplane/io": ("dataplane/packet", "dataplane/core"),
    "dataplane/flow": ("dataplane/packet", "dataplane/core"),
    "dataplane/features": ("dataplane/packet", "dataplane/core", "dataplane/io", "dataplane/flow"),
    "dataplane/main": ("dataplane/packet", "dataplane/core", "dataplane/io", "dataplane/flow",
                       "dataplane/features"),
    "agent/model": (),
    "agent/compile": ("agent/model",),
    "agent/sync": ("agent/model", "agent/compile"),
    "agent/health": (),
    "agent/decode": ("agent/model",),
    "agent/kube": ("agent/model", "agent/decode"),
    "agent/source": ("agent/model", "agent/decode"),
}

# A feature reads the tables of features further left, by their _fast.h only.
FEATURES = ("endpoint", "neigh", "route", "overlay", "conntrack", "nat", "service", "policy",
            "shaping")

# Third-party header -> where it may be included.
THIRD_PARTY = (
    (r"rte_\w+\.h", r"dataplane/(?!ctl/)"),
    (r"json-c/.*", r"lib/json/"),
    (r"linux/if_packet\.h|netpacket/packet\.h", r"dataplane/io/"),
    (r"netlink/.*|linux/(rt)?netlink\.h|linux/if_link\.h", r"lib/netlink/"),
    (r"yaml\.h", r"agent/source/|dataplane/main/config"),
    (r"curl/.*", r"agent/kube/"),
    (r"event2/.*", r"dataplane/main/|agent/"),
)

# Code that runs per packet sees neither logs nor the control socket nor control contracts.
PACKET_CODE = re.compile(r"dataplane/packet/|.*_fast\.h$|.*_stage\.c$|dataplane/flow/emc\.")


def folder_of(path):
    parts = path.split("/")
    if path.startswith("dataplane/features/"):
        return "dataplane/features"
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def resolve(path, name):
    """The file that an include of `name` in `path` means, or None."""
    for prefix, roots in ROOTS:
        if path.startswith(prefix):
            for root in roots:
                candidate = os.path.normpath(os.path.join(root, name))
                if os.path.exists(os.path.join(csrc.ROOT, candidate)):
                    return candidate
            return None
    return None


def allowed_folders(folder):
    if folder.startswith("lib/") or folder.startswith("dataplane/") and folder in LAYERS:
        return LAYERS.get(folder, ("lib/base",))
    if folder.startswith("agent/"):
        return LAYERS.get(folder, LAYERS["agent/kube"])
    return None


def check_feature(path, target):
    """Rules between features/<a>/ and features/<b>/."""
    mine, other = path.split("/")[2], target.split("/")[2]
    if mine == other:
        return None
    if not target.endswith("_fast.h"):
        return "another feature is seen by its _fast.h only"
    if mine in FEATURES and other in FEATURES and FEATURES.index(other) > FEATURES.index(mine):
        return f"{mine} stands before {other}"
    return None


def check_packet_code(path, target):
    if target == "lib/base/log.h":
        return "packet code does not log"
    if target.startswith("lib/api/"):
        return "packet code does not speak to the socket"
    if not target.startswith("dataplane/features/") or target.endswith("_fast.h"):
        return None
    # What a stage itself declares, or a feature without control code, hides nothing from it.
    own = os.path.dirname(target) == os.path.dirname(path)
    stateless = not os.path.exists(os.path.join(csrc.ROOT, target[:-2] + ".c"))
    if own and (target.endswith("_stage.h") or stateless and not target.endswith("_internal.h")):
        return None
    return "packet code sees a feature by its _fast.h only"


def check_own(path, target):
    """The rule that a resolved include breaks, or None."""
    source, folder = folder_of(path), folder_of(target)
    if PACKET_CODE.match(path):
        broken = check_packet_code(path, target)
        if broken:
            return broken
    if source.startswith("dataplane") and target.startswith("lib/api/"):
        if not re.match(r"dataplane/(main|ctl)/|.*_api\.c$", path):
            return "api/ is for main, ctl and _api.c"
    if source == folder == "dataplane/features":
        return check_feature(path, target)
    allowed = allowed_folders(source)
    if allowed is None or folder == source or folder in allowed:
        return None
    if folder.startswith("lib/") and not source.startswith("lib/"):
        return None
    return f"{source} must not depend on {folder}"


def third_party_error(path, name):
    for header, places in THIRD_PARTY:
        if re.fullmatch(header, name) and not re.match(places, path):
            return f"<{name}> belongs to {places}"
    return None


def own_header_error(source):
    """A .c with a header of the same name includes it first."""
    header = source.path[:-2] + ".h"
    if not source.path.endswith(".c") or not os.path.exists(os.path.join(csrc.ROOT, header)):
        return None
    includes = source.includes()
    if includes and resolve(source.path, includes[0][2]) == header:
        return None
    return f"{source.path}:1: {os.path.basename(header)} must be the first include"


def check_file(source, graph):
    """Errors of one file; its edges go into graph."""
    path, errors = source.path, []
    for number, quoted, name in source.includes():
        target = resolve(path, name) if quoted else None
        if quoted and target is None:
            problem = f'"{name}" is not below an include root of {folder_of(path)}'
        elif quoted:
            graph.setdefault(path, set()).add(target)
            problem = check_own(path, target)
        else:
            problem = third_party_error(path, name)
        if problem:
            errors.append(f"{path}:{number}: {problem}")
    first = own_header_error(source)
    return errors + [first] if first else errors


def check():
    """(errors against the directions, include cycles)"""
    graph, errors = {}, []
    for path in csrc.c_files():
        errors += check_file(csrc.Source(path), graph)
    cycles = csrc.components(graph)
    folders = {}
    for path, targets in graph.items():
        if path.endswith(".h"):
            folders.setdefault(folder_of(path), set()).update(
                folder_of(t) for t in targets if folder_of(t) != folder_of(path))
    return errors, cycles + csrc.components(folders)


def main():
    errors, cycles = check()
    for cycle in cycles:
        errors.append("include cycle: " + " ".join(cycle))
    print("\n".join(errors) or "include directions hold")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
