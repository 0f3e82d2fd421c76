#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A scripted weftd socket for weft-agent's tests.

agent_peer.py RUN_DIR [SCRIPT.json]   serves RUN_DIR/weftd.sock until killed and writes, after each
request, RUN_DIR/peer.json: what the agent's messages add up to. SCRIPT.json is read again before
each reply; its keys bend the behaviour:
  "refuse": ["pod/ns/name", ...]  an apply that names one of them fails as a whole
  "ready": false                  what `ready` answers (default true)
  "hang_up": "apply"              closes the connection instead of answering that type
  "hang_up_after": N              ... but answers the first N of them on each connection
  "silent": "apply"               never answers that type
"""
import json
import os
import socket
import sys


class State:
    """What a daemon would hold, and the history of requests."""

    def __init__(self, run_dir):
        self.path = os.path.join(run_dir, "peer.json")
        self.objects = {}
        self.repeated = None
        self.requests = []
        self.ops = 0
        self.connections = 0
        self.report = None

    def save(self):
        text = json.dumps({
            "objects": self.objects, "ops": self.ops, "connections": self.connections,
            "requests": self.requests[-200:], "report": self.report,
            "end_syncs": self.requests.count("end-sync")}, sort_keys=True)
        with open(self.path + ".tmp", "w", encoding="utf-8") as out:
            out.write(text)
        os.rename(self.path + ".tmp", self.path)


def key_of(op):
    return "/".join(p for p in (op["kind"], op.get("namespace"), op["name"]) if p)


def apply(state, script, request):
    ops = request["ops"]
    for i, op in enumerate(ops):
        if key_of(op) in script.get("refuse", []):
            return {"ok": False, "error": {"code": 7, "msg": "invalid op",
                                           "details": f"$.ops[{i}] is refused"}}
    if len(ops) > 500:
        return {"ok": False, "error": {"code": 7, "msg": "too many ops", "details": ""}}
    for op in ops:
        state.ops += 1
        key = key_of(op)
        if op["op"] == "set":
            state.objects[key] = op
        else:
            state.objects.pop(key, None)
        if state.repeated is not None:
            state.repeated.add(key)
    return {"ok": True, "applied": len(ops)}


def answer(state, script, request):
    kind = request["type"]
    if kind == "hello":
        return {"ok": True, "version": 1, "weftd": "peer"}
    if kind == "begin-sync":
        state.repeated = set()
        return {"ok": True, "generation": state.requests.count("begin-sync")}
    if kind == "end-sync":
        gone = [k for k in state.objects if k not in state.repeated]
        for key in gone:
            del state.objects[key]
        state.repeated = None
        return {"ok": True, "removed": len(gone)}
    if kind == "apply":
        return apply(state, script, request)
    if kind == "report":
        state.report = request
        return {"ok": True}
    if kind == "ready":
        return {"ok": True, "ready": script.get("ready", True), "code": 50, "msg": "scripted"}
    return {"ok": False, "error": {"code": 7, "msg": "unknown type", "details": kind}}


def read_script(path):
    if not path or not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as text:
        return json.load(text)


def serve(state, conn, script_path):
    seen = {}
    state.connections += 1
    for line in conn.makefile("r", encoding="utf-8"):
        assert len(line) <= 1 << 20, "line too long"
        request = json.loads(line)
        kind = request["type"]
        script = read_script(script_path)
        state.requests.append(kind)
        seen[kind] = seen.get(kind, 0) + 1
        if script.get("hang_up") == kind and seen[kind] > script.get("hang_up_after", 0):
            state.save()
            return
        if script.get("silent") == kind:
            state.save()
            continue
        reply = answer(state, script, request)
        state.save()
        try:
            conn.sendall((json.dumps(reply) + "\n").encode())
        except OSError:
            return


def main():
    run_dir = sys.argv[1]
    script_path = sys.argv[2] if len(sys.argv) > 2 else None
    path = os.path.join(run_dir, "weftd.sock")
    if os.path.exists(path):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(8)
    state = State(run_dir)
    state.save()
    while True:
        conn, _ = listener.accept()
        with conn:
            serve(state, conn, script_path)


if __name__ == "__main__":
    main()
