# SPDX-License-Identifier: Apache-2.0
"""With the real weftd: ADDs killed at each system call, and weftd killed under its pods."""

import collections
import contextlib
import json
import os
import re
import signal
import socket
import subprocess

import cni

WEFTD = os.path.join(cni.BUILD, "weftd")
POOL = "10.44.0.0/28"
V11 = {"cniVersion": "1.1.0"}


class Weftd:
    """A weftd whose state survives its end; standalone at first."""

    def __init__(self, box):
        self.box, self.proc, self.mode = box, None, ["--standalone"]

    def start(self):
        box = self.box
        with open(os.path.join(box.dir, "weftd.log"), "ab") as log:
            self.proc = subprocess.Popen(
                [WEFTD, *self.mode, "--run-dir", box.run_dir, "--state-dir",
                 os.path.join(box.dir, "state"), "--netns", box.netns, "--uplink", "none",
                 "--node-ip", "192.0.2.1", "--pod-cidr", POOL], stderr=log)
        cni.until("weftd is ready", self.is_ready)

    def is_ready(self):
        if self.proc.poll() is not None:
            raise AssertionError(f"weftd ended with {self.proc.returncode}")
        done = self.box.call("STATUS", self.box.conf(**V11))
        return done.status == 0 or "agent" in done.out

    def end(self, number=signal.SIGTERM):
        self.proc.send_signal(number)
        self.proc.wait(20)

    def pods(self):
        """Attachments that weftd knows, by container id."""
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(os.path.join(self.box.run_dir, "weftd.sock"))
            stream = sock.makefile("rw")
            for request in ({"type": "hello", "min": 1, "max": 1, "who": "test"},
                            {"type": "get", "object": "pod"}):
                stream.write(json.dumps(request) + "\n")
                stream.flush()
                reply = json.loads(stream.readline())
        return sorted(row["container_id"] for row in reply["items"])


def host_ends(box):
    """Host ends of pods: weftd's own link to the host is none."""
    return [name for name in cni.links(box.netns) if re.fullmatch(r"w[0-9a-f]{12}", name)]


def nothing_left(box, weftd):
    return not (cni.links(box.pod) or host_ends(box) or weftd.pods() or box.spooled())


def fill(box):
    """ADDs until the pool is empty; how many there were. Takes all of them back."""
    count = 0
    while True:
        done = box.call("ADD", cid=f"fill{count}", ifname=f"f{count}")
        if done.code != 0:
            break
        count += 1
    for i in range(count):
        box.call("DEL", cid=f"fill{i}", ifname=f"f{i}")
    return count, done


def trace(box, *options, **more):
    """An ADD under strace."""
    call = subprocess.Popen(["strace", "-qq", "-o", os.path.join(box.dir, "trace"), *options,
                             cni.PLUGIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=box.env("ADD", **more))
    call.text, call.begun = json.dumps(box.conf()).encode(), 0
    return box.finish(call)


def list_calls(box):
    """The system calls of an ADD: name and how many of that name there were so far."""
    done = trace(box)
    if done.status != 0:
        raise AssertionError(f"ADD under strace: {done}")
    box.call("DEL")
    seen = collections.Counter()
    calls = []
    with open(os.path.join(box.dir, "trace"), encoding="utf-8") as lines:
        for name in re.findall(r"^(\w+)\(", lines.read(), re.M):
            seen[name] += 1
            calls.append((name, seen[name]))
    return calls


def check_kills(checks, box, weftd):
    """One half of the containers gets a DEL at once, the other half never: their reservation dies
    with its connection, and what was active is collected when its namespace is gone."""
    calls = list_calls(box)
    checks.that("an ADD has system calls", len(calls) > 50, calls)
    killed = 0
    for number, (name, nth) in enumerate(calls):
        what = f"killed at {number} ({name} {nth})"
        done = trace(box, "-e", f"inject={name}:signal=SIGKILL:when={nth}", cid=f"k{number}")
        killed += done.status == -signal.SIGKILL
        if number % 2:
            done = box.call("DEL", cid=f"k{number}")
            checks.same(f"{what}: DEL", done.status, 0, done)
        else:
            cni.sh("ip", "netns", "del", box.pod)
            cni.netns(box.pod)
            done = box.call("GC", box.conf(**V11, **{"cni.dev/valid-attachments": []}))
            checks.same(f"{what}: GC", done.status, 0, done)
        with contextlib.suppress(AssertionError):
            cni.until("clean", lambda: nothing_left(box, weftd), 5)
        if not checks.that(f"{what}: nothing left", nothing_left(box, weftd),
                           (cni.links(box.pod), host_ends(box), weftd.pods(), box.spooled())):
            return
    checks.that("most calls were killed", killed > len(calls) * 0.9, (killed, len(calls)))


def check_restart(checks, box, weftd):
    """weftd dies with two pods; one is deleted meanwhile, the other stays as it is."""
    for cid, ifname in (("r1", "e1"), ("r2", "e2")):
        done = box.call("ADD", cid=cid, ifname=ifname)
        checks.same(f"restart: ADD {cid}", done.code, 0, done)
    weftd.end(signal.SIGKILL)
    done = box.call("ADD", cid="r3", ifname="e3")
    checks.same("weftd dead: ADD", done.code, 11, done)
    done = box.call("DEL", cid="r1", ifname="e1")
    checks.same("weftd dead: DEL", (done.status, len(box.spooled())), (0, 1), done)
    checks.same("weftd dead: link gone, other stays", cni.links(box.pod), ["e2"])
    weftd.start()
    cni.until("the spool is carried out", lambda: not box.spooled())
    cni.until("r1 is gone", lambda: weftd.pods() == ["r2"])
    checks.same("restart: other stays", cni.links(box.pod), ["e2"])
    done = box.call("DEL", cid="r2", ifname="e2")
    checks.same("restart: DEL", done.status, 0, done)
    checks.that("restart: nothing left", nothing_left(box, weftd))


def check_wait(checks, box, weftd):
    """Without an agent a pod of Kubernetes waits for its policy in vain; a plain one does not."""
    weftd.end()
    weftd.mode = []
    weftd.start()
    pod = "IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=web-0;K8S_POD_UID=u"
    done = box.call("ADD", box.conf(addTimeout=1), CNI_ARGS=pod)
    checks.same("no agent: code", done.code, 11, done)
    checks.that("no agent: waits", 1 <= done.seconds < 4, done)
    cni.until("nothing of it is left", lambda: nothing_left(box, weftd))
    done = box.call("ADD", CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAME=web-0")
    checks.same("no agent, no namespace: code", done.code, 0, done)
    done = box.call("STATUS", box.conf(**V11))
    checks.same("no agent: STATUS", done.code, 50, done)
    box.call("DEL")


def main():
    checks = cni.Checks()
    box = cni.Box()
    weftd = Weftd(box)
    cni.netns(box.pod)
    try:
        weftd.start()
        before, last = fill(box)
        checks.same("exhausted: code", last.code, 100, last)
        check_kills(checks, box, weftd)
        check_restart(checks, box, weftd)
        after, _ = fill(box)
        checks.same("no address is lost", after, before)
        check_wait(checks, box, weftd)
    finally:
        if weftd.proc and weftd.proc.poll() is None:
            weftd.end()
        if checks.failed:
            with open(os.path.join(box.dir, "weftd.log"), encoding="utf-8") as log:
                print(log.read()[-4000:])
        box.close()
    checks.end()


main()
