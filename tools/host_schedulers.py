#!/usr/bin/env python3
"""Linux's block layer above a served drive, beside the model's above the same drive; and recordings of its events.

tools/host_schedulers.py compare [--program target/release/flashlane] [--runs 3] [--seconds 4] [--only none,limit]
tools/host_schedulers.py record --out DIR [--only merges,tags,...] [--events 5000]

As root, with loop devices, fio and tracefs; `compare` on a machine with a load below 1. Where something is missing it prints SKIPPED and why.
Each run serves a new drive (cosmos-openssd, contents in memory) by `serve --fuse --realtime`, with a loop device on its file. fio reads
4 KiB at a depth of 8 and writes 16 KiB at a depth of 96. `compare` takes the median of the runs, runs the model on the same load with the same
[block], and prints both: the table in docs/results/host-schedulers.md. `record` writes the block events of each run in the form of the fixtures of
engine/block, which says what each line is.
"""

import argparse
import contextlib
import gzip
import itertools
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

TRACING = "/sys/kernel/tracing"
GROUPS = "/sys/fs/cgroup/blkio"
SCENARIO = """name = "host-schedulers"
device = "cosmos-openssd"
schedulers = ["{scheduler}"]
[run]
alone = false
[block]
depth = 128
{block}
"""
FLOW = """[[flow]]
name = "{name}"
[flow.synthetic]
read_ratio = {reads}
size = {{ constant = {bytes} }}
arrivals = "closed-loop"
depth = {depth}
duration_s = {seconds}
"""
# Sectors of the part of a job.
SECTORS = 1 << 21
READER, WRITER = ("reader", "randread", 4096, 8), ("writer", "randwrite", 16384, 96)

# Name: the drive's scheduler, the elevator, files below /sys/block/*/queue, options of the reader, limits of the writer, keys of [block], if the
# model has it.
ROWS = {
    "none": ("fcfs", "none", {}, "", {}, ""),
    "mq-deadline": ("fcfs", "mq-deadline", {}, "", {}, 'elevator = "mq-deadline"'),
    "kyber": ("fcfs", "kyber", {}, "", {}, 'elevator = "kyber"'),
    "limit": ("fcfs", "none", {}, "", {"write_bps_device": 20_000_000}, "flow.writer.write_bps = 20_000_000"),
    "real-time": (
        "fcfs",
        "mq-deadline",
        {},
        "--prioclass=1 --prio=4",
        {},
        'elevator = "mq-deadline"\nflow.reader.class = "real-time"',
    ),
    "bfq": ("fcfs", "bfq", {"iosched/low_latency": 0}, "", {}, None),
    "nr_requests 64": ("read-first-suspend", "none", {"nr_requests": 64}, "", {}, "nr_requests = 64"),
    "nr_requests 32": ("read-first-suspend", "none", {"nr_requests": 32}, "", {}, "nr_requests = 32"),
}

BATCHES = "--iodepth_batch_submit={} --iodepth_batch_complete_min=8"
READ, WRITE = "--rw=randread --bs=4k --iodepth={}", "--rw=randwrite --bs=16k --iodepth={}"
MIXED = "--rw=randwrite --bssplit=4k/70:128k/30 --iodepth=32"
SEQUENTIAL = [
    f"--rw=write --bs=4k --iodepth=128 {BATCHES.format(16)}",
    f"--rw=read --bs=4k --iodepth=128 {BATCHES.format(48)}",
]
LARGER = [f"--rw=write --bs=48k --iodepth=64 {BATCHES.format(16)}", f"--rw=read --bs=4k --iodepth=48 {BATCHES.format(16)}"]
# Name: the drive's scheduler, the elevator, files below /sys/block/*/queue, fio's jobs, limits of the first job, the letters that are kept.
RECORDINGS = {
    "merges": ("fcfs", "mq-deadline", {}, SEQUENTIAL, {}, "PUBGMFI"),
    "merges-none": ("fcfs", "none", {}, LARGER, {}, "PUBGMFD"),
    "limit-iops": ("fcfs", "none", {}, [READ.format(128), READ.format(16)], {"read_iops_device": 1000}, "B"),
    "limit-bps": ("fcfs", "none", {}, [WRITE.format(32), READ.format(16)], {"write_bps_device": 8_000_000}, "B"),
    "limit-both": ("fcfs", "none", {}, [MIXED, READ.format(16)], {"write_bps_device": 6_000_000, "write_iops_device": 150}, "B"),
    "tags": ("fcfs", "none", {"nr_requests": 32}, [READ.format(64), WRITE.format(96)], {}, "BGC"),
    "tags-three": ("fcfs", "none", {"nr_requests": 16}, [READ.format(64), WRITE.format(64), READ.format(64)], {}, "BGC"),
    "kyber": ("read-first-suspend", "kyber", {"iosched/read_lat_nsec": 20_000_000, "iosched/write_lat_nsec": 5_000_000}, [READ.format(8), WRITE.format(96)], {}, "IDCLA"),
}
# The letter of an event in a recording.
LETTERS = {
    "block_plug": "P",
    "block_unplug": "U",
    "block_bio_queue": "B",
    "block_getrq": "G",
    "block_bio_backmerge": "M",
    "block_bio_frontmerge": "F",
    "block_rq_insert": "I",
    "block_rq_issue": "D",
    "block_rq_complete": "C",
    "kyber_latency": "L",
    "kyber_adjust": "A",
}
LINE = re.compile(r"^\s*.+-(\d+)\s+\[\d+\]\s+\S+\s+([\d.]+): (\w+): (.*)$")
REQUEST = re.compile(r"\d+,\d+ (\S+) (?:\d+ )?(?:\(.*?\) )?(\d+) \+ (\d+)(.*)")


def put(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(text))


def call(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def missing(program):
    """What this machine lacks for a run, if anything."""
    if os.geteuid() != 0:
        return "it needs root"
    for path in (program, "/dev/fuse", "/dev/loop-control", f"{TRACING}/events/block", f"{GROUPS}/blkio.throttle.read_bps_device"):
        if not os.path.exists(path):
            return f"there is no {path}"
    return None if subprocess.run(["which", "fio"], capture_output=True).returncode == 0 else "there is no fio"


@contextlib.contextmanager
def served(program, scheduler, elevator, files):
    """A loop device on a served drive, below the elevator."""
    with tempfile.TemporaryDirectory() as desk:
        mnt, scenario = os.path.join(desk, "mnt"), os.path.join(desk, "drive.toml")
        os.mkdir(mnt)
        flow = '[[flow]]\nname = "disk"\nrange = "all"\nsynthetic = { requests = 1, rate_iops = 1 }\n'
        put(scenario, f'device = "cosmos-openssd"\n[run]\nalone = false\n{flow}')
        command = [program, "serve", scenario, "--scheduler", scheduler, "--fuse", mnt, "--realtime"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        device = None
        try:
            while "Ctrl-C ends it" not in (line := server.stdout.readline()):
                assert line, "the server ended"
            device = call("losetup", "--find", "--show", "--direct-io=on", os.path.join(mnt, "disk"))
            queue = f"/sys/block/{os.path.basename(device)}/queue"
            # Parameters stay when the same elevator is written again.
            put(f"{queue}/scheduler", "none")
            put(f"{queue}/scheduler", elevator)
            for name, value in files.items():
                put(f"{queue}/{name}", value)
            yield device
        finally:
            if device:
                call("losetup", "-d", device)
            server.send_signal(signal.SIGTERM)
            server.stdout.read()
            server.wait()


@contextlib.contextmanager
def limited(device, limits):
    """A control group with these limits of the device."""
    group = f"{GROUPS}/flashlane-{os.getpid()}"
    number = os.stat(device).st_rdev
    node = f"{os.major(number)}:{os.minor(number)}"
    os.makedirs(group, exist_ok=True)
    try:
        for name, value in limits.items():
            put(f"{group}/blkio.throttle.{name}", f"{node} {value}")
        yield group
    finally:
        for name in limits:
            put(f"{group}/blkio.throttle.{name}", f"{node} 0")
        os.rmdir(group)


def fio(device, jobs, seconds, group, limited_job):
    """Runs the jobs side by side, each a process of its own part of the device; the means of their latencies in ns, and their bytes a second."""
    with tempfile.TemporaryDirectory() as desk:
        processes = []
        for number, job in enumerate(jobs):
            common = f"--ioengine=libaio --direct=1 --time_based --runtime={seconds} --size=1g --offset={number}g --randseed={61 + number}"
            output = os.path.join(desk, f"{number}.json")
            command = ["fio", f"--name=j{number}", f"--filename={device}", "--output-format=json", f"--output={output}"]

            def enter(number=number):
                if number == limited_job:
                    put(f"{group}/cgroup.procs", os.getpid())

            processes.append(subprocess.Popen(command + common.split() + job.split(), preexec_fn=enter, stderr=subprocess.DEVNULL))
        for process in processes:
            assert process.wait() == 0, "fio failed"
        found = []
        for number in range(len(jobs)):
            with open(os.path.join(desk, f"{number}.json"), encoding="utf-8") as file:
                job = json.load(file)["jobs"][0]
            part = job["read"] if job["read"]["total_ios"] else job["write"]
            found.append((part["lat_ns"]["mean"], part["bw_bytes"]))
        return found


def of_kernel(args, row):
    """Means of reads and writes in us and the writer's bytes a second, the median of the runs of each."""
    scheduler, elevator, files, option, limits, _ = row
    jobs = [f"--rw={rw} --bs={size} --iodepth={depth}" for _, rw, size, depth in (READER, WRITER)]
    jobs[0] += " " + option
    runs = []
    for _ in range(args.runs):
        with served(args.program, scheduler, elevator, files) as device, limited(device, limits) as group:
            (read, _), (write, bps) = fio(device, jobs, args.seconds, group, 1)
            runs.append((read / 1e3, write / 1e3, bps))
    return [statistics.median(values) for values in zip(*runs)]


def of_model(args, row):
    """The same of the model."""
    scheduler, *_, block = row
    text = SCENARIO.format(scheduler=scheduler, block=block)
    for name, rw, size, depth in (READER, WRITER):
        reads = 1.0 if rw == "randread" else 0.0
        text += FLOW.format(name=name, reads=reads, bytes=size, depth=depth, seconds=float(args.seconds))
    with tempfile.TemporaryDirectory() as desk:
        path = os.path.join(desk, "model.toml")
        put(path, text)
        flows = json.loads(call(args.program, "run", path, "--format", "json"))["schedulers"][0]["flows"]
    read, write = flows[0]["figures"]["read"], flows[1]["figures"]["write"]
    return read["mean_ns"] / 1e3, write["mean_ns"] / 1e3, write["bytes"] / args.seconds


def compare(args):
    """The table of the page."""
    load = os.getloadavg()[0]
    if load >= 1:
        sys.exit(f"SKIPPED: the load is {load:.1f}; times are the machine's own from 1 on")
    print("| | drive | kernel: reads, writes, ms, MB/s written | model | reads | writes |")
    print("|---|---|---|---|---:|---:|")
    for name, row in ROWS.items():
        if args.only and name not in args.only:
            continue
        kernel, model = of_kernel(args, row), of_model(args, row) if row[-1] is not None else None
        cells = [f"{one[0] / 1e3:.3g}, {one[1] / 1e3:.3g}, {one[2] / 1e6:.3g}" if one else "" for one in (kernel, model)]
        off = [f"{100 * (ours / theirs - 1):+.0f} %" for ours, theirs in zip(model[:2], kernel[:2])] if model else ["", ""]
        print("| " + " | ".join([name, f"`{row[0]}`", *cells, *off]) + " |", flush=True)


def traced(device, instance):
    """Turns on the events of the device and of fio's plugs."""
    number = os.stat(device).st_rdev
    put(f"{instance}/tracing_on", 0)
    put(f"{instance}/trace", "")
    put(f"{instance}/buffer_size_kb", 24_000)
    put(f"{instance}/trace_clock", "mono")
    for event in LETTERS:
        folder = f"{instance}/events/{event.split('_', 1)[0]}/{event}"
        wanted = 'comm ~ "fio*"' if "plug" in event else f"dev == {os.major(number) << 20 | os.minor(number)}"
        put(f"{folder}/filter", wanted)
        put(f"{folder}/enable", 1)


def lines(trace, letters, only_first):
    """The events of a trace as lines of a recording: us since the last, letter, direction, sector, sectors, class, thread."""
    threads, last, plugged = {}, None, set()
    for line in trace:
        if not (found := LINE.match(line)):
            continue
        pid, stamp, event, rest = found.groups()
        us = round(float(stamp) * 1e6)
        since = us if last is None else last
        request = REQUEST.match(rest)
        letter = LETTERS[event]
        if only_first and not (request and int(request.group(2)) < SECTORS):
            continue
        if letter == "P":
            # It is told with its first request: most plugs end without one.
            plugged.add(pid)
            continue
        if letter == "U" and pid in plugged:
            plugged.discard(pid)
            continue
        if letter not in letters:
            continue
        last = us
        thread = threads.setdefault(pid, len(threads))
        if letter in "LA":
            yield f"{us - since} {letter} {rest.split(' ', 1)[1]}"
        elif letter == "U":
            yield f"{us - since} U {thread}"
        elif request:
            if letter == "B" and pid in plugged:
                plugged.discard(pid)
                if "P" in letters:
                    yield f"{us - since} P {thread}"
                    since = us
            rw, sector, sectors, tail = request.groups()
            level = re.search(r"(none|rt|be|idle),\d+,\d+", tail)
            yield f"{us - since} {letter} {rw[0]} {sector} {sectors} {level.group(1) if level else 'none'} {thread}"


def record(args):
    """Writes the recordings."""
    instance = f"{TRACING}/instances/flashlane"
    os.makedirs(instance, exist_ok=True)
    for name, (scheduler, elevator, files, jobs, limits, letters) in RECORDINGS.items():
        if args.only and name not in args.only:
            continue
        with served(args.program, scheduler, elevator, files) as device, limited(device, limits) as group:
            traced(device, instance)
            put(f"{instance}/tracing_on", 1)
            fio(device, jobs, args.seconds, group, 0)
            put(f"{instance}/tracing_on", 0)
        lost = [int(count) for cpu in range(os.cpu_count()) for count in re.findall(r"overrun: (\d+)", stats(instance, cpu))]
        if any(lost):
            print(f"SKIPPED: {name}: {sum(lost)} events did not fit into the kernel's buffer")
            continue
        with open(f"{instance}/trace", encoding="ascii", errors="replace") as trace:
            kept = list(itertools.islice(lines(trace, letters, bool(limits)), args.events))
        set_to = " ".join(f"{key} {value}" for key, value in {**files, **limits}.items())
        head = f"# Linux {os.uname().release.split('-')[0]}, {elevator} {set_to}: {'; '.join(jobs)}"
        path = os.path.join(args.out, f"{name}.txt.gz")
        with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as file:
            file.write("\n".join([head, *kept, ""]).encode())
        print(f"{path}: {len(kept)} events")
    put(f"{instance}/events/enable", 0)
    os.rmdir(instance)


def stats(instance, cpu):
    with open(f"{instance}/per_cpu/cpu{cpu}/stats", encoding="ascii") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["compare", "record"])
    parser.add_argument("--program", default="target/release/flashlane", type=os.path.abspath)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--only", type=lambda names: names.split(","))
    parser.add_argument("--events", type=int, default=5000)
    parser.add_argument("--out")
    args = parser.parse_args()
    if args.what == "record" and not args.out:
        parser.error("record needs --out DIR")
    if why := missing(args.program):
        sys.exit(f"SKIPPED: {why}")
    compare(args) if args.what == "compare" else record(args)


main()
