# SPDX-License-Identifier: Apache-2.0
"""A weftd that is absent, silent, half-spoken, stopped, dying or refusing: every call ends in time,
with the right code, and nothing is left behind."""

import concurrent.futures
import contextlib
import os
import signal
import socket

import cni

LIMIT_S = 5.0
STATUS_LIMIT_S = 1.0
V11 = {"cniVersion": "1.1.0"}
KEY = {"network": "net1", "container_id": "c1", "ifname": "eth0"}


def prev(box):
    return {"interfaces": [{"name": "eth0", "sandbox": f"/run/netns/{box.pod}"}],
            "ips": [{"address": "10.99.0.1/32", "interface": 0}]}


def expect_away(checks, box, name, limit=LIMIT_S):
    """All verbs against a weftd that gives no answer, twenty ADDs at once among them."""
    box.clear()
    calls = [box.start("ADD", cid=f"c{i}", ifname=f"e{i}") for i in range(20)]
    for done in map(box.finish, calls):
        checks.same(f"{name} ADD: code", done.code, 11, done)
        checks.that(f"{name} ADD: time", done.seconds < limit + 1, done)
        checks.that(f"{name} ADD: names the socket", "weftd.sock" in done.out, done)
    checks.same(f"{name}: pod", cni.links(box.pod), [])
    checks.same(f"{name}: host ends", cni.links(box.netns), [])
    done = box.call("STATUS", box.conf(**V11))
    checks.same(f"{name} STATUS: code", done.code, 50, done)
    checks.that(f"{name} STATUS: time", done.seconds < STATUS_LIMIT_S, done)
    done = box.call("GC", box.conf(**V11))
    checks.same(f"{name} GC: code", done.code, 11, done)


def expect_del_spooled(checks, box, name):
    box.clear()
    for i in range(2):
        done = box.call("DEL")
        checks.same(f"{name} DEL {i}: status", (done.status, done.out), (0, ""), done)
        checks.that(f"{name} DEL {i}: time", done.seconds < LIMIT_S, done)
    checks.same(f"{name} DEL: spool", box.spooled(), [KEY])


def check_absent(checks, box):
    expect_del_spooled(checks, box, "no run dir")
    mode = os.stat(box.run_dir).st_mode & 0o777
    checks.same("run dir is private", mode, 0o700)
    expect_away(checks, box, "absent")
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(os.path.join(box.run_dir, "weftd.sock"))
        expect_del_spooled(checks, box, "stale")
        stale.listen(1)
        expect_del_spooled(checks, box, "nobody accepts")
        done = box.call("ADD")
        checks.same("nobody accepts ADD: code", done.code, 11, done)
        checks.that("nobody accepts ADD: time", done.seconds < LIMIT_S, done)
    os.unlink(os.path.join(box.run_dir, "weftd.sock"))


def check_hello(checks, box, rule):
    with box.fake(f"--{rule}", "hello"):
        expect_away(checks, box, rule)
        expect_del_spooled(checks, box, rule)


def check_in_the_middle(checks, box, rule, kind):
    """Trouble after hello: what was begun is taken back, by weftd or by the spool."""
    name = f"{rule} {kind}"
    with box.fake(f"--{rule}", kind) as proc:
        done = box.call("ADD")
        checks.same(f"{name}: code", done.code, 11, done)
        checks.that(f"{name}: time", done.seconds < LIMIT_S, done)
        checks.same(f"{name}: pod", cni.links(box.pod), [])
        if rule in ("die", "stop") and kind == "activate":
            checks.same(f"{name}: spooled", box.spooled(), [KEY])
        with contextlib.suppress(ProcessLookupError):
            os.kill(proc.pid, signal.SIGCONT)
        cni.until(f"{name}: host end gone", lambda: cni.links(box.netns) == [])
        if proc.poll() is None:
            done = box.call("DEL")
            checks.same(f"{name}: DEL", (done.status, box.spooled()), (0, []), done)


def check_check(checks, box):
    for rule in ("silent", "close"):
        with box.fake("--" + rule, "check"):
            box.call("ADD")
            done = box.call("CHECK", box.conf(prevResult=prev(box)))
            checks.same(f"CHECK {rule}: code", done.code, 11, done)
            checks.that(f"CHECK {rule}: time", done.seconds < LIMIT_S, done)
            box.call("DEL")


def check_stopped(checks, box):
    box.clear()
    with box.fake() as proc:
        box.call("ADD")
        os.kill(proc.pid, signal.SIGSTOP)
        done = box.call("STATUS", box.conf(**V11))
        checks.same("stopped STATUS: code", done.code, 50, done)
        checks.that("stopped STATUS: time", done.seconds < STATUS_LIMIT_S, done)
        done = box.call("CHECK", box.conf(prevResult=prev(box)))
        checks.same("stopped CHECK: code", done.code, 11, done)
        expect_del_spooled(checks, box, "stopped")
        checks.same("stopped DEL: link gone", (cni.links(box.pod), cni.links(box.netns)), ([], []))
        # The container is started again under its old id while the entry waits.
        os.kill(proc.pid, signal.SIGCONT)
        done = box.call("ADD")
        checks.same("ADD after a spooled DEL: code", done.code, 0, done)
        checks.same("ADD settles the entry", box.spooled(), [])
        done = box.call("DEL")
        checks.same("DEL in the end", (done.status, cni.links(box.pod)), (0, []), done)


def check_killed(checks, box):
    """weftd is dead and links are there: DEL removes them, finished ones and half-made ones."""
    box.clear()
    with box.fake() as proc:
        box.call("ADD")
        box.call("ADD", cid="c2", ifname="net1")
        proc.kill()
        proc.wait()
    checks.same("killed: links are there", (cni.links(box.pod), len(cni.links(box.netns))),
                (["eth0", "net1"], 2))
    cni.sh("ip", "-n", box.netns, "link", "set", cni.links(box.netns)[0], "alias", "")
    salted = cni.links(box.netns)[1]
    cni.sh("ip", "-n", box.netns, "link", "set", salted, "down")
    cni.sh("ip", "-n", box.netns, "link", "set", salted, "name", "wsalted")
    for cid, ifname, left in (("c1", "eth0", ["net1"]), ("c2", "net1", [])):
        done = box.call("DEL", cid=cid, ifname=ifname)
        checks.same(f"killed DEL {cid}: status", done.status, 0, done)
        checks.same(f"killed DEL {cid}: left", cni.links(box.pod), left)
    checks.same("killed: host ends", cni.links(box.netns), [])
    checks.same("killed: spool", len(box.spooled()), 2)


def check_refusals(checks, box):
    for kind, code in (("attach", 100), ("attach", 101), ("activate", 11), ("activate", 102)):
        box.clear()
        with box.fake("--fail", f"{kind}={code}"):
            done = box.call("ADD")
            checks.same(f"{kind} refused: code", done.code, code, done)
            checks.same(f"{kind} refused: pod", cni.links(box.pod), [])
            checks.same(f"{kind} refused: host ends", cni.links(box.netns), [])
            checks.same(f"{kind} refused: detach", len(box.requests("detach")),
                        1 if kind == "activate" else 0)
            checks.same(f"{kind} refused: spool", box.spooled(), [])
    for code in (50, 51):
        with box.fake("--fail", f"ready={code}"):
            done = box.call("STATUS", box.conf(**V11))
            checks.same(f"not ready {code}", done.code, code, done)
    with box.fake("--fail", "detach=5"):
        done = box.call("DEL")
        checks.same("detach refused: code", done.code, 5, done)
    with box.fake("--fail", "gc=5"):
        checks.same("gc refused: code", box.call("GC", box.conf(**V11)).code, 5)


def check_taken(checks, box):
    """The index that weftd chose is taken in the kernel: other ones are asked for, three times."""
    for taken, code in ((2, 0), (3, 102)):
        box.clear()
        with box.fake("--taken", str(taken)):
            done = box.call("ADD")
            checks.same(f"taken {taken}: code", done.code, code, done)
            checks.same(f"taken {taken}: tries", len(box.requests("attach")), 3)
            checks.same(f"taken {taken}: host ends", len(cni.links(box.netns)), 0 if code else 1)
            box.call("DEL")


def check_unwritable(checks, box):
    """No room for a spool entry: the link is removed all the same, and the runtime retries."""
    box.clear()
    with box.fake() as proc:
        box.call("ADD")
        proc.kill()
        proc.wait()
    cni.sh("mount", "-t", "tmpfs", "-o", "ro", "tmpfs", box.run_dir)
    done = box.call("DEL")
    checks.same("read-only: code", done.code, 5, done)
    checks.same("read-only: links", (cni.links(box.pod), cni.links(box.netns)), ([], []))
    cni.sh("umount", box.run_dir)
    cni.sh("mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=2", "tmpfs", box.run_dir)
    done = box.call("DEL")
    checks.same("full: code", done.code, 5, done)
    checks.that("full: not 'not found'", "not found" not in done.out, done)
    cni.sh("umount", box.run_dir)
    done = box.call("DEL")
    checks.same("with room: status", done.status, 0, done)


def check_slow_start(checks, box):
    """weftd starts while an ADD waits for it."""
    box.clear()
    call = box.start("ADD")
    call.stdin.write(call.text)
    call.stdin.close()
    call.stdin, call.text = None, None
    cni.until("the ADD runs", lambda: os.path.exists(f"/proc/{call.pid}/fd/3"))
    with box.fake():
        done = box.finish(call)
        checks.same("slow start: code", done.code, 0, done)
        box.call("DEL")


def jobs():
    """Each with a box of its own: most of the time is spent waiting."""
    yield from ((part,) for part in (check_absent, check_check, check_stopped, check_killed,
                                     check_refusals, check_taken, check_unwritable,
                                     check_slow_start))
    for rule in ("silent", "half", "cut", "close"):
        yield check_hello, rule
    for rule in ("silent", "half", "cut", "close", "die", "stop"):
        for kind in ("attach", "activate"):
            yield check_in_the_middle, rule, kind


def run_job(checks, number, part, *args):
    box = cni.Box(f"w{number}", f"p{number}")
    cni.netns(box.pod)
    try:
        part(checks, box, *args)
    finally:
        box.close()


def main():
    checks = cni.Checks()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        runs = [pool.submit(run_job, checks, i, *job) for i, job in enumerate(jobs())]
        for run in runs:
            run.result()
    checks.end()


main()
