# SPDX-License-Identifier: Apache-2.0
"""Drives the CNI binary from tests: one call, network namespaces, a fake weftd.

Made for a process in namespaces of its own (harness/cni_box.sh). Every wait has a deadline.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["BUILD"]
PLUGIN = os.path.join(BUILD, "weft")
FAKE = os.path.join(BUILD, "tests/fake/fake_weftd")
CALL_LIMIT_S = 60


class Answer:
    """What one call of a plugin did."""

    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds

    @property
    def json(self):
        """The one document on stdout; anything else there is an error of the plugin."""
        return json.loads(self.out)

    @property
    def code(self):
        """CNI error code, 0 for success."""
        return self.json["code"] if self.status else 0

    def __str__(self):
        return f"status {self.status} in {self.seconds:.2f} s, stdout {self.out!r}, " \
               f"stderr {self.err!r}"


def sh(*args, check=True):
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(args)}: {done.stderr}")
    return done.stdout


def until(what, condition, seconds=10):
    """Polls until condition holds; a failure names what was waited for."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.01)


class Checks:
    """Counts checks, names those that fail. Threads may share one."""

    def __init__(self):
        self.done = self.failed = 0

    def that(self, name, good, detail=""):
        self.done += 1
        if not good:
            self.failed += 1
            print(f"FAIL {name}: {detail}")
        return good

    def same(self, name, got, want, detail=""):
        return self.that(name, got == want, f"got {got!r}, wanted {want!r} {detail}")

    def end(self):
        print(f"{self.done - self.failed} of {self.done} checks passed")
        sys.exit(1 if self.failed or not self.done else 0)


class Box:
    """A folder for one test, with the network config that fits to it."""

    def __init__(self, netns="wtest", pod="p1"):
        self.dir = tempfile.mkdtemp(prefix="weft-cni-")
        self.run_dir = os.path.join(self.dir, "run")
        self.netns, self.pod = netns, pod
        self.log = os.path.join(self.dir, "requests")

    def conf(self, **more):
        conf = {"cniVersion": "1.0.0", "name": "net1", "type": "weft", "runDir": self.run_dir,
                "netns": self.netns}
        conf.update(more)
        return {k: v for k, v in conf.items() if v is not ...}

    def env(self, command, pod=None, cid="c1", ifname="eth0", **more):
        env = {"CNI_COMMAND": command, "CNI_CONTAINERID": cid, "CNI_IFNAME": ifname,
               "CNI_NETNS": f"/run/netns/{pod or self.pod}", "CNI_PATH": "/usr/lib/cni",
               "PATH": os.environ["PATH"]}
        env.update(more)
        return {k: v for k, v in env.items() if v is not None}

    def start(self, command, stdin=None, plugin=PLUGIN, **more):
        """A call that runs on; finish() it."""
        text = stdin if isinstance(stdin, (bytes, str)) else json.dumps(stdin or self.conf())
        env = self.env(command, **more)
        for key, value in os.environ.items():
            if key.endswith("SAN_OPTIONS"):
                env.setdefault(key, value)
        proc = subprocess.Popen([plugin], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=env)
        proc.text = text.encode() if isinstance(text, str) else text
        proc.begun = time.monotonic()
        return proc

    @staticmethod
    def finish(proc):
        out, err = proc.communicate(proc.text, timeout=CALL_LIMIT_S)
        return Answer(proc.returncode, out.decode("utf-8", "surrogateescape"),
                      err.decode("utf-8", "replace"), time.monotonic() - proc.begun)

    def call(self, command, stdin=None, **more):
        return self.finish(self.start(command, stdin, **more))

    @contextlib.contextmanager
    def fake(self, *options):
        """A fake weftd, listening."""
        args = [FAKE, "--run-dir", self.run_dir, "--netns", self.netns, "--log", self.log]
        proc = subprocess.Popen(args + list(options), stdout=subprocess.PIPE, text=True)
        try:
            if proc.stdout.readline() != "ready\n":
                raise AssertionError("the fake weftd did not start")
            yield proc
        finally:
            if proc.poll() is None:
                os.kill(proc.pid, signal.SIGCONT)
                proc.terminate()
            proc.wait(10)
            proc.stdout.close()

    def requests(self, kind=None):
        """What the fake was asked, as objects."""
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8") as log:
            lines = [json.loads(line) for line in log]
        return [r for r in lines if kind in (None, r["type"])]

    def spooled(self):
        """Entries of the spool, as objects."""
        folder = os.path.join(self.run_dir, "spool")
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        entries = []
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as entry:
                entries.append(json.load(entry))
        return entries

    def clear(self):
        shutil.rmtree(os.path.join(self.run_dir, "spool"), ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.log)

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def netns(name):
    sh("ip", "netns", "add", name)


def links(name):
    """Names of the links in a namespace, without lo."""
    if not os.path.exists(f"/run/netns/{name}"):
        return []
    found = re.findall(r"^\d+: ([^:@]+)", sh("ip", "-n", name, "-o", "link"), re.M)
    return sorted(n for n in found if n != "lo")


def addresses(name, ifname):
    """Addresses with prefix length, without link-local ones."""
    rows = json.loads(sh("ip", "-n", name, "-j", "addr", "show", "dev", ifname))
    return [f"{a['local']}/{a['prefixlen']}" for a in rows[0]["addr_info"]
            if a["scope"] != "link"]


def defaults(name, family):
    rows = json.loads(sh("ip", "-n", name, f"-{family}", "-j", "route", "show", "default"))
    return [(r["gateway"], r["dev"]) for r in rows]
