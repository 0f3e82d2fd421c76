#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sanitize
# A daemon that waits for an agent, played here by a script: pods are held back until they are
# known, the node object brings ranges, routes and addresses, a change of it moves what is new only.
set -euo pipefail
. "$(dirname "$0")/../harness/node.sh"
node_enter "$0" "$@"

ip addr add 192.0.2.12/32 dev lo
"$BUILD/weftd" --run-dir "$NODE_DIR/run" --state-dir "$NODE_DIR/state" >"$NODE_DIR/weftd.log" 2>&1 &
WEFTD_PID=$!
until_ok 20 test -S "$NODE_DIR/run/weftd.sock" || fail "weftd did not start"
NODE_DIR=$NODE_DIR python3 - <<'PY'
import json, os, sys, time
sys.path.insert(0, "tests/harness")
from weftc import Weft, check, ip, key, make_link, refused, until

run = os.environ["NODE_DIR"] + "/run"
w = Weft(run, who="weftctl")
watch = Weft(run, who="weftctl")
check(watch.call("watch", object="pod")["items"] == [], "watch")


def status():
    return w.get("status")[0]


def node(ips, cidrs, name="n1", own=True):
    return {"op": "set", "kind": "node", "name": name, "self": own, "ips": ips, "pod_cidrs": cidrs}


def pod(name):
    return {"op": "set", "kind": "pod", "namespace": "ns", "name": name, "uid": "u", "labels": {}}


def reserve(name):
    ip("netns", "add", name)
    c = Weft(run, who="weft")
    reply = c.call("attach", **key(name), pod={"namespace": "ns", "name": name, "uid": "u"})
    make_link(name, reply)
    return c, reply


def routes(family):
    rows = json.loads(ip("-j", family, "route", "show", "proto", "77") or "[]")
    return {(r["dst"], r.get("prefsrc")) for r in rows}


check("weft-agent is not connected" in str(status()["problems"]), "problem of the missing agent")
check(not w.call("ready")["ready"], "ready without agent and range")
refused(100, "no pod range yet", lambda: w.call("attach", **key("early")))

agent = Weft(run, who="weft-agent")
agent.call("begin-sync")
agent.call("apply", ops=[node(["192.0.2.11", "fd00:c0::11"], ["10.244.1.0/24", "fd00:10:1::/64"]),
                         node(["192.0.2.99"], ["10.244.9.0/24"], "n9", False)])
check(routes("-4") == {("10.244.1.0/24", "192.0.2.11")}, f"routes {routes('-4')}")
check(("fd00:10:1::/64", "fd00:c0::11") in routes("-6"), f"routes {routes('-6')}")
nodes = {n["name"]: n for n in w.get("node")}
check(nodes["n1"]["route"] == "local" and nodes["n9"]["node_ip"] == "192.0.2.99", "node rows")

# Known only after the first complete sync.
c, reply = reserve("p1")
agent.call("apply", ops=[pod("p1")])
c.send("activate", **key("p1"), wait_ms=20000)
until(5, "p1 waits", lambda: w.get("pod")[0]["state"] == "waiting")
check(os.system("ip netns exec p1 ping -c1 -W1 169.254.1.1 >/dev/null") != 0, "a packet passed")
port = w.get("pod")[0]["port"]
check(any(d["reason"] == "port-not-active" for d in w.get("drop")), "no drop was counted")
agent.call("end-sync")
check(c.recv()["port"] == port, "p1 is not activated by the end of the sync")
c.close()
until(5, "p1 pings", lambda: os.system("ip netns exec p1 ping -c1 -W1 169.254.1.1 >/dev/null") == 0)
agent.call("report", synced=True, last_event_age_s=3,
           problems=[{"what": "x.yaml: line 3", "hint": "mend it"}])
check(status()["agent"]["synced"] and "x.yaml" in str(status()["problems"]), f"{status()}")
agent.call("report", synced=True, problems=[])
check(status()["state"] == "ok" and w.call("ready")["ready"], f"{status()}")

# The agent does not know the pod: code 11 in time, and nothing is left.
c, reply = reserve("p2")
t0 = time.monotonic()
refused(11, "ns/p2", lambda: c.call("activate", **key("p2"), wait_ms=300))
check(0.2 < time.monotonic() - t0 < 5, "wait of 300 ms")
check([p["container_id"] for p in w.get("pod")] == ["id-p1"], "residue of p2")
# The order of replies holds while one is waited for.
reply = c.call("attach", **key("p2"), pod={"namespace": "ns", "name": "p2"})
make_link("p2", reply)
c.send("activate", **key("p2"), wait_ms=10000, id=1)
c.send("ready", id=2)
until(5, "p2 waits", lambda: len(w.get("pod")) == 2)
agent.call("apply", ops=[pod("p2")])
check([c.recv()["id"], c.recv()["id"]] == [1, 2], "order of replies")
# Without a pod there is nobody to wait for.
ip("netns", "add", "plain")
reply = c.call("attach", **key("plain"))
make_link("plain", reply)
c.call("activate", **key("plain"))

# The node's range and address change: old pods stay, new ones come from the new range.
agent.call("apply", ops=[node(["192.0.2.12"], ["10.244.2.0/24"])])
check(routes("-4") == {("10.244.2.0/24", "192.0.2.12")}, f"routes {routes('-4')}")
check(status()["node_ips"] == ["192.0.2.12"], "node addresses")
ip("netns", "add", "new")
reply = c.call("attach", **key("new"))
check(reply["ips"] == ["10.244.2.2"], f"{reply['ips']}")
make_link("new", reply)
c.call("activate", **key("new"))
for other in ("10.244.1.2", "10.244.2.2"):
    until(5, f"plain reaches {other}", lambda: os.system(
        f"ip netns exec plain ping -c1 -W1 {other} >/dev/null") == 0)

# The host reaches pods, and pods see the node's address; a deleted host port is made again.
HOST_PING = "ping -c1 -W1 10.244.2.2 >/dev/null"
until(5, "the host reaches a pod", lambda: os.system(HOST_PING) == 0)
ip("link", "del", "weft0")
until(5, "weft0 is back", lambda: routes("-4") == {("10.244.2.0/24", "192.0.2.12")})
until(5, "the host reaches a pod again", lambda: os.system(HOST_PING) == 0)
check(status()["state"] == "ok", f"after the repair: {status()}")

# The agent goes: pods go on, status says so; it comes back and drops what is no more.
agent.close()
until(5, "agent is gone", lambda: not status()["agent"]["connected"])
other = [p["ips"][0] for p in w.get("pod") if p["container_id"] == "id-p2"][0]
check(os.system(f"ip netns exec p1 ping -c1 -W1 {other} >/dev/null") == 0, "pods stopped")
agent = Weft(run, who="weft-agent")
agent.call("begin-sync")
agent.call("apply", ops=[node(["192.0.2.12"], ["10.244.2.0/24"])])
check(agent.call("end-sync")["removed"] == 3, "n9, p1 and p2 were not repeated")
events = [watch.recv()["event"] for _ in range(4)]
check(events[0] == "added" and "changed" in events, f"events {events}")
PY
kill -TERM "$WEFTD_PID"
wait "$WEFTD_PID" || fail "weftd ended with $?"
ip route show proto 77 | grep -q 10.244.2.0/24 || fail "the host's routes went with weftd"
