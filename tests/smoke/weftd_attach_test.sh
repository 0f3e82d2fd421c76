#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sanitize
# Attachments over the socket with real links: names, address sizes, orphans of a dead client, links
# that go away, spooled deletes, a full disk.
set -euo pipefail
. "$(dirname "$0")/../harness/node.sh"
node_enter "$0" "$@"

node_start --standalone --pod-cidr 10.244.1.0/29 --pod-cidr fd00:10:1::/64
NODE_DIR=$NODE_DIR python3 - <<'PY'
import json, os, sys
sys.path.insert(0, "tests/harness")
from weftc import Weft, add_pod, check, ip, key, links, make_link, refused, until

node = os.environ["NODE_DIR"]
w = Weft(node + "/run")


def pods():
    return {p["container_id"]: p for p in w.get("pod")}


def dropped():
    return [d for d in w.get("drop") if d["packets"]]


def pod_links():
    return [n for n in links() if n.startswith("w")]


# Long ids with the same head, two interfaces of one id: distinct names of at most 15 bytes (row 3).
names = set()
for tail, ifname in (("01", "eth0"), ("02", "eth0"), ("01", "net1")):
    c = Weft(node + "/run")
    reply = c.call("attach", network="weft", container_id="a" * 62 + tail, ifname=ifname)
    check(len(c.fds) == 1, "no namespace came along")
    names.add(reply["host_ifname"])
    c.close()
check(len(names) == 3 and all(len(n) <= 15 for n in names), f"names {names}")
until(5, "reservations die with their connections", lambda: not pods())

# A link of somebody else has the name: another one is taken.
c = Weft(node + "/run")
first = c.call("attach", **key("clash"))["host_ifname"]
c.close()
until(5, "reservation is gone", lambda: not pods())
ip("link", "add", first, "type", "veth", "peer", "name", "other", netns="weft")
check(add_pod(w, "clash")["host_ifname"] != first, "the name of a stranger was given")
check(w.call("detach", **key("clash"))["found"], "detach")
ip("link", "del", first, netns="weft")
ip("netns", "del", "clash")

# A client dies after each step of an ADD: nothing is left (row 7).
for step in ("attach", "link", "activate-wrong"):
    ip("netns", "add", "half")
    c = Weft(node + "/run")
    reply = c.call("attach", **key("half"))
    if step != "attach":
        make_link("half", reply)
    if step == "activate-wrong":
        ip("link", "set", reply["host_ifname"], "name", "renamed", netns="weft")
        refused(102, "host end", lambda: c.call("activate", **key("half")))
        ip("link", "del", "renamed", netns="weft")
    c.close()
    until(5, f"{step}: pool is back", lambda: not pods() and not pod_links())
    check("eth0" not in links("half"), f"{step}: the pod's end is left")
    ip("netns", "del", "half")

# A /29 has five addresses; a refused sixth leaves nothing; a freed one comes back (row 10).
for i in range(5):
    add_pod(w, f"p{i}")
check({p["ips"][0] for p in pods().values()} == {f"10.244.1.{i}" for i in range(2, 7)}, "addresses")
refused(100, "no free address in 10.244.1.0/29: 5 of 5 used",
        lambda: w.call("attach", **key("p5")))
check(not w.call("ready")["ready"], "ready although the pool is empty")
check(len(pods()) == 5 and len(pod_links()) == 5, "residue of the refused one")
refused(100, "10.244.1.3 is taken by container id-p", lambda: w.call("attach", **key("p5"),
                                                                    ips=["10.244.1.3"]))
check(w.call("detach", **key("p3"))["found"], "detach p3")
check(not w.call("detach", **key("p3"))["found"], "second detach of p3")
free = [i for i in range(2, 7) if f"10.244.1.{i}" not in {p["ips"][0] for p in pods().values()}]
check(add_pod(w, "p5")["ips"][0] == f"10.244.1.{free[0]}", "the freed address")

# Links change under a running daemon (row 46): down and up is a pause, deleted is the end.
for i in range(2):
    until(5, "pods talk", lambda: "1 received" in os.popen(
        "ip netns exec p0 ping -c1 -W1 " + pods()["id-p1"]["ips"][0]).read())
    host = pods()["id-p1"]["port"]
    name = [p["name"] for p in w.get("port") if p["id"] == host][0]
    ip("link", "set", name, "down", netns="weft")
    ip("link", "set", name, "up", netns="weft")
ip("link", "del", "eth0", netns="p1")
until(5, "p1 is gone", lambda: pods()["id-p1"]["state"] == "gone")
check(len([p for p in w.get("port") if p["kind"] == "pod"]) == 4, "the port of p1 is still open")
check(pods()["id-p1"]["ips"], "the address of p1 is kept")
valid = [{"container_id": i, "ifname": "eth0"} for i in pods() if i not in ("id-p1", "id-p4")]
check(w.call("gc", network="weft", valid=valid)["released"] == [
    {"container_id": "id-p1", "ifname": "eth0"}], "gc releases the dead one only")
name = [p["name"] for p in w.get("port") if p["id"] == pods()["id-p2"]["port"]][0]
ip("link", "del", name, netns="weft")
until(5, "p2 is gone", lambda: pods()["id-p2"]["state"] == "gone")
refused(103, "gone", lambda: w.call("check", **key("p2")))
# p4 was not listed: it goes with its link, without the minute of grace.
ip("netns", "del", "p4")
until(10, "p4 is released", lambda: "id-p4" not in pods())

# Churn: nothing adds up.
for i in range(20):
    add_pod(w, "churn")
    check(w.call("detach", **key("churn"))["found"], "churn")
    until(5, "link of churn is gone", lambda: "eth0" not in links("churn"))
    ip("netns", "del", "churn")
check(len([p for p in w.get("port") if p["kind"] == "pod"]) == 2, "ports after churn")

# A delete that was spooled while nobody listened.
with open(node + "/run/spool/.x", "w", encoding="utf-8") as f:
    json.dump(key("p2"), f)
os.rename(node + "/run/spool/.x", node + "/run/spool/x.json")
with open(node + "/run/spool/bad.json", "w", encoding="utf-8") as f:
    f.write("garbage")
until(5, "spooled delete", lambda: "id-p2" not in pods())
until(5, "spool is empty", lambda: sorted(os.listdir(node + "/run/spool")) == ["bad.json.bad"])
PY
node_stop

# A journal that cannot be written: ADD is refused and undone, DEL works and is written later.
mkdir "$NODE_DIR/small"
mount -t tmpfs -o size=64k none "$NODE_DIR/small"
mkdir "$NODE_DIR/small/state"
start_small() {
	node_start --state-dir "$NODE_DIR/small/state" --standalone --pod-cidr 10.244.2.0/24
}
start_small
NODE_DIR=$NODE_DIR python3 - <<'PY'
import os, sys
sys.path.insert(0, "tests/harness")
from weftc import Weft, add_pod, check, ip, key, links, refused, until

node = os.environ["NODE_DIR"]
w = Weft(node + "/run")
add_pod(w, "d0")
add_pod(w, "d1")

def fill(path):
    """Writes until the disk is full."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        while True:
            os.write(fd, b"\n")
    except OSError:
        os.close(fd)


fill(node + "/small/fill")
fill(node + "/small/state/journal")  # the rest of its last page
refused(5, "journal", lambda: w.call("attach", **key("d2")))
status = w.get("status")[0]
check(status["state"] == "degraded" and "journal" in str(status["problems"]), f"status {status}")
check(not w.call("ready")["ready"], "ready without a journal")
check(w.call("detach", **key("d0"))["found"], "DEL with a full disk")
until(5, "its link is gone", lambda: "eth0" not in links("d0"))
os.unlink(node + "/small/fill")
until(15, "the journal is written again", lambda: w.get("status")[0]["state"] == "ok")
add_pod(w, "d3")
PY
node_kill
start_small
names=$(ctl -j pod | jq -r '.pods[].container_id | select(startswith("id-d"))' | sort | xargs)
[ "$names" = "id-d1 id-d3" ] ||
	fail "after the restart: $(ctl -j pod)"
node_stop
umount "$NODE_DIR/small"
