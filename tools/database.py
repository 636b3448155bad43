#!/usr/bin/env python3
"""A database on a served drive, beside a backup, under several schedulers: the table in docs/results/served-drives.md.

tools/database.py [--program target/release/flashlane] [--runs 10] [--seconds 5] [--schedulers fcfs,sprinkler,slacker,flin,late]

As root, with loop devices, fio and e2fsprogs. Each run has a new drive (scenarios/two-tenants.toml, contents in memory): ext4 on a loop
device on the reader's file, on it SQLite with a write-ahead log and full synchronisation, which commits transactions of four rows of
1,000 bytes one after the other. fio writes 256 KiB commands to the writer's export meanwhile, sixteen at a time. Schedulers take turns.
Prints the mean of the runs with its 95 % interval (Student's t).
"""

import argparse
import os
import random
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

# Two-sided 95 % of Student's t, by degrees of freedom.
STUDENT = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131]


def call(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commits(path, seconds):
    """How long each commit took, in seconds, ascending."""
    database = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=200"):
        database.execute(f"pragma {pragma}")
    database.execute("create table t(k integer primary key, v blob)")
    keys, took, end = random.Random(1), [], time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        database.execute("begin")
        for _ in range(4):
            database.execute("insert or replace into t values(?, randomblob(1000))", (keys.randrange(200_000),))
        database.execute("commit")
        took.append(time.monotonic() - began)
    sound = database.execute("pragma integrity_check").fetchone()[0]
    database.close()
    assert sound == "ok", sound
    return sorted(took)


def run(program, scenario, scheduler, seconds, with_backup):
    """Commits per second, their p50 and p99 in ms, MB/s of the backup, and the median lateness in us."""
    with tempfile.TemporaryDirectory() as desk:
        mnt, disk, socket = (os.path.join(desk, name) for name in ("mnt", "disk", "socket"))
        os.mkdir(mnt)
        os.mkdir(disk)
        serve = [program, "serve", scenario, "--scheduler", scheduler, "--fuse", mnt, "--nbd", f"unix:{socket}"]
        server = subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        device = backup = None
        mounted = False
        try:
            while "Ctrl-C ends it" not in (line := server.stdout.readline()):
                assert line, "the server ended"
            device = call("losetup", "--find", "--show", "--direct-io=on", os.path.join(mnt, "reader"))
            call("mkfs.ext4", "-q", "-F", "-E", "nodiscard", device)
            call("mount", device, disk)
            mounted = True
            if with_backup:
                fio = ["fio", "--name=backup", "--ioengine=nbd", f"--uri=nbd+unix:///writer?socket={socket}", "--rw=write"]
                fio += ["--bs=256k", "--iodepth=16", "--size=400m", "--time_based", f"--runtime={seconds + 60}"]
                backup = subprocess.Popen(fio, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(1)
            began = time.monotonic()
            took = commits(os.path.join(disk, "db"), seconds)
        finally:
            if backup:
                backup.send_signal(signal.SIGINT)
                backup.wait()
            beside = time.monotonic() - began + 1
            if mounted:
                call("umount", disk)
            if device:
                call("losetup", "-d", device)
            server.send_signal(signal.SIGTERM)
            table = server.stdout.read()
            server.wait()
    megabytes = float(re.search(r"^writer +write +\d+ +\d+ +\d+ +([\d.]+)", table, re.M).group(1))
    late = float(re.search(r"than by the model: p50 ([\d.]+) us", table).group(1))
    ms = [1e3 * took[int(len(took) * part)] for part in (0.5, 0.99)]
    return len(took) / seconds, ms[0], ms[1], megabytes / beside, late


def interval(values):
    half = STUDENT[len(values) - 2] * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0
    return f"{statistics.mean(values):.1f} ± {half:.1f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="target/release/flashlane")
    parser.add_argument("--scenario", default="scenarios/two-tenants.toml")
    parser.add_argument("--runs", type=int, default=10, choices=range(1, 17), metavar="1..16")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--schedulers", default="fcfs,sprinkler,slacker,flin,late")
    args = parser.parse_args()
    rows = [("fcfs, no backup", "fcfs", False)] + [(name, name, True) for name in args.schedulers.split(",")]
    found = {row: [] for row in rows}
    for number in range(args.runs):
        for row in rows:
            figures = run(os.path.abspath(args.program), args.scenario, row[1], args.seconds, row[2])
            found[row].append(figures)
            print(f"run {number + 1}, {row[0]}: " + ", ".join(f"{figure:.1f}" for figure in figures), file=sys.stderr)
    print("| scheduler | transactions per second | commit p50, ms | commit p99, ms | backup, MB/s | late, p50, us |")
    print("|---|---:|---:|---:|---:|---:|")
    for row, figures in found.items():
        print("| " + " | ".join([row[0], *map(interval, zip(*figures))]) + " |")


main()
