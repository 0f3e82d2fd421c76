#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rounds that alternate between peers, with a guard against a machine that does other work."""
import collections
import contextlib
import json
import os
import resource
import statistics
import time

import lab

ROUNDS = 4 # of each peer; more where some were disturbed
DRIFT = 1.12        # a calibration this much above the best one means a disturbed machine
WAIT_SECONDS = 60   # for a disturbed machine to become quiet, in all
FOREIGN = 0.04      # cores in user mode that processes other than ours may use
STEAL = 0.02        # share of the machine's time that the hypervisor kept
EXTRA_ROUNDS = 6    # of each peer at most, in place of disturbed ones


def cpu_times():
    """Seconds per kind, summed over processors."""
    with open("/proc/stat", encoding="ascii") as file:
        values = [int(v) for v in file.readline().split()[1:]]
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    return {n: v / os.sysconf("SC_CLK_TCK") for n, v in zip(names, values)}


def cpu_delta(before, after):
    return {name: after[name] - before[name] for name in before}


def busy(delta):
    return sum(v for name, v in delta.items() if name not in ("idle", "iowait", "steal"))


def own_user(pid):
    """User time of the bench, of its finished children and of the daemon, in seconds."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    total = sum(resource.getrusage(kind).ru_utime for kind in kinds)
    with contextlib.suppress(FileNotFoundError):
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            total += int(file.read().rsplit(")", 1)[1].split()[11]) / os.sysconf("SC_CLK_TCK")
    return total


class Calibrator:
    """Tells a quiet machine from a disturbed one."""

    def __init__(self, daemon):
        self.daemon = daemon # gives the process id of the daemon under test
        self.best = min(self.sample() for _ in range(5))
        self.left = WAIT_SECONDS

    @staticmethod
    def sample():
        return json.loads(lab.run(lab.TOOLS + "/calibrate"))["us"]

    def is_quiet(self):
        value = self.sample()
        self.best = min(self.best, value)
        return value <= self.best * DRIFT

    def wait_quiet(self):
        start = time.monotonic()
        quiet = self.is_quiet()
        while not quiet and time.monotonic() - start < self.left:
            quiet = self.is_quiet()
        self.left -= time.monotonic() - start
        return quiet


class Series:
    """Values of one thing over rounds; those of disturbed rounds are set aside."""

    def __init__(self, rounds):
        self.rounds = rounds
        self.good, self.disturbed = [], []

    def add(self, value, is_good):
        (self.good if is_good else self.disturbed).append(value)

    def values(self):
        """Disturbed rounds count only where quiet ones are too few."""
        return self.good + self.disturbed if self.is_disturbed() else self.good

    def is_disturbed(self):
        return len(self.good) < self.rounds

    def median(self, key):
        return statistics.median(v[key] for v in self.values())

    def smallest(self, key):
        return min(v[key] for v in self.values())

    def spread(self, key):
        values = [v[key] for v in self.values()]
        middle = statistics.median(values)
        return (max(values) - min(values)) / middle if middle else 0.0

    def total(self, key):
        return sum(v[key] for v in self.good + self.disturbed)

    def merged(self, key):
        """Sum of counters by name, over all rounds."""
        total = collections.Counter()
        for value in self.good + self.disturbed:
            total.update(value[key])
        return dict(total)


def one_round(calibrator, fn, peer, series):
    quiet = calibrator.wait_quiet()
    before, own, start = cpu_times(), own_user(calibrator.daemon()), time.monotonic()
    value = fn(peer)
    seconds = time.monotonic() - start
    delta = cpu_delta(before, cpu_times())
    # A daemon that a round started or stopped takes its earlier time with it: never below nothing.
    foreign = delta["user"] + delta["nice"] - max(0.0, own_user(calibrator.daemon()) - own)
    value.update(cores=busy(delta) / seconds, foreign=foreign / seconds)
    good = (quiet and foreign / seconds <= FOREIGN and
            delta["steal"] / sum(delta.values()) <= STEAL and calibrator.is_quiet())
    series.add(value, good)


def alternate(calibrator, fn, peers, rounds=ROUNDS):
    """A B B A A B B A ...: series per peer. Disturbed rounds are repeated, within a bound."""
    series = [Series(rounds) for _ in peers]
    order = list(range(len(peers)))
    for _ in range(rounds):
        for i in order:
            one_round(calibrator, fn, peers[i], series[i])
        order.reverse()
    for _ in range(EXTRA_ROUNDS):
        short = [i for i in order if len(series[i].good) < rounds]
        for i in short:
            one_round(calibrator, fn, peers[i], series[i])
        order.reverse()
    return series
