#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows of the bench's table: a comparison with a peer, or a value with a limit."""
import dataclasses

import measure

WIDTHS = (30, 13, 17, 17, 8, 9, 7, 9)


def line(*cells):
    return "  ".join(str(c).ljust(w) for c, w in zip(cells, WIDTHS)).rstrip()


HEAD = line("what", "unit", "weft (spread)", "peer (spread)", "ratio", "at least", "aim", "")


def verdict(value, at_least, aim, less):
    """'missed', 'ok' or 'aim'; '' where nothing is asked for."""
    if at_least is None:
        return ""
    if less:
        return "aim" if value <= aim else "ok" if value <= at_least else "MISSED"
    return "aim" if value >= aim else "ok" if value >= at_least else "MISSED"


def bound(value, less):
    return "" if value is None else f"{'<=' if less else '>='} {value:g}"


@dataclasses.dataclass
class Row:
    """Medians of two series, and their ratio."""
    what: str
    unit: str
    key: str
    weft: measure.Series
    peer: measure.Series
    at_least: float = None
    aim: float = None
    less: bool = False # smaller is better
    note: str = ""
    peer_name: str = "kernel bridge"

    def ratio(self):
        peer = self.peer.median(self.key)
        return self.weft.median(self.key) / peer if peer else float("inf")

    def verdict(self):
        return verdict(self.ratio(), self.at_least, self.aim, self.less)

    def is_met(self):
        return self.verdict() != "MISSED"

    def is_disturbed(self):
        return self.weft.is_disturbed() or self.peer.is_disturbed()

    def cell(self, series):
        return f"{series.median(self.key):.4g} ({series.spread(self.key):.0%})"

    def text(self):
        mark = self.verdict() + (" disturbed" if self.is_disturbed() else "")
        return line(self.what, self.unit, self.cell(self.weft), self.cell(self.peer),
                    f"{self.ratio():.2f}", bound(self.at_least, self.less),
                    bound(self.aim, self.less), mark)

    def document(self):
        return {"what": self.what, "unit": self.unit, "weft": self.weft.median(self.key),
                "peer": self.peer.median(self.key), "peer_name": self.peer_name,
                "ratio": self.ratio(), "at_least": self.at_least, "aim": self.aim,
                "verdict": self.verdict(), "note": self.note, "disturbed": self.is_disturbed(),
                "rounds": {"weft": vars(self.weft), "peer": vars(self.peer)}}


@dataclasses.dataclass
class Value:
    """One number with a limit, no peer."""
    what: str
    unit: str
    value: float
    at_least: float
    aim: float
    note: str = ""

    def verdict(self):
        return verdict(self.value, self.at_least, self.aim, True)

    def is_met(self):
        return self.verdict() != "MISSED"

    def is_disturbed(self):
        return False

    def text(self):
        return line(self.what, self.unit, f"{self.value:.4g}", "-", "-", bound(self.at_least, True),
                    bound(self.aim, True), self.verdict())

    def document(self):
        return {"what": self.what, "unit": self.unit, "weft": self.value, "at_least": self.at_least,
                "aim": self.aim, "verdict": self.verdict(), "note": self.note}


def tail(rows, document):
    lines = [""] + [f"{row.what}: {row.note}" for row in rows if row.note]
    lines.append(f"took {document['seconds']:.0f} s on {document['machine']}")
    missed = [row.what for row in rows if not row.is_met()]
    lines.append(f"missed: {', '.join(missed)}" if missed else "all limits are met")
    return "\n".join(lines)
