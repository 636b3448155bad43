#!/usr/bin/env python3
"""What `flashlane serve` adds to the modelled drive's times, and what it costs: the table in docs/results/served-drives.md.

tools/serve_figures.py [--program target/release/flashlane] [--runs 5] [--seconds 8] [--only cuts]

With fio's engine for NBD. Every run has a new drive (scenarios/two-tenants.toml, contents in memory), of which fio uses 256 MiB. Rows take
turns; each figure is the mean of the runs with the least and the greatest. Last: how many commands one core serves (one connection
on another core that keeps 256 reads of 4 KiB under way and looks at no answer, with a drive a thousand times as fast), memory per connection,
CPU without commands, and what it costs to keep what a power cut brings back: 8 KiB writes that end in a buffer which loses them, with and
without --ctl.
"""

import argparse
import json
import os
import re
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

# Name, fio's pattern, bytes, depth, further options of the server.
ROWS = [
    ("4 KiB reads, one at a time", "randread", 4096, 1, []),
    ("the same with `--spin-us 0`", "randread", 4096, 1, ["--spin-us", "0"]),
    ("the same with `--realtime`", "randread", 4096, 1, ["--realtime"]),
    ("4 KiB reads, 32 at a time", "randread", 4096, 32, []),
    ("8 KiB writes, 32 at a time", "randwrite", 8192, 32, []),
    ("these writes with `--realtime`", "randwrite", 8192, 32, ["--realtime"]),
]
READ, EXPORT_NAME = 0, 1
BATCH = 256


class Server:
    """A server of the scenario with contents in memory."""

    def __init__(self, args, desk, options=()):
        self.socket = os.path.join(desk, "socket")
        command = [os.path.abspath(args.program), "serve", args.scenario, "--nbd", f"unix:{self.socket}", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        while "Ctrl-C ends it" not in (line := self.process.stdout.readline()):
            assert line, "the server ended"

    def seconds(self):
        """Seconds of CPU that it has used."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        """KiB of memory that it has."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"^VmRSS:\s+(\d+)", status.read(), re.M).group(1))

    def end(self):
        """Ends it; the table that it prints."""
        self.process.send_signal(signal.SIGTERM)
        table = self.process.stdout.read()
        self.process.wait()
        return table

    def connect(self):
        """A connection that has opened the first export."""
        client = socket.socket(socket.AF_UNIX)
        client.connect(self.socket)
        receive(client, 18)
        client.sendall(struct.pack(">I", 3) + b"IHAVEOPT" + struct.pack(">II", EXPORT_NAME, 0))
        receive(client, 10)
        return client


def receive(client, count):
    data = bytearray(count)
    view = memoryview(data)
    while view:
        got = client.recv_into(view)
        assert got, "the server has closed the connection"
        view = view[got:]


def fio(server, *options):
    command = ["fio", "--name=t", "--ioengine=nbd", f"--uri=nbd+unix:///reader?socket={server.socket}", "--size=256m"]
    done = subprocess.run([*command, "--output-format=json", *options], check=True, capture_output=True, text=True)
    return json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]


def measure(args, row):
    """Model's mean time, lateness p50 and p99 (us), share of a core, commands a second, us that fio sees, share of depth over mean time."""
    _, pattern, size, depth, options = row
    kind = "write" if "write" in pattern else "read"
    with tempfile.TemporaryDirectory() as desk:
        server = Server(args, desk, options)
        before = server.seconds()
        job = fio(server, f"--rw={pattern}", f"--bs={size}", f"--iodepth={depth}", "--time_based", f"--runtime={args.seconds}")
        used = server.seconds() - before
        table = server.end()
    mean = float(re.search(rf"^reader +{kind} +\d+ +\d+ +\d+ +[\d.]+ +([\d.]+)", table, re.M).group(1))
    late = [float(value) for value in re.search(r"by the model: p50 ([\d.]+) us, p99 ([\d.]+) us", table).groups()]
    took = job["job_runtime"] / 1000
    rate = job[kind]["iops"]
    return [mean, *late, 100 * used / took, rate, job[kind]["clat_ns"]["mean"] / 1000, 100 * rate * mean / 1e6 / depth]


def one_core(args):
    """Commands a second and share of a core, with a client on another core."""
    cores = sorted(os.sched_getaffinity(0))
    heads = b"".join(struct.pack(">IHHQQI", 0x25609513, 0, READ, n, n * 65536, 4096) for n in range(BATCH // 2))
    with tempfile.TemporaryDirectory() as desk:
        server = Server(args, desk, ["--time-scale", "0.001"])
        fio(server, "--rw=write", "--bs=256k")
        os.sched_setaffinity(server.process.pid, {cores[0]})
        os.sched_setaffinity(0, {cores[-1]})
        client = server.connect()
        client.sendall(heads)
        before, began, count = server.seconds(), time.monotonic(), 0
        while (took := time.monotonic() - began) < args.seconds:
            # Half of the commands are always under way while the others' answers come.
            client.sendall(heads)
            receive(client, BATCH // 2 * (16 + 4096))
            count += BATCH // 2
        used = server.seconds() - before
        os.sched_setaffinity(0, set(cores))
        client.close()
        server.end()
    return [count / took, 100 * used / took]


def cuts(args, in_file, options):
    """CPU a command (us), late p50 (us), KiB of memory more than before, with writes that end in a buffer of 512 pages that loses them."""
    buffer = ["pages=512", "write_back=true", "protected=false", "flush_above=200", "per_flow=true"]
    options = [*options, *(part for key in buffer for part in ("--set", f"device.buffer.{key}"))]
    with tempfile.TemporaryDirectory() as desk:
        if in_file:
            options += ["--data", os.path.join(desk, "contents")]
        if "--ctl" in options:
            options[options.index("--ctl") + 1] = os.path.join(desk, "ctl")
        server = Server(args, desk, options)
        # Once everything has been written to: memory for the contents is there, and a file has its blocks.
        fio(server, "--rw=write", "--bs=256k", "--iodepth=4")
        memory, before = server.memory(), server.seconds()
        job = fio(server, "--rw=randwrite", "--bs=8k", "--iodepth=32", "--time_based", f"--runtime={args.seconds}")
        used, more = server.seconds() - before, server.memory() - memory
        table = server.end()
    late = float(re.search(r"by the model: p50 ([\d.]+) us", table).group(1))
    return [1e6 * used / job["write"]["total_ios"], late, more]


CUTS = [
    ("in memory", False, []),
    ("in memory, with `--ctl`", False, ["--ctl", ""]),
    ("in a file", True, []),
    ("in a file, with `--ctl`", True, ["--ctl", ""]),
]


def table_of_cuts(args):
    found = [[] for _ in CUTS]
    for number in range(args.runs):
        for (name, *row), figures in zip(CUTS, found):
            figures.append(cuts(args, *row))
            print(f"run {number + 1}, {name}: " + ", ".join(f"{figure:.1f}" for figure in figures[-1]), file=sys.stderr)
    print("| contents | CPU a write, us | late, p50 us | memory, KiB more |")
    print("|---|---:|---:|---:|")
    for (name, *_), figures in zip(CUTS, found):
        print("| " + " | ".join([name, *(shown(values, int(at != 2)) for at, values in enumerate(zip(*figures)))]) + " |")


def idle(args):
    """KiB of memory per connection, and seconds of CPU in ten seconds with 200 connections that send nothing."""
    with tempfile.TemporaryDirectory() as desk:
        server = Server(args, desk)
        # What a first client has it allocate is not that of each.
        first = server.connect()
        before = server.memory()
        clients = [server.connect() for _ in range(200)]
        memory = (server.memory() - before) / len(clients)
        used = server.seconds()
        time.sleep(10)
        used = server.seconds() - used
        for client in [first, *clients]:
            client.close()
        server.end()
    return [memory, used]


def shown(values, digits=1):
    return f"{statistics.mean(values):,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="target/release/flashlane")
    parser.add_argument("--scenario", default="scenarios/two-tenants.toml")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--only", choices=["cuts"])
    args = parser.parse_args()
    if args.only == "cuts":
        return table_of_cuts(args)
    found = [[] for _ in ROWS]
    cores, idles, loads = [], [], []
    for number in range(args.runs):
        for row, figures in zip(ROWS, found):
            loads.append(os.getloadavg()[0])
            figures.append(measure(args, row))
            print(f"run {number + 1}, {row[0]}: " + ", ".join(f"{figure:.1f}" for figure in figures[-1]), file=sys.stderr)
        cores.append(one_core(args))
        idles.append(idle(args))
        print(f"run {number + 1}: " + ", ".join(f"{figure:.1f}" for figure in cores[-1] + idles[-1]), file=sys.stderr)
    print("| | model, mean us | late, p50 us | late, p99 us | CPU, % of a core | commands/s | fio sees, us | of depth / mean time, % |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for row, figures in zip(ROWS, found):
        columns = [shown(values, 0 if at in (3, 4) else 1) for at, values in enumerate(zip(*figures))]
        print("| " + " | ".join([row[0], *columns]) + " |")
    rates, shares = zip(*cores)
    memory, used = zip(*idles)
    print(f"\nOne core: {shown(rates, 0)} commands/s with {shown(shares, 0)} % of it.")
    print(f"Memory per connection: {shown(memory)} KiB. CPU in 10 s without commands: {shown(used, 2)} s.")
    print(f"Load of the machine before the runs: {shown(loads)}.\n")
    table_of_cuts(args)


main()
