#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Namespaces, the peers under comparison, and the programs that load them."""
import collections
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

BUILD = os.environ["BUILD"]
TOOLS = os.path.join(BUILD, "tests/bench")
CNI_DIR = "/usr/lib/cni"


def run(*argv, **kwargs):
    """Output of a program; raises with its error text where it fails."""
    kwargs.setdefault("timeout", 60)
    done = subprocess.run(argv, capture_output=True, text=True, check=False, **kwargs)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(argv)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def wait_until(what, seconds, probe):
    """Polls probe until it returns something true."""
    end = time.monotonic() + seconds
    while True:
        value = probe()
        if value:
            return value
        if time.monotonic() > end:
            raise RuntimeError(f"{what}: not within {seconds} s")
        time.sleep(0.01)


class Pod:
    """One end: a namespace with one interface and its addresses."""

    def __init__(self, netns, ifname="eth0"):
        self.netns, self.ifname = netns, ifname
        self.ips = []

    def run(self, *argv, **kwargs):
        return run("ip", "netns", "exec", self.netns, *argv, **kwargs)

    def spawn(self, *argv, **kwargs):
        return subprocess.Popen(("ip", "netns", "exec", self.netns, *argv), **kwargs)

    def link(self):
        text = run("ip", "-n", self.netns, "-s", "-j", "link", "show", "dev", self.ifname)
        return json.loads(text)[0]

    def mac(self):
        return self.link()["address"]

    def drop_input(self):
        """What arrives is counted and dropped at once, so that the sink costs the same for all."""
        rules = (f"table netdev sink {{ chain c {{ type filter hook ingress device {self.ifname} "
                 "priority 0; udp dport 9 counter drop; }; }")
        self.run("nft", "-f", "-", input=rules)

    def dropped(self):
        rules = json.loads(self.run("nft", "-j", "list", "table", "netdev", "sink"))
        for entry in rules["nftables"]:
            for expr in entry.get("rule", {}).get("expr", []):
                if "counter" in expr:
                    return expr["counter"]["packets"]
        raise RuntimeError("no counter")


class Bridge:
    """The peer: two namespaces on a bridge of the kernel."""
    name = "kernel bridge"

    def __init__(self, mtu):
        run("ip", "netns", "add", "kbr")
        run("ip", "-n", "kbr", "link", "add", "br0", "type", "bridge")
        run("ip", "-n", "kbr", "link", "set", "br0", "mtu", str(mtu), "up")
        self.a, self.b = (self.add(i, mtu) for i in (1, 2))

    def add(self, number, mtu):
        pod = Pod(f"k{number}")
        pod.ips = [f"10.99.0.{number}", f"fd00:99::{number}"]
        run("ip", "netns", "add", pod.netns)
        run("ip", "-n", pod.netns, "link", "add", "eth0", "mtu", str(mtu), "type", "veth", "peer",
            "name", f"p{number}", "mtu", str(mtu), "netns", "kbr")
        run("ip", "-n", "kbr", "link", "set", f"p{number}", "master", "br0", "up")
        run("ip", "-n", pod.netns, "addr", "add", pod.ips[0] + "/24", "dev", "eth0")
        run("ip", "-n", pod.netns, "addr", "add", pod.ips[1] + "/64", "dev", "eth0", "nodad")
        run("ip", "-n", pod.netns, "link", "set", "lo", "up")
        run("ip", "-n", pod.netns, "link", "set", "eth0", "up")
        return pod

    def next_hop_mac(self):
        return self.b.mac()

    def drops(self):
        return collections.Counter() # shown by the interfaces, if there were any


class Weft:
    """weftd with pods that were attached by the real CNI binary."""
    name = "weft"
    conf = {"cniVersion": "1.0.0", "name": "weft", "type": "weft"}

    def __init__(self, folder):
        self.run_dir, self.state_dir = folder + "/run", folder + "/state"
        self.conf = dict(self.conf, runDir=self.run_dir)
        self.process = None
        self.pods = []
        self.log = open(folder + "/weftd.log", "ab")
        self.start()

    def start(self):
        if self.is_running():
            return
        self.process = subprocess.Popen(
            (BUILD + "/weftd", "--foreground", "--standalone", "--run-dir", self.run_dir,
             "--state-dir", self.state_dir, "--netns", "weft", "--uplink", "none",
             "--pod-cidr", "10.244.1.0/24", "--pod-cidr", "fd00:10:1::/64"),
            stdout=self.log, stderr=self.log)
        try:
            wait_until("weftd is ready", 10, self.is_ready)
        except RuntimeError:
            self.stop()
            raise

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def is_ready(self):
        if not self.is_running():
            raise RuntimeError(f"weftd ended with status {self.process.returncode}")
        return subprocess.run((BUILD + "/weftctl", "--run-dir", self.run_dir, "status"),
                              capture_output=True, check=False).returncode == 0

    def stop(self):
        if self.is_running():
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(10)

    def ctl(self, *argv):
        return json.loads(run(BUILD + "/weftctl", "--run-dir", self.run_dir, "-j", *argv))

    def drops(self):
        """Packets dropped since the daemon's start, by reason."""
        by_reason = collections.Counter()
        for row in self.ctl("drop")["drops"]:
            by_reason[row["reason"]] += row["packets"]
        return by_reason

    def cni(self, verb, pod):
        return call_cni(BUILD + "/weft", verb, pod, self.conf, BUILD)

    def add(self):
        pod = Pod(f"w{len(self.pods) + 1}")
        run("ip", "netns", "add", pod.netns)
        run("ip", "-n", pod.netns, "link", "set", "lo", "up")
        self.pods.append(pod)
        result = json.loads(self.cni("ADD", pod))
        pod.ips = [ip["address"].split("/")[0] for ip in result["ips"]]
        return pod

    def grow(self, count):
        while len(self.pods) < count:
            self.add()

    @property
    def a(self):
        return self.pods[0]

    @property
    def b(self):
        return self.pods[1]

    def next_hop_mac(self):
        """The gateway's MAC, as the pod's permanent neighbour entry has it."""
        rows = json.loads(run("ip", "-n", self.a.netns, "-j", "neigh", "show", "169.254.1.1"))
        return rows[0]["lladdr"]

    def active(self):
        return sum(pod["state"] == "active" for pod in self.ctl("pod")["pods"])

    def uninstall(self):
        self.stop()
        run(BUILD + "/weftctl", "--run-dir", self.run_dir, "uninstall-node",
            "--state-dir", self.state_dir, "--netns", "weft")


def call_cni(binary, verb, pod, conf, path):
    env = {"PATH": os.environ["PATH"], "CNI_COMMAND": verb, "CNI_CONTAINERID": "bench-" + pod.netns,
           "CNI_NETNS": "/run/netns/" + pod.netns, "CNI_IFNAME": pod.ifname, "CNI_PATH": path}
    return run(binary, input=json.dumps(conf), env=env)


def spawn_ready(pod, *argv):
    """Starts a server in the pod and waits for its first line."""
    server = pod.spawn(*argv, stdout=subprocess.PIPE, text=True)
    ready, _, _ = select.select([server.stdout], [], [], 10)
    if not ready or not server.stdout.readline():
        end(server)
        raise RuntimeError(f"{' '.join(argv)} does not start")
    return server


def settle(read):
    """Reads a counter until it stands still: what is still in queues arrives."""
    value = read()
    while True:
        time.sleep(0.05)
        again = read()
        if again == value:
            return value
        value = again


def end(process):
    if process.poll() is None:
        process.terminate()
    process.wait(10)
    if process.stdout:
        process.stdout.close()


@contextlib.contextmanager
def work_folder():
    folder = tempfile.mkdtemp(prefix="weft-bench-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
