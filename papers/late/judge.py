#!/usr/bin/env python3
"""Judges the scheduler `late` on workloads that it was not tuned on, against every scheduler of the catalogue.

    python3 papers/late/judge.py --program target/release/flashlane --traces DIR --keep DIR [--set 4] [--seeds 3] [--out tables.md] [--figure late.svg]
    python3 papers/late/judge.py ... --set 0 --rows '{ name = "fcfs", base = "fcfs" }' '{ name = "late", base = "late" }' '{ name = "own", base = "late", late_choices = 8 }'

Runs what --keep does not have yet, one comparison at a time with one job, and prints the tables of docs/results/late.md. DIR has the traces that a set
names; families whose files are missing are left out and named. Each set judged one version of `late`, once, and was not looked at before: set 1 the first, set 2
the one whose planes stay at one page, set 3 the one with a longer pause of the buffer's programs, set 4 the one of docs/results/late.md. Set 0 is for training, with --rows. A version to come needs a set of its own.
"""

import argparse, concurrent.futures, hashlib, json, math, statistics, subprocess, sys, tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
MIXES = {mix["name"]: mix["traces"] for mix in tomllib.loads((HERE.parent / "flin/mixes.toml").read_text())["mix"]}
# Tuned on mixes 01 and 02 of each class, six other clones, the first 8,000 requests of the traces, and shipped scenarios.
SETS = {
    0: {  # training: those it was tuned on, and what runs of this kind come to when they go on
        "flin": ["25-01", "25-02", "50-01", "50-02", "75-01", "75-02", "100-01", "100-02"],
        "slow": [300_000, 200_000],
        "slacker": ["fin1", "prn0", "web3", "hm1", "usr1-p", "rsrch0-p"],
        "traces": [
            ("msnfs.disksim.gz", "10", 0, "slacker-asplos17"), ("msnfs.disksim.gz", "29", 0, "slacker-asplos17"),
            ("wsrch-small.mqsim", "113", 0, "slacker-asplos17"), ("tpcc-small.mqsim", "0.2", 0, "slacker-asplos17"),
            ("ssdsim-example.ascii", "300", 0, "slacker-asplos17"), ("msr-cut-rw40.heimdall", "16", 0, "slacker-asplos17"),
            ("msr-hm_0-899.csv", "200", 0, "slacker-asplos17"),
        ],
        "modern": ["25-01", "50-02", "75-01", "100-02"],
        "priorities": [(0.35, 3), (0.55, 2), (0.8, 4)],
        "closed loops": [(8, 8), (24, 24), (48, 8), (8, 48)],
        "longer": {"full": ["50-02", "75-01"], "modern": ["50-02", "75-01"]},
        "out of blocks": [(24, 24), (8, 48), (4, 16)],
    },
    1: {
        "flin": ["25-05", "25-09", "50-04", "50-08", "75-05", "75-09", "100-04", "100-08"],
        "slow": [300_000, 200_000],
        "slacker": ["fin2", "msnfs3", "prn1-p", "proj4", "prxy0", "ts0-p", "wdev0", "web0-p"],
        "traces": [  # file, speedup, requests skipped, device; tuned on another part, or on another device
            ("msnfs.disksim.gz", "15", 40_000, "slacker-asplos17"), ("msnfs.disksim.gz", "25", 90_000, "slacker-asplos17"),
            ("wsrch-small.mqsim", "80", 20_000, "slacker-asplos17"), ("tpcc-small.mqsim", "0.15", 0, "slacker-one-page"),
            ("ssdsim-example.ascii", "200", 0, "slacker-one-page"), ("msr-cut-rw40.heimdall", "12", 0, "slacker-one-page"),
            ("msr-hm_0-899.csv", "300", 0, "slacker-one-page"),
        ],
        "modern": ["25-04", "50-06", "75-03", "100-07"],
        "priorities": [(0.3, 3), (0.6, 3), (0.9, 3)],
    },
    2: {
        "flin": ["25-08", "25-10", "50-05", "50-09", "75-06", "75-10", "100-05", "100-09"],
        "slow": [250_000, 150_000],
        "slacker": ["wdev2", "rsrch1", "src2-0-p", "usr0-p", "mds0-p", "rsrch2-p", "stg1-p"],
        "traces": [
            ("msnfs.disksim.gz", "12", 110_000, "modern-tlc"), ("msnfs.disksim.gz", "30", 65_000, "slacker-one-page"),
            ("wsrch-small.mqsim", "100", 10_000, "flin-isca18"), ("tpcc-small.mqsim", "0.25", 0, "flin-isca18"),
            ("ssdsim-example.ascii", "400", 1_500, "flin-isca18"), ("msr-cut-rw40.heimdall", "20", 1_500, "flin-isca18"),
            ("msr-hm_0-899.csv", "400", 0, "flin-isca18"),
        ],
        "modern": ["25-07", "50-10", "75-08", "100-06"],
        "priorities": [(0.25, 2), (0.5, 4), (0.75, 4)],
    },
    3: {
        "flin": ["25-03", "25-06", "50-03", "50-07", "75-04", "75-07", "100-03", "100-10"],
        "slow": [350_000, 250_000],
        "flin clones": ["dev", "stg-1", "wsrch", "fin2", "stg-0", "msnfs"],  # one at a time; Slacker's are used up
        "slacker": [],
        "traces": [
            ("msnfs.disksim.gz", "18", 20_000, "slacker-one-page"), ("msnfs.disksim.gz", "40", 130_000, "modern-tlc"),
            ("wsrch-small.mqsim", "130", 5_000, "modern-tlc"), ("tpcc-small.mqsim", "0.3", 0, "sos-msst13"),
            ("ssdsim-example.ascii", "150", 2_000, "sos-msst13"), ("msr-cut-rw40.heimdall", "25", 1_000, "slacker-asplos17"),
            ("msr-hm_0-899.csv", "250", 0, "sos-msst13"),
        ],
        "modern": ["tpcc rad-be msncfs tpce", "msncfs prxy-1 src1-1 prxy-0", "tpce exch stg-1 prxy-0", "rad-ps tpce fin2 wsrch"],  # and the clones above: random.Random(35)
        "priorities": [(0.45, 2), (0.65, 4), (0.85, 3)],
        "closed loops": [(16, 8), (32, 32), (64, 4), (4, 64)],  # depths of readers and writers
    },
    4: {
        "flin": [
            "dev wsrch prn-0 src1-0", "msnfs stg-0 prn-0 src1-2", "tpcc rad-ps exch prxy-0", "fin2 msnfs prxy-0 src1-1",
            "tpce msnfs src1-0 fin2", "msnfs tpce tpcc dev", "msnfs src1-1 src1-0 exch", "src1-0 tpce src1-1 msnfs",
        ],  # two of each class, the modern drive's, and the clones: random.Random(36)
        "slow": [400_000, 150_000],
        "flin clones": ["src1-1", "prn-1", "rad-ps", "prxy-0", "prxy-1", "fin1"],
        "slacker": [],
        "traces": [
            ("msnfs.disksim.gz", "22", 50_000, "slacker-asplos17"), ("msnfs.disksim.gz", "35", 75_000, "flin-isca18"),
            ("wsrch-small.mqsim", "60", 2_000, "sos-msst13"), ("tpcc-small.mqsim", "0.5", 0, "modern-tlc"),
            ("ssdsim-example.ascii", "350", 1_000, "modern-tlc"), ("msr-cut-rw40.heimdall", "14", 500, "sos-msst13"),
            ("msr-hm_0-899.csv", "200", 0, "cosmos-openssd"),
        ],
        "modern": ["exch src1-2 fin2 prxy-1", "tpcc prxy-0 fin2 exch", "msncfs msnfs src1-0 src1-1", "tpce tpcc src1-1 src1-0"],
        "priorities": [(0.2, 2), (0.4, 4), (0.7, 3)],
        "closed loops": [(12, 12), (40, 40), (48, 16), (6, 40)],
        "out of blocks": [(16, 16), (12, 36), (2, 32), (32, 64)],
    },
}
NO_CODE = '{ name = "no-code mix", base = "flin-stage1", place = "rebalance", rebalance_after_rotation = 1, cancel = "overwrite", collect = "semi-preemptive" }'
PARTS = {  # `late` with one answer replaced by the plain one
    "late, place static": 'place = "static"', "late, preempt never": 'preempt = "never"', "late, preempt suspend": 'preempt = "suspend"',
    "late, cancel keep": 'cancel = "keep"', "late, pick read-first": 'pick = "read-first"', "late, pick fcfs": 'pick = "fcfs"',
    "late, collect semi-preemptive": 'collect = "semi-preemptive"', "late, late_fair 0": "late_fair = 0",
}
OWN_COLLECTION = {"late", "flin", "flin-stage3", "sprinkler-np", "sprinkler+fairness-np"}
LEFT_OUT = {"oracle-slack", "ncq-sb", "ncq-tsb", "baseline"}  # another run's times; a page buffer; another name


def rows(program):
    listed = subprocess.run([program, "schedulers"], capture_output=True, text=True, check=True).stdout.splitlines()
    names = []
    for line in listed:
        if line and not line[0].isspace() and len(line.split()) > 1 and "  " in line:
            names.append(line.split()[0])
        if names and not line:
            break
    return [name for name in dict.fromkeys(names) if name not in LEFT_OUT]


def entries(program):
    held = ', collect = "semi-preemptive"'
    named = ['{ name = "%s", base = "%s"%s }' % (name, name, "" if name in OWN_COLLECTION else held) for name in rows(program)]
    parts = ['{ name = "%s", base = "late", %s }' % (name, part) for name, part in PARTS.items()]
    return named + [NO_CODE] + parts


def tenants(traces, ms, scale=None):
    gap = "" if scale is None else f"gap_scale = {scale}\n"
    flow = '[[flow]]\nname = "%s"\n[flow.clone]\ntable = "flin"\nname = "%s"\nduration_s = %s\nworking_set_bytes = 1000000000\n%s'
    return "".join(flow % (f"{i}-{name}", name, ms / 1000, gap) for i, name in enumerate(traces))


def full_drive(name, ms=1500, device=""):
    text = f'[device]\npreset = "flin-isca18"\n{device}geometry = {{ blocks_per_plane = 256 }}\ngc = {{ hard_blocks = 5 }}\nftl = {{ user_gb = 30 }}\n'
    return text + f"[run]\nduration_ms = {ms}\nwarm_up_ms = {ms // 10}\n" + tenants(MIXES.get(name) or name.split(), ms)


def clone(table, name):
    return f'[device]\npreset = "slacker-asplos17"\n[run]\nwarm_up_requests = 600\n[[flow]]\nname = "c"\n[flow.clone]\ntable = "{table}"\nname = "{name}"\nrequests = 6600\n'


def trace(folder, file, speed, offset, device):
    offset = f"offset = {offset}\n" if offset else ""
    return (f'[device]\npreset = "{device}"\n[[flow]]\nname = "t"\n[flow.trace]\npath = "{folder / file}"\nspeedup = "{speed}"\n'
            f'limit = 8000\n{offset}beyond = "wrap"\norder = "clamp"\nsizes = "reject"\n')


def modern(name, ms=300):
    text = '[device]\npreset = "modern-tlc"\ngeometry = { blocks_per_plane = 128, pages_per_block = 258 }\nftl = { over_provisioning_percent = 12 }\n'
    return text + f"[run]\nduration_ms = {ms}\nwarm_up_ms = {ms // 10}\n" + tenants(MIXES.get(name) or name.split(), ms, 0.2)


def priorities(reads, levels):
    flow = '[[flow]]\nname = "p%d"\npriority = %d\n[flow.synthetic]\nread_ratio = %s\nsize = { mix = [[8192, 2], [40960, 1]] }\naccess = "zipf"\narrivals = "bursty"\nburst_factor = 8\nburst_duty = 0.1\nburst_requests = 50\nrate_iops = 900\nrequests = 1500\n'
    text = '[device]\npreset = "flin-isca18"\ngeometry = { blocks_per_plane = 128 }\nftl = { over_provisioning_percent = 18 }\n[run]\nwarm_up_ms = 100\n'
    return text + "".join(flow % (p, p, reads) for p in range(levels))


def closed_loops(readers, writers, ms=500, warm_up=50):
    """Two tenants that keep so many requests in flight, and one with bursts."""
    text = '[device]\npreset = "flin-isca18"\ngeometry = { blocks_per_plane = 128 }\nftl = { over_provisioning_percent = 18 }\n[run]\nduration_ms = %d\nwarm_up_ms = %d\n' % (ms, warm_up)
    loop = '[[flow]]\nname = "%s"\n[flow.synthetic]\nread_ratio = %s\nsize = { constant = %d }\narrivals = "closed-loop"\ndepth = %d\nduration_s = %s\n'
    burst = '[[flow]]\nname = "bursts"\n[flow.synthetic]\nread_ratio = 0.6\nsize = { mix = [[8192, 2], [40960, 1]] }\naccess = "zipf"\narrivals = "bursty"\nburst_factor = 8\nburst_duty = 0.1\nburst_requests = 50\nrate_iops = 1500\nduration_s = %s\n'
    return text + loop % ("readers", "1.0", 8192, readers, ms / 1000) + loop % ("writers", "0.0", 32768, writers, ms / 1000) + burst % (ms / 1000)


def workloads(folder, chosen):
    slow = "nand = { suspend_ns = %d, resume_ns = %d }\n" % tuple(chosen["slow"])
    yield from (("full drives", name, full_drive(name)) for name in chosen["flin"])
    yield from (("full, slow pauses", name, full_drive(name, 1000, slow)) for name in chosen["flin"][::3])
    yield from (("bursts", name, clone("slacker", name)) for name in chosen["slacker"])
    yield from (("bursts", name, clone("flin", name)) for name in chosen.get("flin clones", []))
    yield from (("traces", f"{file} x{speed}", trace(folder, file, speed, skip, device)) for file, speed, skip, device in chosen["traces"] if (folder / file).exists())
    yield from (("modern drive", name, modern(name)) for name in chosen["modern"])
    yield from (("priorities", f"{reads}" if levels == 3 else f"{reads}, {levels} levels", priorities(reads, levels)) for reads, levels in chosen["priorities"])
    yield from (("closed loops", f"{readers} + {writers}", closed_loops(readers, writers)) for readers, writers in chosen.get("closed loops", []))
    longer = chosen.get("longer", {})
    yield from (("longer", f"{name}, full", full_drive(name, 8000)) for name in longer.get("full", []))
    yield from (("longer", f"{name}, modern", modern(name, 1200)) for name in longer.get("modern", []))
    yield from (("out of blocks", f"{readers} + {writers}", closed_loops(readers, writers, 8000, 3000)) for readers, writers in chosen.get("out of blocks", []))


def run(program, keep, schedulers, workload, seed):
    family, name, text = workload
    whole = f'name = "{name}"\nseed = {seed}\nschedulers = [{", ".join(schedulers)}]\n{text}'
    kept = keep / (hashlib.sha256(whole.encode()).hexdigest()[:16] + ".json")
    if not kept.exists():
        file = kept.with_suffix(".toml")
        file.write_text(whole)
        made = subprocess.run([program, "compare", file, "--ceiling", "--format", "json", "--jobs", "1"], capture_output=True, text=True)
        if made.returncode:
            print(f"left out: {family} {name} seed {seed}: {made.stderr.strip()[-300:]}", file=sys.stderr)
            return None
        kept.write_text(json.dumps(figures(json.loads(made.stdout))))
    return family, name, json.loads(kept.read_text())


def figures(summary):
    ceiling = summary.get("ceiling") or {}
    bounds = {"mean over B1": ceiling.get("static_placement"), "mean over B4": ceiling.get("free_placement")}

    def of(run):
        fair = run.get("fairness") or {}
        all_, device = run["total"]["all"], run["device"]
        return {"mean": all_["mean_ns"], "p99.9": all_["p99_9_ns"], "F": fair.get("fairness"), "largest slowdown": fair.get("max_slowdown"),
                "write amplification": device["write_amplification"],
                **{name: all_["mean_ns"] / bound["mean_ns"] if bound and bound["mean_ns"] else None for name, bound in bounds.items()}}
    return {run["name"]: of(run) for run in summary["schedulers"]}


SPEEDUP, GEOMETRIC, PLAIN = "fcfs's over the row's, geometric mean", "geometric mean", "mean"
MEASURES = {  # which is better, and how a family's workloads are summed up
    "mean": ("less", SPEEDUP), "p99.9": ("less", SPEEDUP), "F": ("more", PLAIN), "largest slowdown": ("less", GEOMETRIC), "write amplification": ("less", PLAIN),
    "mean over B1": ("less", GEOMETRIC), "mean over B4": ("less", GEOMETRIC),
}
JUDGED = list(MEASURES)[:5]


def value(measure, figures, row):
    own, first = figures.get(row, {}).get(measure), figures["fcfs"].get(measure)
    if own is None or own <= 0 or first is None:
        return None
    how = MEASURES[measure][1]
    return own if how == PLAIN else math.log(own if how == GEOMETRIC else first / own)


def spread(values):
    """Mean and half of the interval at 95 % of workloads' means."""
    mean = statistics.fmean(values)
    half = 2.0 * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 2 else None
    return mean, half


def by_workload(results, family, measure, row):
    """Means over the seeds, by workload."""
    means = {}
    for of, name, made in results:
        if of == family and (found := value(measure, made, row)) is not None:
            means.setdefault(name, []).append(found)
    return {name: statistics.fmean(found) for name, found in means.items()}


def cell(measure, values):
    if not values:
        return "-"
    mean, half = spread(list(values.values()))
    if MEASURES[measure][1] != PLAIN:
        return f"{math.exp(mean):.2f}" + ("" if half is None else f" ({math.exp(mean - half):.2f} to {math.exp(mean + half):.2f})")
    return f"{mean:.2f}" + ("" if half is None else f" ± {half:.2f}")


def table(results, families, measure, names):
    families = [family for family in families if by_workload(results, family, measure, "late")]
    lines = ["| scheduler | " + " | ".join(families) + " |", "|---|" + "---:|" * len(families)]
    for name in names:
        lines.append(f"| `{name}` | " + " | ".join(cell(measure, by_workload(results, family, measure, name)) for family in families) + " |")
    return "\n".join(lines)


def pairs(results, families, measures, names):
    """Two measures a cell, without intervals."""
    def both(family, name):
        return " / ".join(cell(measure, by_workload(results, family, measure, name)).split(" ")[0] for measure in measures)
    families = [family for family in families if any(by_workload(results, family, measure, "late") for measure in measures)]
    lines = ["| scheduler | " + " | ".join(families) + " |", "|---|" + "---:|" * len(families)]
    return "\n".join(lines + [f"| `{name}` | " + " | ".join(both(family, name) for family in families) + " |" for name in names])


def verdicts(results, families, names):
    """By measure and family: on how many workloads `late` is better than the best other row by over 1 %, within, worse; the extremes."""
    lines = ["| measure | family | wins | ties | loses | at best | at worst, and to whom |", "|---|---|---:|---:|---:|---:|---|"]
    others = [name for name in names if name != "late"]
    for measure in JUDGED:
        better, how = MEASURES[measure]
        for family in families:
            own = by_workload(results, family, measure, "late")
            if not own:
                continue
            rest = {name: by_workload(results, family, measure, name) for name in others}
            gains = []
            for workload, mine in own.items():
                found = [(of[workload], name) for name, of in rest.items() if workload in of]
                best, who = (max if how == SPEEDUP or better == "more" else min)(found)
                behind = mine - best if how == SPEEDUP else best - mine
                gain = math.exp(behind) if how != PLAIN else (mine / best if better == "more" else best / mine)
                gains.append((gain - 1, who, workload))
            gains.sort()
            wins, loses = sum(g > 0.01 for g, *_ in gains), sum(g < -0.01 for g, *_ in gains)
            worst = gains[0]
            lines.append(f"| {measure} | {family} | {wins} | {len(gains) - wins - loses} | {loses} | {gains[-1][0]:+.0%} | {worst[0]:+.0%}, `{worst[1]}` on {worst[2]} |")
    return "\n".join(lines)


def figure(results, families, names, path):
    """Speedups of the mean over fcfs, a bar a row and family."""
    colours = ["#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#aa3377", "#888888", "#000000"]
    wide, tall, top, left = 900, 16, 30, 150
    parts = []
    y = top
    for name in names:
        parts.append(f'<text x="{left - 6}" y="{y + 5 * len(families) // 2 + 8}" text-anchor="end">{name}</text>')
        for family, colour in zip(families, colours):
            values = by_workload(results, family, "mean", name)
            speed = math.exp(statistics.fmean(values.values())) if values else 0
            length = max(0.0, min(1.0, math.log2(max(speed, 0.25) / 0.25) / 8)) * (wide - left - 60)
            parts.append(f'<rect x="{left}" y="{y}" width="{length:.0f}" height="5" fill="{colour}"><title>{name}, {family}: {speed:.2f}</title></rect>')
            y += 6
        y += tall // 2
    legend = "".join(f'<text x="{left + 94 * i}" y="16" fill="{colour}">{family}</text>' for i, (family, colour) in enumerate(zip(families, colours)))
    grid = ""
    for speed in (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64):
        x = left + math.log2(speed / 0.25) / 8 * (wide - left - 60)
        grid += f'<line x1="{x:.0f}" x2="{x:.0f}" y1="{top - 6}" y2="{y}" stroke="#ddd"/><text x="{x:.0f}" y="{y + 12}" text-anchor="middle">{speed:g}</text>'
    style = 'font-family="sans-serif" font-size="11"'
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {y + 20}" {style}><rect width="{wide}" height="{y + 20}" fill="white"/>{grid}{legend}{"".join(parts)}</svg>\n')


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--program", required=True)
    options.add_argument("--traces", type=Path, required=True)
    options.add_argument("--keep", type=Path, required=True)
    options.add_argument("--set", type=int, choices=SETS, default=max(SETS))
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--family", help="only the workloads of this family")
    options.add_argument("--rows", nargs="+", metavar="TABLE", help="these schedulers, fcfs first and late among them, instead of all")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--out", type=Path)
    options.add_argument("--figure", type=Path)
    given = options.parse_args()
    given.keep.mkdir(parents=True, exist_ok=True)
    schedulers = given.rows or entries(given.program)
    works = [work for work in workloads(given.traces, SETS[given.set]) if given.family in (None, work[0])]
    first = 100 * given.set + 1
    jobs = [(work, seed) for seed in range(first, first + given.seeds) for work in works if work[0] != "traces" or seed == first]
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        results = [made for made in pool.map(lambda job: run(given.program, given.keep, schedulers, *job), jobs) if made]
    families = list(dict.fromkeys(family for family, *_ in results))
    named = [name for name in (tomllib.loads("row = " + row)["row"]["name"] for row in schedulers) if name not in PARTS]
    text = [f"{len(results)} comparisons"]
    for measure in JUDGED:
        text += [f"\n## {measure}\n", table(results, families, measure, named)]
    text += ["\n## The mean over B1 / over B4\n", pairs(results, families, list(MEASURES)[5:], named)]
    if not given.rows:
        text += ["\n## Where it wins, ties, loses\n", verdicts(results, families, named)]
        text += ["\n## By question\n"]
        text += [" / ".join(two) + "\n\n" + pairs(results, families, two, ["late", *PARTS]) + "\n" for two in (JUDGED[:2], JUDGED[2::2])]
    (given.out.write_text if given.out else print)("\n".join(text) + "\n")
    if given.figure:
        figure(results, families, ["fcfs", "read-first-suspend", "flin", "flin-stage1", "slacker", "need", "dynalloc", "sos", "no-code mix", "late"], given.figure)


if __name__ == "__main__":
    main()
