# SPDX-License-Identifier: Apache-2.0
"""Bad environment and bad stdin: exit status, code, and one JSON document on stdout."""

import json
import os
import subprocess

import cni

PTP = "/usr/lib/cni/ptp"
C = '{"cniVersion":"1.0.0","name":"x","type":"weft"}'
V11 = '{"cniVersion":"1.1.0","name":"x","type":"weft"}'

# name, stdin, environment on top of a complete one (None = unset), our code (0 = success, "" on
# stdout), the same for the stock plugin as None or its own code where it differs.
CASES = [
    # stdin
    ("no stdin", "", {}, 6),
    ("brace", "{", {}, 6),
    ("cut", "{x", {}, 6),
    ("cut on DEL", "{x", {"CNI_COMMAND": "DEL"}, 6),
    ("array", "[]", {}, 6),
    ("null", "null", {}, 6, 7),
    ("number", "1", {}, 6),
    ("trailing garbage", C + "x", {}, 6),
    ("byte order mark", "\ufeff" + C, {}, 6),
    ("nesting", "[" * 200 + "]" * 200, {}, 6),
    ("nesting inside", C[:-1] + ',"a":' + "[" * 200 + "]" * 200 + "}", {}, 6, ...),
    ("NUL byte", C[:-1] + "\0}", {}, 6),
    ("NUL escape", '{"cniVersion":"1.0.0","name":"x\\u0000"}', {}, 6, 7),
    ("not UTF-8", b'{"cniVersion":"1.0.0","name":"\xff"}', {}, 6, 7),
    ("5 MiB", C[:-1] + ',"a":"' + "a" * (5 << 20) + '"}', {}, 6, ...),
    # name and version
    ("no name", '{"cniVersion":"1.0.0"}', {}, 7),
    ("empty name", '{"cniVersion":"1.0.0","name":""}', {}, 7),
    ("name with slash", '{"cniVersion":"1.0.0","name":"a/b"}', {}, 7),
    ("name dots", '{"cniVersion":"1.0.0","name":".."}', {}, 7),
    ("name number", '{"cniVersion":"1.0.0","name":1}', {}, 6),
    ("version 9.9.9", '{"cniVersion":"9.9.9","name":"x"}', {}, 1),
    ("version 1.0", '{"cniVersion":"1.0","name":"x"}', {}, 1),
    ("version number", '{"cniVersion":1.0,"name":"x"}', {}, 6),
    ("name before version", '{"cniVersion":"9.9.9"}', {}, 7),
    # command
    ("command FOO", C, {"CNI_COMMAND": "FOO"}, 4, ...),
    ("command add", C, {"CNI_COMMAND": "add"}, 4, ...),
    # variables
    ("nothing but a command", C, {"CNI_CONTAINERID": None, "CNI_NETNS": None, "CNI_IFNAME": None,
                                  "CNI_PATH": None}, 4),
    ("no container id", C, {"CNI_CONTAINERID": None}, 4),
    ("no netns", C, {"CNI_NETNS": None}, 4),
    ("no ifname", C, {"CNI_IFNAME": None}, 4),
    ("no path", C, {"CNI_PATH": None}, 4),
    ("environment before stdin", "{", {"CNI_PATH": None}, 4),
    ("DEL without container id", C, {"CNI_COMMAND": "DEL", "CNI_CONTAINERID": None}, 4),
    ("id ../x", C, {"CNI_CONTAINERID": "../x"}, 4),
    ("id -x", C, {"CNI_CONTAINERID": "-x"}, 4),
    ("16 byte ifname", C, {"CNI_IFNAME": "abcdefghijklmnop"}, 4),
    ("ifname .", C, {"CNI_IFNAME": "."}, 4),
    ("ifname ..", C, {"CNI_IFNAME": ".."}, 4),
    ("ifname a/b", C, {"CNI_IFNAME": "a/b"}, 4),
    ("ifname a:b", C, {"CNI_IFNAME": "a:b"}, 4),
    ("ifname with space", C, {"CNI_IFNAME": "a b"}, 4),
    ("ifname with wide space", C, {"CNI_IFNAME": "a\u3000b"}, 4),
    ("ifname on DEL", C, {"CNI_COMMAND": "DEL", "CNI_IFNAME": "a b"}, 4),
    # CNI_ARGS
    ("args A", C, {"CNI_ARGS": "A"}, 4, ...),
    ("args A=B=C and a stranger", C, {"CNI_ARGS": "A=B=C;FOO=1"}, 8, ...),
    ("args trailing", C, {"CNI_ARGS": "A=1;"}, 8, ...),
    ("args bad IP", C, {"CNI_ARGS": "IP=1"}, 4, ...),
    # namespaces; the stock plugin has no code of its own for them
    ("netns missing", C, {}, 8, 999),
    ("netns is a file", C, {"CNI_NETNS": "/etc/passwd"}, 8, 999),
    ("netns is a folder", C, {"CNI_NETNS": "/"}, 8, 999),
    ("netns is a device", C, {"CNI_NETNS": "/dev/null"}, 8, 999),
    ("netns is another kind", C, {"CNI_NETNS": "/proc/self/ns/uts"}, 8, ...),
    ("netns is ours", C, {"CNI_NETNS": "/proc/self/ns/net"}, 8, ...),
    # config of ours
    ("runDir relative", C[:-1] + ',"runDir":"a"}', {}, 7, ...),
    ("mtu", C[:-1] + ',"mtu":1}', {}, 7, ...),
    ("prevResult", C[:-1] + ',"prevResult":[]}', {}, 6, ...),
    ("ips", C[:-1] + ',"runtimeConfig":{"ips":["a"]}}', {}, 7, ...),
    ("host port 70000", C[:-1] + ',"runtimeConfig":{"portMappings":[{"hostPort":70000,'
     '"containerPort":1}]}}', {}, 7, ...),
    ("rate without burst", C[:-1] + ',"runtimeConfig":{"bandwidth":{"ingressRate":1}}}', {}, 7,
     ...),
    # verbs and versions
    ("CHECK of 0.3.1", '{"cniVersion":"0.3.1","name":"x"}', {"CNI_COMMAND": "CHECK"}, 1),
    ("CHECK without prevResult", C, {"CNI_COMMAND": "CHECK"}, 7, 999),
    ("STATUS of 1.0.0", C, {"CNI_COMMAND": "STATUS"}, 1, ...),
    ("GC of 1.0.0", C, {"CNI_COMMAND": "GC"}, 1, ...),
    ("GC without path", V11, {"CNI_COMMAND": "GC", "CNI_PATH": None}, 4, ...),
    ("GC list", V11[:-1] + ',"cni.dev/valid-attachments":{}}', {"CNI_COMMAND": "GC"}, 7, ...),
    ("unknown IPAM plugin on CHECK", C[:-1] + ',"ipam":{"type":"a/b"}}', {"CNI_COMMAND": "CHECK"},
     7, ...),
]


def run(program, stdin, change):
    env = {"CNI_COMMAND": "ADD", "CNI_CONTAINERID": "c1", "CNI_NETNS": "/nope",
           "CNI_IFNAME": "eth0", "CNI_PATH": "/usr/lib/cni"}
    env.update(change)
    env = {k: v for k, v in env.items() if v is not None}
    env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
    data = stdin if isinstance(stdin, bytes) else stdin.encode()
    return subprocess.run([program], input=data, env=env, capture_output=True, timeout=30,
                          check=False)


def check_error(checks, name, done, want):
    checks.same(f"{name}: status", done.returncode, 1, done.stderr)
    try:
        doc = json.loads(done.stdout)
    except ValueError as error:
        checks.that(f"{name}: one document", False, f"{error}: {done.stdout!r}")
        return
    checks.same(f"{name}: code", doc.get("code"), want, doc)
    checks.that(f"{name}: msg", isinstance(doc.get("msg"), str) and doc["msg"], doc)
    checks.that(f"{name}: version", isinstance(doc.get("cniVersion"), str), doc)


def check_reference(checks, name, stdin, change, want):
    """The stock plugin answers the same; where it does not, the table says what it answers."""
    done = run(PTP, stdin, change)
    doc = json.loads(done.stdout)
    checks.same(f"{name}: stock status", done.returncode, 1)
    checks.same(f"{name}: stock code", doc.get("code"), want, doc)


def check_quiet(checks):
    """An empty command explains itself on stderr."""
    for name, change in (("no command", None), ("empty command", "")):
        done = run(cni.PLUGIN, "", {"CNI_COMMAND": change})
        checks.same(f"{name}: status", done.returncode, 0)
        checks.same(f"{name}: stdout", done.stdout, b"")
        checks.that(f"{name}: stderr", b"1.1.0" in done.stderr, done.stderr)


def check_texts(checks):
    def text(stdin, change):
        return run(cni.PLUGIN, stdin, change).stdout.decode()

    out = text(C, {"CNI_CONTAINERID": "", "CNI_PATH": None})
    checks.that("names all missing ones", "[CNI_CONTAINERID,CNI_PATH]" in out, out)
    out = text('{"cniVersion":"9.9.9","name":"x"}', {})
    checks.that("names both versions", '9.9.9' in out and '1.1.0' in out, out)
    out = text(C, {"CNI_COMMAND": "FOO"})
    checks.that("names the command", "unknown CNI_COMMAND: FOO" in out, out)
    out = json.loads(text('{"cniVersion":"0.4.0"}', {}))
    checks.same("speaks the config's version", out["cniVersion"], "0.4.0")


def check_version(checks):
    """VERSION validates nothing."""
    dummy = {"CNI_COMMAND": "VERSION", "CNI_CONTAINERID": "", "CNI_NETNS": "dummy",
             "CNI_IFNAME": "dummy", "CNI_PATH": "dummy"}
    nothing = dict.fromkeys(dummy, None) | {"CNI_COMMAND": "VERSION"}
    for name, stdin, change, want in (
            ("dummies", '{"cniVersion":"0.4.0"}', dummy, "0.4.0"),
            ("no environment", "", nothing, "1.1.0"),
            ("garbage", "{x", dummy, "1.1.0"),
            ("array", "[]", dummy, "1.1.0"),
            ("number", '{"cniVersion":1}', dummy, "1.1.0"),
            ("unknown version", '{"cniVersion":"9.9.9"}', dummy, "9.9.9")):
        done = run(cni.PLUGIN, stdin, change)
        checks.same(f"VERSION {name}: status", done.returncode, 0)
        doc = json.loads(done.stdout)
        checks.same(f"VERSION {name}: version", doc["cniVersion"], want)
        checks.that(f"VERSION {name}: list", {"0.3.1", "0.4.0", "1.0.0", "1.1.0"}
                    <= set(doc["supportedVersions"]), doc)
    # A caller that neither writes nor closes.
    proc = subprocess.Popen([cni.PLUGIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            env={"CNI_COMMAND": "VERSION"})
    checks.same("VERSION open stdin: status", proc.wait(10), 0)
    proc.stdin.close()
    proc.stdout.close()


def check_closed_stdio(checks):
    """Descriptors 0 to 2 closed: no socket may land on them, and nothing crashes."""
    env = {"CNI_COMMAND": "ADD", "CNI_CONTAINERID": "c1", "CNI_NETNS": "/nope",
           "CNI_IFNAME": "eth0", "CNI_PATH": "/"}
    done = subprocess.run(["/bin/sh", "-c", f"exec {cni.PLUGIN} <&- 2>&-"], env=env,
                          capture_output=True, timeout=30, check=False)
    checks.same("closed stdin: code", json.loads(done.stdout)["code"], 6)
    done = subprocess.run(["/bin/sh", "-c", f"exec {cni.PLUGIN} >&-"], env=env, input=C.encode(),
                          stderr=subprocess.PIPE, timeout=30, check=False)
    checks.same("closed stdout: status", done.returncode, 1, done.stderr)
    done = subprocess.run(["/bin/sh", "-c", f"exec {cni.PLUGIN} >/dev/full"],
                          env={"CNI_COMMAND": "VERSION"}, input=b"", stderr=subprocess.PIPE,
                          timeout=30, check=False)
    checks.same("full stdout: status", done.returncode, 1, done.stderr)


def main():
    checks = cni.Checks()
    reference = os.access(PTP, os.X_OK)
    for name, stdin, change, want, *stock in CASES:
        check_error(checks, name, run(cni.PLUGIN, stdin, change), want)
        if reference and stock != [...]:
            check_reference(checks, name, stdin, change, stock[0] if stock else want)
    check_quiet(checks)
    check_texts(checks)
    check_version(checks)
    check_closed_stdio(checks)
    checks.end()


main()
