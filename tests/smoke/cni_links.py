# SPDX-License-Identifier: Apache-2.0
"""ADD, CHECK and DEL with real links in real namespaces."""

import json
import os

import cni

NS = "wtest"
PREV = {"interfaces": [{"name": "other", "mac": "02:00:00:00:00:99", "x": 1}],
        "ips": [{"version": "4", "address": "10.8.0.1/24", "interface": 0}],
        "routes": [{"dst": "10.8.0.0/16"}], "dns": {"nameservers": ["10.0.0.53"]}}


def check_add(checks, box):
    cni.netns("p1")
    cni.sh("ip", "netns", "exec", "p1", "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1",
           "net.ipv6.conf.default.disable_ipv6=1")
    done = box.call("ADD")
    if not checks.same("ADD: code", done.code, 0, done):
        return
    res = done.json
    checks.same("ADD: stderr", done.err, "")
    checks.same("ADD: interfaces", [(i["name"], i["sandbox"]) for i in res["interfaces"]],
                [("eth0", "/run/netns/p1")])
    checks.same("ADD: ips", [(i["address"], i["gateway"], i["interface"]) for i in res["ips"]],
                [("10.99.0.1/32", "169.254.1.1", 0), ("fd00:99::1/128", "fe80::1", 0)])
    checks.same("addresses", cni.addresses("p1", "eth0"), ["10.99.0.1/32", "fd00:99::1/128"])
    checks.same("default v4", cni.defaults("p1", 4), [("169.254.1.1", "eth0")])
    checks.same("default v6", cni.defaults("p1", 6), [("fe80::1", "eth0")])
    link = json.loads(cni.sh("ip", "-n", "p1", "-d", "-j", "link", "show", "eth0"))[0]
    checks.same("mac", link["address"], res["interfaces"][0]["mac"])
    checks.same("mtu", link["mtu"], 1450)
    checks.same("operstate", link["operstate"], "UP")
    checks.same("gso size", link["gso_max_size"], 65536)
    lo = json.loads(cni.sh("ip", "-n", "p1", "-j", "link", "show", "lo"))[0]
    checks.that("lo is up", "UP" in lo["flags"], lo)
    neigh = json.loads(cni.sh("ip", "-n", "p1", "-j", "neigh"))
    checks.same("neighbours", sorted((n["dst"], n["lladdr"], n["state"][0]) for n in neigh),
                [("169.254.1.1", "02:77:65:66:74:01", "PERMANENT"),
                 ("fe80::1", "02:77:65:66:74:01", "PERMANENT")])
    flags = cni.sh("ip", "-n", "p1", "-6", "addr", "show", "dev", "eth0")
    checks.that("no duplicate address detection", "tentative" not in flags, flags)
    for key, want in (("disable_ipv6", "0"), ("accept_ra", "0"), ("accept_dad", "0")):
        got = cni.sh("ip", "netns", "exec", "p1", "cat", f"/proc/sys/net/ipv6/conf/eth0/{key}")
        checks.same(f"sysctl {key}", got.strip(), want)
    checks.same("host end", len(cni.links(NS)), 1)
    checks.same("nothing on the host", cni.sh("ip", "-o", "link").count("\n"), 1)
    check_twice(checks, box, link["ifindex"])
    check_second(checks, box)
    check_check(checks, box, res)


def check_twice(checks, box, ifindex):
    done = box.call("ADD")
    checks.same("second ADD: code", done.code, 101, done)
    link = json.loads(cni.sh("ip", "-n", "p1", "-j", "link", "show", "eth0"))[0]
    checks.same("second ADD: link untouched", link["ifindex"], ifindex)
    checks.same("second ADD: weftd not asked", len(box.requests("attach")), 1)


def check_second(checks, box):
    """net1 beside eth0: the first way out stays, and goes only with its own interface."""
    done = box.call("ADD", ifname="net1")
    checks.same("net1: code", done.code, 0, done)
    checks.same("net1: first default first", cni.defaults("p1", 4),
                [("169.254.1.1", "eth0"), ("169.254.1.1", "net1")])
    checks.same("net1: v6", cni.defaults("p1", 6)[0], ("fe80::1", "eth0"))
    done = box.call("DEL", ifname="net1")
    checks.same("net1: DEL", done.code, 0, done)
    checks.same("net1: eth0 stays", cni.links("p1"), ["eth0"])
    checks.same("net1: its way out too", cni.defaults("p1", 4), [("169.254.1.1", "eth0")])


def check_check(checks, box, res):
    def expect(name, code, prev, **more):
        done = box.call("CHECK", box.conf(prevResult=prev), **more)
        checks.same(f"CHECK {name}: code", done.code, code, done)
        if code == 0:
            checks.same(f"CHECK {name}: stdout", done.out, "")

    def changed(**top):
        return {**res, **top}

    ours = res["interfaces"][0]
    expect("after ADD", 0, res)
    expect("other spelling", 0, changed(interfaces=[{**ours, "sandbox": "/var/run/netns/p1"}]))
    expect("mac in capitals", 0, changed(interfaces=[{**ours, "mac": ours["mac"].upper()}]))
    expect("normalised address", 0, changed(ips=[{**res["ips"][1],
                                                  "address": "fd00:99:0::0:1/128"}]))
    expect("wrong mac", 103, changed(interfaces=[{**ours, "mac": "02:00:00:00:00:77"}]))
    expect("wrong mtu", 103, changed(interfaces=[{**ours, "mtu": 9000}]))
    expect("other address", 103, changed(ips=[{**res["ips"][0], "address": "10.1.1.1/32"}]))
    expect("host address of another", 0,
           changed(interfaces=[ours, {"name": "h"}],
                   ips=res["ips"] + [{"address": "10.1.1.1/24", "interface": 1}]))
    expect("no such interface", 103, changed(interfaces=[{**ours, "name": "eth7"}]))
    expect("bad address", 6, changed(ips=[{"interface": 0, "address": "x"}]))
    expect("no interfaces", 6, {})
    expect("netns gone", 8, res, pod="nope")
    cni.sh("ip", "-n", "p1", "link", "set", "eth0", "address", "02:00:00:00:00:42")
    expect("changed mac, old prevResult", 103, res)
    expect("changed mac, new prevResult", 0,
           changed(interfaces=[{**ours, "mac": "02:00:00:00:00:42"}]))
    checks.same("weftd learns the mac", box.requests("check")[-1]["mac"], "02:00:00:00:00:42")
    res = changed(interfaces=[{"name": "eth0", "sandbox": ours["sandbox"]}])
    cni.sh("ip", "-n", "p1", "route", "del", "default")
    expect("no default route", 103, res)
    cni.sh("ip", "-n", "p1", "addr", "del", "10.99.0.1/32", "dev", "eth0")
    expect("no address", 103, changed(routes=[]))
    cni.sh("ip", "-n", "p1", "link", "set", "eth0", "down")
    expect("down", 103, changed(routes=[], ips=[]))
    cni.sh("ip", "-n", "p1", "link", "del", "eth0")
    expect("no link", 103, res)


def check_del(checks, box):
    """A DEL succeeds whatever is left, and touches nobody else's link."""
    cni.netns("p2")
    plain = os.path.join(box.dir, "file")
    with open(plain, "w", encoding="utf-8"):
        pass
    prev_old = {"cniVersion": "0.2.0", "ip4": {"ip": "1.2.3.4/24"}}
    ways = [
        ("ordinary", {}, {}),
        ("netns empty", {}, {"CNI_NETNS": ""}),
        ("netns unset", {}, {"CNI_NETNS": None}),
        ("netns gone", {}, {"CNI_NETNS": "/run/netns/nope"}),
        ("netns is a file", {}, {"CNI_NETNS": plain}),
        ("netns of another pod", {}, {"CNI_NETNS": "/run/netns/p3"}),
        ("netns is ours", {}, {"CNI_NETNS": "/proc/self/ns/net"}),
        ("prevResult of another version", {"prevResult": prev_old}, {}),
        ("prevResult garbage", {"prevResult": "what"}, {}),
        ("unsupported version", {"cniVersion": "9.9.9"}, {}),
        ("no version", {"cniVersion": ...}, {}),
        ("other options", {"mtu": "x", "runtimeConfig": 1, "args": [], "dns": 3}, {}),
        ("args without equals", {}, {"CNI_ARGS": "A"}),
    ]
    cni.netns("p3")
    box.call("ADD", pod="p3", cid="other")
    for name, conf, env in ways:
        done = box.call("ADD", pod="p2", cid="c2")
        checks.same(f"DEL {name}: ADD", done.code, 0, done)
        for i in range(3):
            done = box.call("DEL", box.conf(**conf), **{"pod": "p2", "cid": "c2", **env})
            checks.same(f"DEL {name} {i}: status", done.status, 0, done)
            checks.same(f"DEL {name} {i}: stdout", done.out, "")
        checks.same(f"DEL {name}: pod", cni.links("p2"), [])
        checks.same(f"DEL {name}: other pod", cni.links("p3"), ["eth0"])
    box.call("ADD", pod="p2", cid="c2")
    calls = [box.start("DEL", pod="p2", cid="c2") for _ in range(8)]
    for done in map(box.finish, calls):
        checks.same("parallel DEL: status", done.status, 0, done)
    box.call("DEL", pod="p3", cid="other")
    checks.same("nothing left", cni.links(NS), [])


def check_names(checks, box):
    cni.netns("n1")
    for ifname in ("a%d", "a%b"):
        done = box.call("ADD", pod="n1", ifname=ifname)
        checks.same(f"ifname {ifname}: code", done.code, 4, done)
        checks.same(f"ifname {ifname}: nothing made", cni.links("n1"), [])
    for ifname in ("abcdefghijklmno", "a.1", "\u00e4"):
        done = box.call("ADD", pod="n1", ifname=ifname)
        checks.same(f"ifname {ifname}: code", done.code, 0, done)
        checks.that(f"ifname {ifname}: there", ifname in cni.links("n1"), cni.links("n1"))
        box.call("DEL", pod="n1", ifname=ifname)
    for cid in ("a" * 512, "aaaaaaaaaaaa01", "aaaaaaaaaaaa02"):
        done = box.call("ADD", pod="n1", cid=cid, ifname="e" + cid[-3:])
        checks.same(f"id {cid[:16]}: code", done.code, 0, done)
    checks.same("host ends differ", len(set(cni.links(NS))), 3)
    for cid in ("a" * 512, "aaaaaaaaaaaa01", "aaaaaaaaaaaa02"):
        box.call("DEL", pod="n1", cid=cid, ifname="e" + cid[-3:])
    cni.sh("ip", "-n", "n1", "link", "add", "eth0", "type", "veth", "peer", "name", "x")
    done = box.call("ADD", pod="n1")
    checks.same("foreign eth0: code", done.code, 101, done)
    checks.same("foreign eth0: untouched", cni.links("n1"), ["eth0", "x"])
    checks.same("nothing left", cni.links(NS), [])


def check_chain(checks, box):
    """Stock plugins behind ours take our result, and our CHECK takes what they made of it."""
    cni.netns("ch")
    ports = {"portMappings": [{"hostPort": 18080, "containerPort": 80, "protocol": p}
                              for p in ("tcp", "udp")]}
    for kind, more in (("portmap", {"snat": True, "runtimeConfig": ports}),
                       ("tuning", {"mac": "02:00:00:00:00:42", "mtu": 1300})):
        plugin = f"/usr/lib/cni/{kind}"
        if not os.access(plugin, os.X_OK):
            continue
        ours = box.call("ADD", pod="ch")
        conf = box.conf(type=kind, prevResult=ours.json, **more)
        theirs = box.call("ADD", conf, pod="ch", plugin=plugin)
        if not checks.same(f"{kind} after us: code", theirs.code, 0, theirs):
            continue
        done = box.call("CHECK", box.conf(prevResult=theirs.json), pod="ch")
        checks.same(f"{kind} after us: our CHECK", done.code, 0, done)
        conf["prevResult"] = theirs.json
        done = box.call("DEL", conf, pod="ch", plugin=plugin)
        checks.same(f"{kind} after us: DEL", done.code, 0, done)
        box.call("DEL", pod="ch")
    checks.same("chain: nothing left", cni.links(NS), [])


def check_versions(checks, box):
    cni.netns("v1")
    for version in ("0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0", ...):
        chained = version not in ("0.1.0", "0.2.0", ...)
        conf = box.conf(cniVersion=version, **({"prevResult": PREV} if chained else {}))
        done = box.call("ADD", conf, pod="v1")
        if not checks.same(f"{version}: code", done.code, 0, done):
            continue
        res = done.json
        checks.same(f"{version}: version", res["cniVersion"],
                    "0.1.0" if version is ... else version)
        if chained:
            checks.same(f"{version}: prevResult first", res["interfaces"][0],
                        PREV["interfaces"][0])
            checks.same(f"{version}: indices", [i["interface"] for i in res["ips"]], [0, 1, 1])
            checks.same(f"{version}: dns", res["dns"], PREV["dns"])
        else:
            checks.same(f"{version}: ip4", res["ip4"]["gateway"], "169.254.1.1")
        checks.same(f"{version}: DEL", box.call("DEL", conf, pod="v1").status, 0)


def check_wishes(checks, box):
    """Addresses asked for in three places; the one nearest to the config wins."""
    cni.netns("w1")
    rc = {"ips": ["10.7.0.2/24", "fd07::2/64"], "mac": "02:00:00:00:07:02"}
    args = {"cni": {"ips": ["10.7.0.1"]}}
    env = "IgnoreUnknown=1;IP=10.7.0.3,fd07::3;MAC=02:00:00:00:07:03;K8S_POD_NAME=x"
    for name, conf, ips, mac in (
            ("args", {"args": args, "runtimeConfig": rc}, ["10.7.0.1"], "02:00:00:00:07:02"),
            ("runtimeConfig", {"runtimeConfig": rc}, ["10.7.0.2", "fd07::2"],
             "02:00:00:00:07:02"),
            ("CNI_ARGS", {}, ["10.7.0.3", "fd07::3"], "02:00:00:00:07:03")):
        done = box.call("ADD", box.conf(**conf, mtu=1400), pod="w1", CNI_ARGS=env)
        checks.same(f"wish {name}: code", done.code, 0, done)
        asked = box.requests("attach")[-1]
        checks.same(f"wish {name}: asked", (asked["ips"], asked["mac"], asked["mtu"]),
                    (ips, mac, 1400))
        checks.same(f"wish {name}: got", [a.split("/")[0] for a in cni.addresses("w1", "eth0")],
                    ips)
        checks.that(f"wish {name}: no pod", "pod" not in asked, asked)
        box.call("DEL", pod="w1")
    done = box.call("ADD", box.conf(addTimeout=2), pod="w1",
                    CNI_ARGS="K8S_POD_NAMESPACE=ns;K8S_POD_NAME=n;K8S_POD_UID=u")
    checks.same("pod: code", done.code, 0, done)
    checks.same("pod: attach", box.requests("attach")[-1]["pod"],
                {"namespace": "ns", "name": "n", "uid": "u"})
    checks.that("pod: wait", 2000 <= box.requests("activate")[-1]["wait_ms"] <= 2001)
    checks.that("pod: plain ones do not wait", "wait_ms" not in box.requests("activate")[0])
    warned = box.call("ADD", box.conf(runtimeConfig={"portMappings": [
        {"HostPort": 5353, "ContainerPort": 53, "Protocol": "udp", "HostIP": ""}]}),
        pod="w1", ifname="e2")
    checks.that("host port: warning", warned.status == 0 and "not enforced" in warned.err, warned)
    box.call("DEL", pod="w1", ifname="e2")
    box.call("DEL", pod="w1")
    done = box.call("ADD", pod="w1", CNI_NETNS="/proc/self/ns/net", CNI_NETNS_OVERRIDE="1")
    checks.same("own netns with override: code", done.code, 0, done)
    box.call("DEL", CNI_NETNS="")
    checks.same("nothing left", cni.links(NS), [])


def check_status_gc(checks, box):
    new = {"cniVersion": "1.1.0"}
    done = box.call("STATUS", box.conf(**new))
    checks.same("STATUS: code", (done.code, done.out), (0, ""), done)
    for pod in ("g1", "g2", "g3"):
        cni.netns(pod)
        box.call("ADD", pod=pod, cid=pod)
    valid = [{"containerID": "g1", "ifname": "eth0"}]
    many = [{"containerID": f"{i:064x}", "ifname": "eth0"} for i in range(10000)]
    for name, keys, want in (
            ("valid-attachments", {"cni.dev/valid-attachments": valid}, 1),
            ("attachments", {"cni.dev/attachments": valid}, 1),
            ("both", {"cni.dev/valid-attachments": valid, "cni.dev/attachments": []}, 1),
            ("null", {"cni.dev/valid-attachments": None}, 0),
            ("empty", {"cni.dev/valid-attachments": []}, 0),
            ("absent", {}, None),
            ("10000", {"cni.dev/valid-attachments": many + valid}, 1)):
        done = box.call("GC", box.conf(**new, **keys))
        checks.same(f"GC {name}: code", (done.code, done.out), (0, ""), done)
        got = box.requests("gc")[-1].get("valid")
        checks.same(f"GC {name}: list", got if got is None else len(got), want)
    checks.same("GC 10000: the known one", got, [{"container_id": "g1", "ifname": "eth0"}])
    checks.same("GC: live ones stay", len(cni.links(NS)), 3)
    for pod in ("g1", "g2", "g3"):
        box.call("DEL", pod=pod, cid=pod)


def main():
    checks = cni.Checks()
    box = cni.Box(NS)
    try:
        with box.fake():
            check_add(checks, box)
            box.call("DEL")
            check_del(checks, box)
            check_names(checks, box)
            check_chain(checks, box)
            check_versions(checks, box)
            check_wishes(checks, box)
            check_status_gc(checks, box)
    finally:
        box.close()
    checks.end()


main()
