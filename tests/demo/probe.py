#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Both ends of the demo's transfers, and a forger.

probe.py serve tcp|udp ADDR PORT        answers with the checksum of what it got
probe.py send tcp|udp ADDR PORT         sends, compares the answer
probe.py forge IFNAME GATEWAY_MAC SRC DST COUNT
"""
import hashlib
import socket
import struct
import sys

TCP_BYTES = 10_000_000
UDP_COUNT, UDP_BYTES = 500, 1200
TIMEOUT = 10
UDP_TIMEOUT = 1


def open_socket(protocol, addr):
    family = socket.AF_INET6 if ":" in addr else socket.AF_INET
    kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
    sock = socket.socket(family, kind)
    sock.settimeout(TIMEOUT)
    return sock


def payload(seed, size):
    return hashlib.shake_256(str(seed).encode()).digest(size)


def read_all(sock):
    digest = hashlib.sha256()
    while data := sock.recv(65536):
        digest.update(data)
    return digest.digest()


def serve(protocol, addr, port):
    sock = open_socket(protocol, addr)
    sock.bind((addr, int(port)))
    if protocol == "tcp":
        sock.listen()
    print("ready", flush=True)
    if protocol == "tcp":
        conn, _ = sock.accept()
        with conn:
            conn.settimeout(TIMEOUT)
            conn.sendall(read_all(conn))
        return 0
    while True:
        data, peer = sock.recvfrom(65536)
        sock.sendto(hashlib.sha256(data).digest(), peer)


def send_tcp(sock):
    data = payload(1, TCP_BYTES)
    sock.sendall(data)
    sock.shutdown(socket.SHUT_WR)
    answer = sock.recv(32, socket.MSG_WAITALL)
    print(f"{len(data)} bytes, {'same' if answer == hashlib.sha256(data).digest() else 'WRONG'}")
    return 0 if answer == hashlib.sha256(data).digest() else 1


def send_udp(sock):
    right = 0
    sock.settimeout(UDP_TIMEOUT)
    for i in range(UDP_COUNT):
        data = payload(i, UDP_BYTES)
        sock.send(data)
        try:
            right += sock.recv(64) == hashlib.sha256(data).digest()
        except TimeoutError:
            print(f"datagram {i} had no answer")
            break
    print(f"{right} of {UDP_COUNT} datagrams answered")
    return 0 if right == UDP_COUNT else 1


def send(protocol, addr, port):
    with open_socket(protocol, addr) as sock:
        sock.connect((addr, int(port)))
        return send_tcp(sock) if protocol == "tcp" else send_udp(sock)


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


def forge(ifname, gateway, src, dst, count):
    """UDP packets that are sound but for their source address."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind((ifname, 0))
    own_mac = sock.getsockname()[4]
    udp = struct.pack("!HHHH", 4000, 4001, 8 + 6, 0) + b"forged"
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0,
                       socket.inet_aton(src), socket.inet_aton(dst))
    head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
    frame = bytes.fromhex(gateway.replace(":", "")) + own_mac + b"\x08\x00" + head + udp
    for _ in range(int(count)):
        sock.send(frame)
    return 0


def main():
    commands = {"serve": serve, "send": send, "forge": forge}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    return commands[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
