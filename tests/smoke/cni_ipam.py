# SPDX-License-Identifier: Apache-2.0
"""Delegation of addresses: the stock host-local, and plugins that misbehave."""

import json
import os
import time

import cni

HOST_LOCAL = "/usr/lib/cni/host-local"


def script(box, name, body):
    """An IPAM plugin that notes its command and its stdin, then does what body says."""
    path = os.path.join(box.dir, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"#!/bin/sh\necho $CNI_COMMAND >>{box.dir}/calls\n"
                  f"cat >{box.dir}/stdin\n{body}\n")
    os.chmod(path, 0o755)


def calls(box):
    path = os.path.join(box.dir, "calls")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as log:
        lines = log.read().split()
    os.unlink(path)
    return lines


def lease(version="1.0.0", *ips):
    return json.dumps({"cniVersion": version, "ips": [{"address": i} for i in ips],
                       "dns": {"nameservers": ["10.0.0.53"]}})


def check_host_local(checks, box):
    data = os.path.join(box.dir, "data")
    conf = box.conf(ipam={"type": "host-local", "dataDir": data, "ranges": [
        [{"subnet": "10.6.0.0/29"}], [{"subnet": "fd06::/64"}]]})
    held = os.path.join(data, "net1")

    def taken():
        return sorted(n for n in os.listdir(held) if n[0] in "1f")

    done = box.call("ADD", conf)
    if not checks.same("host-local ADD: code", done.code, 0, done):
        return
    asked = box.requests("attach")[-1]
    checks.same("host-local: delegated", (asked["delegated"], asked["ips"]),
                (True, ["10.6.0.2", "fd06::2"]))
    checks.same("host-local: result", [i["address"] for i in done.json["ips"]],
                ["10.6.0.2/32", "fd06::2/128"])
    checks.same("host-local: reserved", taken(), ["10.6.0.2", "fd06::2"])
    done = box.call("CHECK", {**conf, "prevResult": done.json})
    checks.same("host-local CHECK: code", done.code, 0, done)
    done = box.call("ADD", conf)
    checks.same("host-local second ADD: code", done.code, 101, done)
    checks.same("host-local second ADD: first kept", taken(), ["10.6.0.2", "fd06::2"])
    for _ in range(2):
        done = box.call("DEL", conf)
        checks.same("host-local DEL: status", (done.status, done.out), (0, ""), done)
    checks.same("host-local DEL: released", taken(), [])
    for i in range(5):
        cni.netns(f"h{i}")
        box.call("ADD", conf, pod=f"h{i}", cid=f"h{i}")
    done = box.call("ADD", conf)
    checks.same("exhausted: code", done.code, 104, done)
    checks.that("exhausted: says why", "host-local" in done.out and "10.6.0" in done.out, done)
    checks.same("exhausted: nothing made", cni.links(box.pod), [])
    for i in range(5):
        box.call("DEL", conf, pod=f"h{i}", cid=f"h{i}")
    checks.same("all released", (taken(), cni.links(box.netns)), ([], []))


def check_undo(checks, box):
    """weftd refuses after the delegate gave an address: it gets it back."""
    script(box, "good", f"[ $CNI_COMMAND != ADD ] || echo '{lease('1.0.0', '10.5.0.9/24')}'")
    conf = box.conf(ipam={"type": "good"})
    env = {"CNI_PATH": f"/nonexistent:{box.dir}"}
    with box.fake("--fail", "attach=100"):
        done = box.call("ADD", conf, **env)
        checks.same("undo: code", done.code, 100, done)
        checks.same("undo: calls", calls(box), ["ADD", "DEL"])
    with box.fake():
        done = box.call("ADD", conf, **env)
        checks.same("good: code", done.code, 0, done)
        checks.same("good: dns", done.json["dns"], {"nameservers": ["10.0.0.53"]})
        with open(os.path.join(box.dir, "stdin"), encoding="utf-8") as stdin:
            checks.same("good: same stdin", stdin.read(), json.dumps(conf))
        box.call("DEL", conf, **env)
        new = box.conf(cniVersion="1.1.0", ipam={"type": "good"})
        for verb in ("STATUS", "GC"):
            checks.same(f"good {verb}", box.call(verb, new, **env).status, 0)
        checks.same("good: calls", calls(box), ["ADD", "DEL", "STATUS", "GC"])
    done = box.call("DEL", conf, **env)
    checks.same("DEL without weftd: asks the delegate", (done.status, calls(box)), (0, ["DEL"]))


def check_bad(checks, box):
    """ADD with a delegate that does something wrong: code, and the calls that it saw."""
    ok = lease("1.0.0", "10.5.0.9/24")
    cases = [
        ("missing", None, 104, []),
        ("says no", 'echo \'{"code":100,"msg":"none left","details":"of 5"}\'; exit 1', 104,
         ["ADD"]),
        ("says later", 'echo \'{"code":11,"msg":"later"}\'; exit 1', 11, ["ADD"]),
        ("crashes", "kill -SEGV $$", 104, ["ADD", "DEL"]),
        ("silent failure", "exit 3", 104, ["ADD", "DEL"]),
        ("garbage", "echo hello", 104, ["ADD", "DEL"]),
        ("nothing", "true", 104, ["ADD", "DEL"]),
        ("no address", f"echo '{lease('1.0.0')}'", 104, ["ADD", "DEL"]),
        ("bad address", f"echo '{lease('1.0.0', '1.2.3/4')}'", 104, ["ADD", "DEL"]),
        ("multicast", f"echo '{lease('1.0.0', '224.0.0.1/24')}'", 104, ["ADD", "DEL"]),
        ("two documents", f"echo '{ok}{ok}'", 104, ["ADD", "DEL"]),
        ("too much", "head -c 2000000 /dev/zero", 104, ["ADD", "DEL"]),
    ]
    with box.fake():
        for name, body, code, want in cases:
            if body:
                script(box, "bad", body)
            done = box.call("ADD", box.conf(ipam={"type": "bad"}), CNI_PATH=box.dir)
            checks.same(f"{name}: code", done.code, code, done)
            checks.same(f"{name}: calls", calls(box), want)
            checks.same(f"{name}: pod", cni.links(box.pod), [])
        checks.same("weftd was never asked", box.requests("attach"), [])
        done = box.call("ADD", box.conf(ipam={"type": "bad"}), CNI_PATH=box.dir)
        os.unlink(os.path.join(box.dir, "bad"))
        done = box.call("DEL", box.conf(ipam={"type": "bad"}), CNI_PATH=box.dir)
        checks.same("DEL without its plugin: code", done.code, 104, done)
        checks.same("DEL without its plugin: ours is done", len(box.requests("detach")), 1)


def check_left_running(checks, box):
    """A process that the delegate leaves behind holds nothing of ours open."""
    body = f"sleep 30 & echo $! >{box.dir}/pid\n[ $CNI_COMMAND != ADD ] || " \
           f"echo '{lease('1.0.0', '10.5.0.9/24')}'"
    script(box, "lazy", body.replace("sleep 30 &", "sleep 30 2>/dev/null &"))
    with box.fake():
        start = time.monotonic()
        done = box.call("ADD", box.conf(ipam={"type": "lazy"}), CNI_PATH=box.dir)
        checks.same("left running: code", done.code, 0, done)
        checks.that("left running: time", time.monotonic() - start < 10)
        with open(os.path.join(box.dir, "pid"), encoding="utf-8") as pid:
            os.kill(int(pid.read()), 9)
        box.call("DEL", box.conf())


def check_status(checks, box):
    new = box.conf(cniVersion="1.1.0", ipam={"type": "x"})
    cases = [
        ("fine", "true", "STATUS", 0),
        ("older", 'echo \'{"code":4,"msg":"unknown CNI_COMMAND: STATUS"}\'; exit 1', "STATUS", 0),
        ("full", 'echo \'{"code":50,"msg":"full"}\'; exit 1', "STATUS", 50),
        ("hangs", "exec sleep 20", "STATUS", 50),
        ("older", 'echo \'{"code":4,"msg":"unknown"}\'; exit 1', "GC", 0),
        ("fails", 'echo \'{"code":5,"msg":"disk"}\'; exit 1', "GC", 104),
    ]
    with box.fake():
        for name, body, verb, code in cases:
            script(box, "x", body)
            done = box.call(verb, new, CNI_PATH=box.dir)
            checks.same(f"{verb} {name}: code", done.code, code, done)
            checks.that(f"{verb} {name}: time", done.seconds < 1.0, done)
    script(box, "x", "true")
    calls(box)
    checks.same("GC without weftd: code", box.call("GC", new, CNI_PATH=box.dir).code, 11)
    checks.same("GC without weftd: asks the delegate", calls(box), ["GC"])


def main():
    checks = cni.Checks()
    box = cni.Box()
    cni.netns(box.pod)
    try:
        if os.access(HOST_LOCAL, os.X_OK):
            with box.fake():
                check_host_local(checks, box)
        for part in (check_undo, check_bad, check_left_running, check_status):
            box.clear()
            part(checks, box)
    finally:
        box.close()
    checks.end()


main()
