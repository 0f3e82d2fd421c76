#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares weft with the kernel's bridge and the reference CNI plugins: bench.py [PART...]."""
import json
import os
import platform
import statistics
import sys
import time

import lab
import measure
import report

TCP_SECONDS = 3
PPS_SECONDS = 2
RTT_SECONDS = 1
RTT_SIZE = 64
IDLE_PODS, IDLE_SECONDS = 32, 10
FULL_PODS = 110
CNI_CALLS = 12 # per round


def tcp_round(peer):
    server = peer.b.spawn("iperf3", "-s", "-1", "-p", "5201", stdout=-3, stderr=-3)
    try:
        lab.wait_until("iperf3 listens", 5, lambda: ":5201" in peer.b.run("ss", "-Hltn"))
        text = peer.a.run("iperf3", "-c", peer.b.ips[0], "-p", "5201", "-t", str(TCP_SECONDS),
                          "-O", "0.5", "-J")
    finally:
        lab.end(server)
    end = json.loads(text)["end"]
    return {"gbps": end["sum_received"]["bits_per_second"] / 1e9,
            "retransmits": end["sum_sent"].get("retransmits", 0)}


def part_tcp(bench):
    weft, peer = bench.alternate(tcp_round)
    bench.add(report.Row("TCP, one stream, pod to pod", "Gb/s", "gbps", weft, peer, 0.7, 0.9))


def pps_round(peer):
    before, drops = peer.b.dropped(), peer.drops()
    text = peer.a.run(lab.TOOLS + "/pps_source", peer.a.ifname, str(PPS_SECONDS), peer.a.mac(),
                      peer.next_hop_mac(), peer.a.ips[0], peer.b.ips[0], "8")
    sent = json.loads(text)
    received = lab.settle(peer.b.dropped) - before
    drops = peer.drops() - drops
    return {"kpps": received / sent["seconds"] / 1e3,
            "offered_kpps": sent["sent"] / sent["seconds"] / 1e3,
            "sent": sent["sent"], "received": received, "lost": sent["sent"] - received,
            "counted": drops.total(), "drops": dict(drops)}


def part_pps(bench):
    for peer in bench.peers():
        peer.b.drop_input()
    weft, peer = bench.alternate(pps_round)
    note = " ".join(f"{name}: sent {s.total('sent')}, received {s.total('received')}, "
                    f"lost {s.total('lost')};" for name, s in (("weft", weft), ("bridge", peer)))
    note += f" drops counted by weftd: {weft.total('counted')} {weft.merged('drops')}"
    bench.add(report.Row("64-byte packets received", "kpps", "kpps", weft, peer, 1.2, 1.5,
                         note=note))
    bench.add(report.Row("64-byte packets offered", "kpps", "offered_kpps", weft, peer))


def rtt_round(protocol):
    def fn(peer):
        server = lab.spawn_ready(peer.b, lab.TOOLS + "/pingpong", "server", protocol,
                                 peer.b.ips[0], "7000")
        try:
            return json.loads(peer.a.run(lab.TOOLS + "/pingpong", "client", protocol, peer.b.ips[0],
                                         "7000", str(RTT_SECONDS), str(RTT_SIZE)))
        finally:
            lab.end(server)
    return fn


def part_rtt(bench):
    for protocol in ("tcp", "udp"):
        weft, peer = bench.alternate(rtt_round(protocol))
        bench.add(report.Row(f"{protocol.upper()} ping-pong p50", "us", "p50_us", weft, peer, 5, 3,
                             less=True))
        bench.add(report.Row(f"{protocol.upper()} ping-pong p99", "us", "p99_us", weft, peer,
                             less=True))


def on_cpu_seconds(pid):
    """Time that all threads of a process ran, in user space and in its system calls."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def idle_round(weft):
    def fn(is_on):
        if is_on:
            weft.start()
        else:
            weft.stop()
        # What the start itself costs is not idle.
        lab.wait_until("pods are open", 20, lambda: not is_on or weft.active() == len(weft.pods))
        start = on_cpu_seconds(weft.process.pid) if is_on else 0
        before = measure.cpu_times()
        began = time.monotonic()
        time.sleep(IDLE_SECONDS)
        seconds = time.monotonic() - began
        delta = measure.cpu_delta(before, measure.cpu_times())
        own = on_cpu_seconds(weft.process.pid) - start if is_on else 0
        kernel = delta["system"] + delta["irq"] + delta["softirq"]
        return {"own": own / seconds, "kernel": kernel / seconds}
    return fn


def part_idle(bench):
    weft = bench.weft
    weft.grow(IDLE_PODS)
    on, off = bench.alternate(idle_round(weft), (True, False), rounds=3)
    weft.start()
    # Other work on the machine only adds to the kernel's time, so the smallest round is the truest.
    own, kernel = on.median("own"), on.smallest("kernel") - off.smallest("kernel")
    # It contains the system time of weftd's own threads, so the larger one counts.
    cores = max(own, kernel)
    tick = 1 / os.sysconf("SC_CLK_TCK") / IDLE_SECONDS
    note = (f"weftd {own:.5f}, system and irq time over that without weftd {kernel:.5f} "
            f"(ticks of {tick:.4f})")
    bench.add(report.Value(f"idle CPU, {len(weft.pods)} quiet pods", "core", cores, 0.01, 0.002,
                           note))


def resident_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    raise RuntimeError("no VmRSS")


def part_memory(bench):
    weft = bench.weft
    few = len(weft.pods)
    before = resident_mb(weft.process.pid)
    weft.grow(FULL_PODS)
    lab.wait_until("pods are open", 20, lambda: weft.active() == FULL_PODS)
    after = resident_mb(weft.process.pid)
    each = (after - before) / (FULL_PODS - few)
    bench.add(report.Value("memory per pod port", "MB", each, 1.5, 0.5,
                           f"{few} to {FULL_PODS} pods"))
    bench.add(report.Value(f"weftd resident, {FULL_PODS} pods", "MB", after, 256, 96))


class Ptp:
    """The reference plugins: ptp with host-local addresses."""
    name = "ptp + host-local"
    # IPv4 only: with an IPv6 address ptp waits more than a second for duplicate detection.
    conf = {"cniVersion": "1.0.0", "name": "ptp", "type": "ptp",
            "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.98.0.0/16"}]]}}

    def __init__(self, folder):
        self.conf = json.loads(json.dumps(self.conf))
        self.conf["ipam"]["dataDir"] = folder + "/host-local"

    def cni(self, verb, pod):
        return lab.call_cni(lab.CNI_DIR + "/ptp", verb, pod, self.conf, lab.CNI_DIR)


def cni_round(peer):
    times = {"ADD": [], "DEL": []}
    for i in range(CNI_CALLS):
        pod = lab.Pod(f"cni{i}")
        lab.run("ip", "netns", "add", pod.netns)
        for verb, values in times.items():
            start = time.monotonic()
            peer.cni(verb, pod)
            values.append((time.monotonic() - start) * 1e3)
        lab.run("ip", "netns", "del", pod.netns)
    return {"add_ms": statistics.median(times["ADD"]), "del_ms": statistics.median(times["DEL"]),
            "count": CNI_CALLS}


def part_cni(bench):
    weft, peer = bench.alternate(cni_round, (bench.weft, Ptp(bench.folder)))
    bench.add(report.Row("CNI ADD p50", "ms", "add_ms", weft, peer, 0.5, 0.3, less=True,
                         peer_name=Ptp.name))
    bench.add(report.Row("CNI DEL p50", "ms", "del_ms", weft, peer, less=True, peer_name=Ptp.name))


PARTS = {"tcp": part_tcp, "pps": part_pps, "rtt": part_rtt, "idle": part_idle,
         "cni": part_cni, "memory": part_memory}


class Bench:
    def __init__(self, folder, weft):
        self.folder = folder
        self.weft = weft
        self.start = time.monotonic()
        self.calibrator = measure.Calibrator(lambda: self.weft.process.pid)
        self.weft.grow(2)
        self.bridge = lab.Bridge(self.weft.a.link()["mtu"])
        self.rows = []

    def peers(self):
        return self.weft, self.bridge

    def alternate(self, fn, peers=None, rounds=measure.ROUNDS):
        return measure.alternate(self.calibrator, fn, peers or self.peers(), rounds)

    def add(self, row):
        self.rows.append(row)
        print(row.text(), flush=True)

    def document(self):
        return {"machine": {"kernel": platform.release(), "cpus": os.cpu_count(),
                            "arch": platform.machine()},
                "mtu": self.weft.a.link()["mtu"], "calibration_us": self.calibrator.best,
                "seconds": time.monotonic() - self.start,
                "rows": [row.document() for row in self.rows]}


def main():
    names = sys.argv[1:] or list(PARTS)
    unknown = [n for n in names if n not in PARTS]
    if unknown:
        print(f"no such part: {' '.join(unknown)}; there are: {' '.join(PARTS)}", file=sys.stderr)
        return 2
    with lab.work_folder() as folder:
        weft = lab.Weft(folder)
        try:
            bench = Bench(folder, weft)
            print(report.HEAD)
            for name in names:
                PARTS[name](bench)
            document = bench.document()
        finally:
            weft.uninstall()
    with open(os.path.join(lab.BUILD, "bench.json"), "w", encoding="ascii") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    print(report.tail(bench.rows, document))
    return 0 if all(row.is_met() or row.is_disturbed() for row in bench.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
