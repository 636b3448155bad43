#!/usr/bin/env python3
"""Which conclusions about schedulers survive on drives of today: measures docs/results/drive-of-today.md and its picture.

    python3 tools/drive_of_today.py --program target/debug/flashlane --keep DIR

Runs every comparison that DIR does not have yet from this build of the program, and writes the tables into the page, between its two marks, and
docs/results/drive-of-today.svg. Drives with everything on and off have `--seeds` seeds, one effect off or a drive's other has the first. `--check` only asks the
program whether every scenario is legal. Drives are a sixteenth of their presets, so that runs of seconds fill an SLC cache; loads are shares of what a drive reads and
programs, so that all are equally busy.
"""

import argparse, concurrent.futures, hashlib, json, math, statistics, subprocess, sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs/results"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

# ---------------------------------------------------------------------------------------------------------------------------- drives
# What a drive has with everything on is its preset, the size, and `on`; an effect is switched off by the keys beside it. Reads that are tried again are in no
# preset: their shares are assumptions, as are those of the presets. What `others` adds is in no preset: an SLC cache that is
# folded when it is full; the drives that the presets are modelled on write past it.
RETRY = 'retry = {{ step_ns = {step}, states = [{{ shares = {shares} }}] }}'
COMMANDS = "flushes, FUA, trims"  # an effect of the workload: what a file system sends


def of_today(**map_of_pages):
    """The effects that all three presets have; what a drive without a map of 4 KiB counts in pages of 16 KiB is given."""
    return {
        "map of 4 KiB": {"ftl.unit_bytes": 16_384, **{key.replace("__", "."): value for key, value in map_of_pages.items()}},
        "superblocks": {"ftl.superblock": '"plane"'}, "pauses at iterations": {"nand.suspend_at": '"instant"'},
    }


DRIVES = {
    "papers": {
        "preset": "flin-isca18", "size": {"geometry.blocks_per_plane": 256, "ftl.user_gb": 30},
        "units": 32, "read_us": 75, "write_mb_s": 403, "effects": {}, "on": {},
    },
    "datacenter-tlc": {
        "preset": "datacenter-tlc", "size": {"geometry.blocks_per_plane": 345, "geometry.pages_per_block": 192, "ftl.user_gb": 120},
        "units": 32, "read_us": 50, "write_mb_s": 2620, "on": {"retry": RETRY.format(step=50_000, shares=[0.8, 0.15, 0.05])},
        "effects": {
            "one-shot programs": {"nand.one_shot_pages": 1, "nand.program_ns": 800_000, "nand.iterations": 4},
            **of_today(buffer__pages=4_096, buffer__flush_above=1_024),
            "page types": {"nand.read_ns": 50_000}, "retries": {"retry": None}, "limit of suspensions": {"nand.suspend_limit": '"unlimited"'},
            "capacitors": {"buffer.protected": "false"}, COMMANDS: {},
        },
        "others": {},
    },
    "client-tlc": {
        "preset": "client-tlc", "size": {"geometry.blocks_per_plane": 350, "geometry.pages_per_block": 192, "slc.static_blocks": 8, "slc.dynamic_limit": 33, "ftl.user_gb": 31},
        "units": 16, "read_us": 75, "write_mb_s": 603, "on": {"retry": RETRY.format(step=75_000, shares=[0.8, 0.15, 0.05])},
        "effects": {
            "SLC cache": {"slc.static_blocks": 0, "slc.dynamic": "false", "geometry.blocks_per_plane": 342},
            "one-shot programs": {"nand.one_shot_pages": 1, "nand.program_ns": 870_000, "nand.iterations": 9},
            **of_today(buffer__pages=2_048, buffer__flush_above=256),
            "page types": {"nand.read_ns": 75_000}, "retries": {"retry": None}, COMMANDS: {},
        },
        "others": {"folding when full": {"slc.full": '"fold"'}},
    },
    "client-qlc": {
        "preset": "client-qlc",
        "size": {
            "geometry.blocks_per_plane": 360, "geometry.pages_per_block": 384, "slc.static_blocks": 15, "slc.dynamic_limit": 174, "ftl.user_gb": 32,
            "mapping.entries": 16_384, "mapping.host_entries": 1_048_576,
        },
        "units": 4, "read_us": 125, "write_mb_s": 119, "on": {"retry": RETRY.format(step=125_000, shares=[0.6, 0.25, 0.15])},
        "effects": {
            "SLC cache": {"slc.static_blocks": 0, "slc.dynamic": "false", "geometry.blocks_per_plane": 345},
            "one-shot programs": {"nand.one_shot_pages": 1, "nand.program_ns": 2_200_000, "nand.iterations": 11},
            "mapping cache": {"mapping.entries": 8_000_000, "mapping.host_entries": 0, "mapping.start": '"warm"'},
            **of_today(buffer__pages=256, buffer__flush_above=64, mapping__entries=4_096, mapping__host_entries=262_144),
            "page types": {"nand.read_ns": 125_000}, "retries": {"retry": None}, COMMANDS: {},
        },
        "others": {"folding when full": {"slc.full": '"fold"'}},
    },
}


#: What is measured with all seeds; the rest shows by the first what one change does.
WHOLE = ("all off", "all on")


def settings():
    """Every drive as it is measured: its name, which of its effects are off or of its others are on, and how that is called."""
    yield "papers", [COMMANDS], "as published"
    for name, drive in list(DRIVES.items())[1:]:
        effects = list(drive["effects"])
        # Without commands there is nothing that capacitors change.
        yield name, [effect for effect in effects if effect != "capacitors"], "all off"
        yield name, [], "all on"
        yield from ((name, [effect], f"without {effect}") for effect in effects)
        yield from ((name, [other], f"with {other}") for other in drive["others"])


def device(name, changed):
    drive = DRIVES[name]
    keys = {**drive["size"], **drive["on"]}
    for change in changed:
        keys.update(drive["effects"].get(change) or drive.get("others", {}).get(change, {}))
    lines = [value if key == "retry" else f"{key} = {value}" for key, value in keys.items() if value is not None]
    return f'[device]\npreset = "{drive["preset"]}"\n' + "\n".join(lines) + "\n"


# ------------------------------------------------------------------------------------------------------------------------- workloads
def flow(name, keys):
    return f'[[flow]]\nname = "{name}"\n[flow.synthetic]\n' + "".join(f"{key} = {value}\n" for key, value in keys.items())


def reader(reads_s, share, seconds):
    return flow("reader", {"size": "{ constant = 4096 }", "access": '"zipf"', "rate_iops": round(share * reads_s), "duration_s": seconds})


def tenants(reads_s, bytes_s, commands):
    """A reader, a tenant with bursts, and a writer."""
    seconds = round(14_000 / (0.1 * reads_s), 3)
    mixed = {"read_ratio": 0.6, "size": "{ mix = [[8192, 2], [40960, 1]] }", "access": '"zipf"', "arrivals": '"bursty"', "burst_factor": 8,
             "burst_duty": 0.1, "burst_requests": 50, "rate_iops": round(0.05 * bytes_s / 0.4 / 18_773), "duration_s": seconds}
    writer = {"read_ratio": 0, "size": "{ constant = 32768 }", "rate_iops": round(0.1 * bytes_s / 32_768), "duration_s": seconds}
    if commands:
        mixed |= {"trim_ratio": 0.02, "trim_size": "{ constant = 262144 }"}
        writer |= {"flush_every_writes": 64}
    return reader(reads_s, 0.1, seconds) + flow("bursts", mixed) + flow("writer", writer)


def files(reads_s, bytes_s, commands):
    """A database: a log whose records are made durable, its pages, and readers."""
    seconds = round(14_000 / (0.1 * reads_s), 3)
    log = {"read_ratio": 0, "size": "{ constant = 4096 }", "access": '"streaming"', "arrivals": '"closed-loop"', "depth": 1,
           "think_us": round(1e6 * 400_000 / bytes_s), "duration_s": seconds}
    pages = {"read_ratio": 0.5, "size": "{ mix = [[4096, 1], [16384, 2], [65536, 1]] }", "access": '"zipf"', "working_set_fraction": 0.2,
             "rate_iops": round(0.1 * bytes_s / 0.5 / 25_600), "duration_s": seconds}
    if commands:
        log |= {"flush_every_writes": 1}
        pages |= {"fua_ratio": 0.1, "trim_ratio": 0.05, "trim_size": "{ constant = 262144 }", "flush_every_ms": max(1, round(1e3 * seconds / 50))}
    return flow("log", log) + flow("pages", pages) + reader(reads_s, 0.1, seconds)


def copy(reads_s, bytes_s, commands):
    """A copy of more than an SLC cache holds, beside a reader."""
    seconds = round(1.2e9 / bytes_s, 3)
    large = {"read_ratio": 0, "size": "{ constant = 131072 }", "access": '"streaming"', "arrivals": '"closed-loop"', "depth": 4, "duration_s": seconds}
    if commands:
        large |= {"flush_every_writes": 256}
    return flow("copy", large) + reader(reads_s, 0.04, seconds)


def mix(names):
    """A mix of FLIN's, as fast for the drive as it is for FLIN's."""
    def of(_, bytes_s, commands):
        gap = 403e6 / bytes_s
        clone = '[[flow]]\nname = "%s"\n[flow.clone]\ntable = "flin"\nname = "%s"\nduration_s = %.3f\nworking_set_bytes = 1000000000\ngap_scale = %.3f\n'
        return "".join(clone % (f"{at}-{name}", name, 1.2 * gap, gap) for at, name in enumerate(names.split()))
    return of


WORKLOADS = {"tenants": tenants, "database": files, "copy": copy, "mix": mix("tpce exch stg-1 prxy-0")}

# ------------------------------------------------------------------------------------------------------------------------ schedulers
HELD = 'collect = "semi-preemptive"'
NO_CODE = "no-code mix"
SCHEDULERS = {
    **{name: f'base = "{name}", {HELD}' for name in ("fcfs", "read-first", "read-first-suspend", "fr-fcfs", "sprinkler")},
    "sprinkler-np": 'base = "sprinkler-np"', "flin": 'base = "flin"',
    **{name: f'base = "{name}", {HELD}' for name in ("flin-stage1", "slacker", "need", "late", "dynalloc", "sos")},
    NO_CODE: f'base = "flin-stage1", place = "rebalance", rebalance_after_rotation = 1, cancel = "overwrite", {HELD}',
}
#: Those of papers; the others are ours, a stage alone, or a control.
PUBLISHED = ["fcfs", "read-first", "read-first-suspend", "fr-fcfs", "sprinkler", "slacker", "dynalloc", "sos"]


def scenario(setting, workload, seed):
    name, changed, _ = setting
    drive = DRIVES[name]
    reads_s, bytes_s = drive["units"] * 1e6 / drive["read_us"], drive["write_mb_s"] * 1e6
    entries = ",\n  ".join(f'{{ name = "{row}", {answers} }}' for row, answers in SCHEDULERS.items())
    head = f'name = "{workload}"\nseed = {seed}\nschedulers = [\n  {entries}]\n'
    return head + device(name, changed) + WORKLOADS[workload](reads_s, bytes_s, COMMANDS not in changed)


class Runs:
    """The runs of one build of the program, kept in a folder."""

    def __init__(self, program, keep):
        self.program, self.keep = program, keep
        # The version does not change with every build: the program's bytes do.
        self.build = hashlib.sha256(Path(program).read_bytes()).digest()
        keep.mkdir(parents=True, exist_ok=True)

    def file(self, whole):
        """Where what this build makes of a scenario is kept."""
        return self.keep / (hashlib.sha256(self.build + whole.encode()).hexdigest()[:16] + ".json")

    def of(self, setting, workload, seed):
        """What one workload shows on one drive, by scheduler."""
        whole = scenario(setting, workload, seed)
        kept = self.file(whole)
        if not kept.exists():
            made = json.loads(self.ask("compare", kept, whole, "--format", "json", "--jobs", "1"))
            # A run that is stopped leaves no half a file behind.
            part = kept.with_suffix(".part")
            part.write_text(json.dumps(figures(made)))
            part.rename(kept)
        return json.loads(kept.read_text())

    def check(self, setting, workload):
        whole = scenario(setting, workload, 1)
        self.ask("check", self.file(whole), whole)

    def ask(self, command, kept, whole, *options):
        file = kept.with_suffix(".toml")
        file.write_text(whole)
        made = subprocess.run([self.program, command, file, *options], capture_output=True, text=True)
        if made.returncode:
            raise SystemExit(f"{file}: {made.stderr.strip()}")
        return made.stdout


def figures(summary):
    def of(run):
        all_, fair = run["total"]["all"], run.get("fairness") or {}
        return {"mean": all_["mean_ns"], "p99.9": all_["p99_9_ns"], "F": fair.get("fairness"), "slowdown": fair.get("max_slowdown"),
                "WA": run["device"]["write_amplification"]}
    return {run["name"]: of(run) for run in summary["schedulers"]}


# ----------------------------------------------------------------------------------------------------------------------- conclusions
def geometric(made, measure, row):
    """The geometric mean of a figure over the workloads of one seed."""
    values = [found for of in made.values() if (found := of[row][measure])]
    return math.exp(statistics.fmean(map(math.log, values)))


def average(made, measure, row):
    return statistics.fmean(found for of in made.values() if (found := of[row][measure]) is not None)


def ratio(measure, above, below):
    return lambda made: geometric(made, measure, above) / geometric(made, measure, below)


def fastest_other(made):
    return min(geometric(made, "mean", row) for row in SCHEDULERS if row != "late") / geometric(made, "mean", "late")


def fairer(own, others):
    return lambda made: average(made, "F", own) / max(average(made, "F", row) for row in others if row != own)


#: What the comparison across papers concluded; each holds where its ratio is above 1.
CONCLUSIONS = {
    "`late` has the shortest mean: that of the best other row over its own": fastest_other,
    "reads that suspend programs shorten the mean: `read-first` over `read-first-suspend`": ratio("mean", "read-first", "read-first-suspend"),
    "they lengthen the tail: p99.9 of `read-first-suspend` over `read-first`": ratio("p99.9", "read-first-suspend", "read-first"),
    "Slacker beats its baseline: mean of `fr-fcfs` over `slacker`": ratio("mean", "fr-fcfs", "slacker"),
    "and on the tail: p99.9 of `fr-fcfs` over `slacker`": ratio("p99.9", "fr-fcfs", "slacker"),
    "FLIN is the fairest of the published: its F over the best other's": fairer("flin", PUBLISHED),
    "`late` is the fairest of all: its F over the best other's": fairer("late", SCHEDULERS),
    "writes on any free chip are slower than `fcfs`: mean of `dynalloc` over `fcfs`": ratio("mean", "dynalloc", "fcfs"),
    "collection must be preemptible: mean of `sprinkler-np` over `sprinkler`": ratio("mean", "sprinkler-np", "sprinkler"),
    "`late` pays with writes: its write amplification over that of `fcfs`": ratio("WA", "late", "fcfs"),
}

#: Quantiles of Student's t at 97.5 %, by the number of values.
T = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}


def interval(values):
    """Mean and interval at 95 % of ratios over the seeds, taken as logarithms."""
    logs = [math.log(value) for value in values]
    middle, half = statistics.fmean(logs), T[len(logs)] * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(middle), math.exp(middle - half), math.exp(middle + half)


def mark(found):
    """Whether a conclusion holds (+) or is the other way round (-), by more than a percent and the interval; else neither (o)."""
    middle, low, high = found
    return "+" if low > 1 and middle > 1.01 else "-" if high < 1 and middle < 0.99 else "o"


def digits(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def shown(found):
    middle, low, high = map(digits, found)
    return f"{mark(found)} {middle} ({low} to {high})"


def table(results):
    """The conclusions by drive."""
    columns = [("papers", "as published")] + [(name, state) for name in list(DRIVES)[1:] for state in WHOLE]
    heads = ["as published"] + [f"{name}, {state}" for name, state in columns[1:]]
    lines = ["| conclusion | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for text, measure in CONCLUSIONS.items():
        lines.append(f"| {text} | " + " | ".join(shown(interval([measure(made) for made in results[column]])) for column in columns) + " |")
    return "\n".join(lines)


def effects(results, name):
    """The conclusions on one drive with everything on, with one thing changed at a time, by the first seed."""
    labels = ["all on"] + [label for drive, label in results if drive == name and label not in WHOLE]
    lines = ["| conclusion | " + " | ".join(labels) + " |", "|---|" + "---:|" * len(labels)]
    for text, measure in CONCLUSIONS.items():
        lines.append(f"| {text.split(':')[0]} | " + " | ".join(digits(measure(results[name, label][0])) for label in labels) + " |")
    return "\n".join(lines)


def rows(results):
    """Every row on the three drives with everything on."""
    names = list(DRIVES)[1:]
    heads = [f"{name} {what}" for name in names for what in ("mean", "p99.9", "F", "WA")]
    lines = ["| scheduler | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for row in SCHEDULERS:
        cells = []
        for name in names:
            seeds = results[name, "all on"]
            cells += [digits(interval([ratio(measure, "fcfs", row)(made) for made in seeds])[0]) for measure in ("mean", "p99.9")]
            cells += [digits(statistics.fmean(average(made, measure, row) for made in seeds)) for measure in ("F", "WA")]
        lines.append(f"| `{row}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


# --------------------------------------------------------------------------------------------------------------------------- picture
def colour(factor):
    """Blue where it is faster, orange where it is slower, paler towards 1; the colours of docs/results/cross.svg."""
    share = min(1.0, abs(math.log(factor)) / math.log(4))
    full = (86, 155, 220) if factor >= 1 else (240, 140, 40)
    return "#" + "".join(f"{round(255 + (of - 255) * share):02x}" for of in full)


def picture(results):
    """Speedups of the mean over fcfs: rows by drive and what is switched off; intervals where there are several seeds."""
    left, top, wide, tall = 150, 200, 62, 30
    columns = list(results)
    parts = [f'<text x="8" y="20" font-size="15">Mean response time under fcfs over the scheduler\'s, with the interval at 95 % over the seeds</text>']
    for at, (name, label) in enumerate(columns):
        x = left + at * wide + wide // 2 + 4
        parts.append(f'<text transform="translate({x},{top - 8}) rotate(-50)">{label}</text>')
        if at == 0 or columns[at - 1][0] != name:
            parts.append(f'<text x="{left + at * wide}" y="42" font-weight="bold">{name}</text><line x1="{left + at * wide - 1}" x2="{left + at * wide - 1}" '
                         f'y1="30" y2="{top + tall * len(SCHEDULERS)}" stroke="#555"/>')
    for line, row in enumerate(SCHEDULERS):
        y = top + line * tall
        parts.append(f'<text x="{left - 8}" y="{y + 19}" text-anchor="end">{row}</text>')
        for at, seeds in enumerate(results.values()):
            speedups = [ratio("mean", "fcfs", row)(made) for made in seeds]
            middle, low, high = interval(speedups) if len(speedups) > 1 else speedups * 3
            x = left + at * wide
            parts.append(f'<rect x="{x}" y="{y}" width="{wide - 2}" height="{tall - 2}" fill="{colour(middle)}"/>')
            parts.append(f'<text x="{x + wide // 2 - 1}" y="{y + 13}" text-anchor="middle">{digits(middle)}</text>')
            if row != "fcfs" and len(speedups) > 1:
                parts.append(f'<text x="{x + wide // 2 - 1}" y="{y + 24}" text-anchor="middle" font-size="8">{digits(low)} to {digits(high)}</text>')
    width, height = left + wide * len(columns) + 130, top + tall * len(SCHEDULERS) + 10
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">'
            f'<rect width="{width}" height="{height}" fill="white"/>{"".join(parts)}</svg>\n')


def measured(runs, seeds, pool):
    """By drive and what is changed in it, for each seed what every workload shows."""
    jobs = [
        (setting, workload, seed) for setting in settings() for seed in range(1, (seeds if setting[2] in (*WHOLE, "as published") else 1) + 1)
        for workload in WORKLOADS
    ]
    results = {}
    for ((name, _, label), workload, seed), of in zip(jobs, pool.map(lambda job: runs.of(*job), jobs)):
        results.setdefault((name, label), {}).setdefault(seed, {})[workload] = of
    return {key: list(of.values()) for key, of in results.items()}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", required=True)
    options.add_argument("--keep", type=Path, required=True)
    options.add_argument("--seeds", type=int, default=5, choices=T)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--check", action="store_true", help="only check the scenarios")
    options.add_argument("--print", action="store_true", help="print the tables and write nothing into docs")
    given = options.parse_args()
    runs = Runs(given.program, given.keep)
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        if given.check:
            cases = [(setting, workload) for setting in settings() for workload in WORKLOADS]
            list(pool.map(lambda case: runs.check(*case), cases))
            print(f"{len(cases)} scenarios are legal")
            return
        results = measured(runs, given.seeds, pool)
    text = f"{table(results)}\n\nEvery row on the three drives with everything on; mean and p99.9 are those of `fcfs` over the scheduler's:\n\n{rows(results)}"
    text += "".join(f"\n\nOne change at a time on `{name}` (first seed, no intervals):\n\n{effects(results, name)}" for name in list(DRIVES)[1:])
    if given.print:
        print(text)
        return
    page = DOCS / "drive-of-today.md"
    before, rest = page.read_text().split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")
    (DOCS / "drive-of-today.svg").write_text(picture(results))


if __name__ == "__main__":
    main()
