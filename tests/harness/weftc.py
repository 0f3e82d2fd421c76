# SPDX-License-Identifier: Apache-2.0
"""A client of weftd's control socket for scripts, and a way to attach pods without the CNI binary.

    w = Weft(run_dir)                      connects and says hello
    w.call("get", object="status")         one request, its reply; Refused when ok is false
    pod = add_pod(w, "p1")                 namespace, veth by ip(8), attach and activate
"""
import array
import json
import os
import socket
import subprocess
import time


class Refused(Exception):
    """A reply with ok=false."""

    def __init__(self, error):
        super().__init__(f"code {error['code']}: {error['msg']}")
        self.code = error["code"]
        self.msg = error["msg"]


class Weft:
    def __init__(self, run_dir, who="test", hello=True, timeout=20):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(timeout)
        self.sock.connect(os.path.join(run_dir, "weftd.sock"))
        self.data = b""
        self.fds = []
        if hello:
            self.call("hello", min=1, max=1, who=who)

    def send(self, type_, **fields):
        self.sock.sendall(json.dumps({"type": type_, **fields}).encode() + b"\n")

    def recv(self):
        """The next line as an object; None when the daemon hung up."""
        while b"\n" not in self.data:
            data, control, _, _ = self.sock.recvmsg(1 << 16, socket.CMSG_SPACE(16))
            for _, kind, payload in control:
                if kind == socket.SCM_RIGHTS:
                    fds = array.array("i")
                    fds.frombytes(payload[:len(payload) // 4 * 4])
                    self.fds += fds
            if not data:
                return None
            self.data += data
        line, self.data = self.data.split(b"\n", 1)
        return json.loads(line)

    def call(self, type_, **fields):
        self.send(type_, **fields)
        reply = self.recv()
        if reply is None:
            raise ConnectionResetError("weftd hung up")
        if not reply["ok"]:
            raise Refused(reply["error"])
        return reply

    def get(self, object_):
        """All rows, page by page."""
        rows, after = [], 0
        while True:
            reply = self.call("get", object=object_, after=after)
            rows += reply["items"]
            after = reply.get("next")
            if not after:
                return rows

    def close(self):
        for fd in self.fds:
            os.close(fd)
        self.fds = []
        self.sock.close()


def ip(*args, netns=None, check=True):
    command = ["ip"] + (["-n", netns] if netns else []) + list(args)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def links(netns="weft"):
    """{name: link} of a namespace."""
    return {x["ifname"]: x for x in json.loads(ip("-d", "-j", "link", netns=netns) or "[]") if x}


def key(name, network="weft", ifname="eth0"):
    return {"network": network, "container_id": f"id-{name}", "ifname": ifname}


def make_link(name, reply, ifname="eth0", netns="weft"):
    """The veth of an attach reply: its pod end in namespace `name`. The kernel honours a peer's
    index only where the first end asks for one as well."""
    index = str(2 + len(links(name)) - 1)
    ip("link", "add", ifname, "index", index, "address", reply["mac"],
       "mtu", str(reply["mtu"]), "netns", name,
       "type", "veth", "peer", "name", reply["host_ifname"], "index", str(reply["host_ifindex"]),
       "mtu", str(reply["mtu"]), "netns", netns)
    for address in reply["ips"]:
        ip("addr", "add", address + ("/128" if ":" in address else "/32"), "dev", ifname,
           *(["nodad"] if ":" in address else []), netns=name)
    ip("link", "set", ifname, "up", netns=name)
    for gateway in dict.fromkeys(reply["gateways"]):
        family = "-6" if ":" in gateway else "-4"
        ip("neigh", "replace", gateway, "lladdr", reply["gateway_mac"], "nud", "permanent", "dev",
           ifname, netns=name)
        if family == "-4":
            ip("route", "add", gateway, "dev", ifname, "scope", "link", netns=name)
        ip(family, "route", "add", "default", "via", gateway, "dev", ifname, netns=name)


def add_pod(w, name, make=True, **fields):
    """Attaches and activates; the attach reply with the port id."""
    if make:
        ip("netns", "add", name)
    reply = w.call("attach", **key(name), netns=f"/run/netns/{name}", **fields)
    make_link(name, reply)
    return {**reply, **w.call("activate", **key(name))}


def until(seconds, what, fn):
    """Calls fn until it returns something true; that is returned."""
    end = time.monotonic() + seconds
    while True:
        value = fn()
        if value:
            return value
        if time.monotonic() > end:
            raise SystemExit(f"FAIL: {what}: still not after {seconds} s")
        time.sleep(0.02)


def check(condition, what):
    if not condition:
        raise SystemExit(f"FAIL: {what}")


def refused(code, text, fn):
    """fn must be refused with this code and a message that holds text."""
    try:
        fn()
    except Refused as error:
        check(error.code == code and text in error.msg, f"wrong refusal: {error}")
        return
    raise SystemExit(f"FAIL: not refused, expected code {code} {text}")
