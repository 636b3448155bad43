#!/usr/bin/env python3
"""The table of docs/results/ceiling.md: the mean of every scheduler over what no scheduler can beat, on six workloads."""

import argparse
import json
import subprocess
from pathlib import Path

SCENARIOS = Path(__file__).parents[1] / "scenarios"
#: Column, and what `flashlane compare` is given.
WORKLOADS = {
    "two-tenants": [SCENARIOS / "two-tenants.toml"],
    "gc-pressure": [SCENARIOS / "gc-pressure.toml"],
    "free-mix": [SCENARIOS / "free-mix.toml"],
    "mixing": [SCENARIOS / "mixing.toml"],
    "busy-trace": ["--trace", SCENARIOS / "busy-trace.csv.gz", "--device", "flin-isca18"],
    "example-trace x 50": ["--trace", SCENARIOS / "example-trace.csv", "--device", "flin-isca18", "--speedup", "50"],
}

#: Schedulers that estimate by what a page buffer holds, which these devices do not have.
NEEDS_A_BUFFER = ("ncq-sb ", "ncq-tsb ")


def gaps(program: str, names: str, given: list) -> dict[str, str]:
    """For each scheduler that ran, its mean over the bound with its placement, and over that with free placement."""
    command = [program, "compare", *map(str, given), "--schedulers", names, "--ceiling", "--format", "json"]
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    summary = json.loads(done.stdout)
    if summary["ceiling"]["none"]:
        raise SystemExit(f"{given}: {summary['ceiling']['none']}")
    shown = lambda gap: "-" if gap is None else f"{gap:.2f}"
    return {run["name"]: f"{shown(run['ceiling']['mean_static'])} / {shown(run['ceiling']['mean_free'])}" for run in summary["schedulers"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="target/release/flashlane")
    program = parser.parse_args().program
    listed = subprocess.run([program, "schedulers"], check=True, capture_output=True, text=True).stdout.splitlines()
    end = next(i for i, line in enumerate(listed) if line.startswith("baseline "))
    names = ",".join(line.split()[0] for line in listed[:end] if line and not line[0].isspace() and not line.startswith(NEEDS_A_BUFFER))
    columns = [gaps(program, names, workload) for workload in WORKLOADS.values()]
    print("| scheduler | " + " | ".join(WORKLOADS) + " |\n|---" + "|---:" * len(WORKLOADS) + "|")
    for name in dict.fromkeys(name for column in columns for name in column):
        print(f"| `{name}` | " + " | ".join(column.get(name, "-") for column in columns) + " |")


if __name__ == "__main__":
    main()
