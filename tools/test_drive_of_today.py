#!/usr/bin/env python3
"""Tests of drive_of_today.py: what is kept, by which build, and how figures become ratios, intervals and marks. Run by faces/cli/tests/all/drive_of_today.rs."""

import concurrent.futures, json, math, sys, tempfile, unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import drive_of_today as tool


def made(**changed):
    """What every workload shows: all rows alike, but for `changed`, which has a row's figures by its name with _ for -."""
    plain = {"mean": 100.0, "p99.9": 1000.0, "F": 0.5, "slowdown": 2.0, "WA": 2.0}
    rows = {row: {**plain, **changed.get(row.replace("-", "_").replace(" ", "_"), {})} for row in tool.SCHEDULERS}
    return {workload: rows for workload in tool.WORKLOADS}


#: A program that prints what `compare` prints, with a mean that is the number in its text, and counts its runs.
PROGRAM = """#!{python}
import json, pathlib
runs = pathlib.Path("{runs}")
runs.write_text(runs.read_text() + "x")
of = lambda name: {{"name": name, "total": {{"all": {{"mean_ns": {mean}, "p99_9_ns": 9}}}}, "device": {{"write_amplification": 1.5}}}}
print(json.dumps({{"schedulers": [of("fcfs"), {{**of("late"), "fairness": {{"fairness": 0.25, "max_slowdown": 4}}}}]}}))
"""


class Kept(unittest.TestCase):
    def test_results_of_another_build_are_not_used(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            runs, program = folder / "runs", folder / "program"
            runs.write_text("")

            def mean_of(build):
                program.write_text(PROGRAM.format(python=sys.executable, runs=runs, mean=build))
                program.chmod(0o755)
                return tool.Runs(program, folder / "keep").of(SETTING, "tenants", 1)["fcfs"]["mean"]

            self.assertEqual([mean_of(5), mean_of(5), mean_of(7), mean_of(5)], [5, 5, 7, 5])
            self.assertEqual(runs.read_text(), "xx", "each build ran once")
            self.assertEqual(len(list((folder / "keep").glob("*.json"))), 2)

    def test_a_run_that_fails_says_which_scenario(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program"
            program.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('no such key')\n")
            program.chmod(0o755)
            with self.assertRaisesRegex(SystemExit, "toml: no such key"):
                tool.Runs(program, Path(folder)).of(SETTING, "tenants", 1)
            self.assertEqual(list(Path(folder).glob("*.json")), [])

    def test_a_measurement_has_every_drive_seed_and_workload(self):
        class Counted:
            def of(self, setting, workload, seed):
                return (setting[0], setting[2], workload, seed)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = tool.measured(Counted(), 3, pool)
        self.assertEqual(len(results), len(list(tool.settings())), "no two settings have the same name")
        for (name, label), seeds in results.items():
            whole = label in ("as published", "all off", "all on")
            told = [{workload: (name, label, workload, seed) for workload in tool.WORKLOADS} for seed in ((1, 2, 3) if whole else (1,))]
            self.assertEqual(seeds, told)

    def test_what_is_switched_changes_the_scenario(self):
        texts = {tool.scenario(setting, workload, seed) for setting in tool.settings() for workload in ("copy", "database") for seed in (1, 2)}
        self.assertEqual(len(texts), 4 * len(list(tool.settings())))


SETTING = ("client-tlc", [], "all on")


class Figures(unittest.TestCase):
    def test_of_a_summary(self):
        run = {"name": "late", "total": {"all": {"mean_ns": 3, "p99_9_ns": 8}}, "device": {"write_amplification": 1.25}}
        fair = {**run, "fairness": {"fairness": 0.5, "max_slowdown": 6}}
        expected = {"mean": 3, "p99.9": 8, "F": None, "slowdown": None, "WA": 1.25}
        self.assertEqual(tool.figures({"schedulers": [run]}), {"late": expected})
        self.assertEqual(tool.figures({"schedulers": [fair]}), {"late": {**expected, "F": 0.5, "slowdown": 6}})

    def test_ratios_are_of_geometric_means_over_the_workloads(self):
        seed = made()
        for mean, workload in zip((10.0, 1000.0, 100.0, 100.0), tool.WORKLOADS):
            seed[workload] = {**seed[workload], "late": {**seed[workload]["late"], "mean": 2 * mean}}
        self.assertAlmostEqual(tool.ratio("mean", "late", "fcfs")(seed), 2.0)
        self.assertAlmostEqual(tool.fastest_other(seed), 0.5)

    def test_fairness_is_a_mean_against_the_best_other(self):
        seed = made(flin={"F": 0.6}, sprinkler={"F": 0.8}, late={"F": 0.9})
        self.assertAlmostEqual(tool.fairer("flin", tool.PUBLISHED)(seed), 0.6 / 0.8, msg="late is not published")
        self.assertAlmostEqual(tool.fairer("late", tool.SCHEDULERS)(seed), 0.9 / 0.8)

    def test_intervals(self):
        self.assertEqual(tool.interval([2.0, 2.0, 2.0]), (2.0, 2.0, 2.0))
        middle, low, high = tool.interval([math.exp(-1), 1.0, math.exp(1)])
        half = 4.303 / math.sqrt(3)
        self.assertAlmostEqual(middle, 1.0)
        self.assertAlmostEqual(math.log(high), half)
        self.assertAlmostEqual(math.log(low), -half)

    def test_marks_need_the_interval_and_a_percent(self):
        for found, expected in [((1.5, 1.2, 1.9), "+"), ((1.5, 0.9, 2.5), "o"), ((1.005, 1.004, 1.006), "o"), ((0.5, 0.4, 0.6), "-"), ((0.995, 0.99, 0.999), "o")]:
            self.assertEqual(tool.mark(found), expected, found)


class Page(unittest.TestCase):
    def test_tables_and_picture(self):
        faster = made(read_first_suspend={"mean": 50.0}, fcfs={"mean": 400.0})
        results = {(name, label): [faster, faster] for name, _, label in tool.settings()}
        lines = tool.table(results).splitlines()
        self.assertEqual(len(lines), 2 + len(tool.CONCLUSIONS))
        shorten = next(line for line in lines if line.startswith("| reads that suspend programs"))
        self.assertEqual(shorten.count("| + 2.00 (2.00 to 2.00) "), 7, shorten)
        rows = tool.rows(results).splitlines()
        self.assertIn("| `read-first-suspend` | 8.00 | 1.00 | 0.50 | 2.00 |", "\n".join(rows))
        first = {key: seeds if key[1] in tool.WHOLE else seeds[:1] for key, seeds in results.items()}
        changes = tool.effects(first, "client-tlc").splitlines()
        self.assertEqual(changes[0].count("without "), len(tool.DRIVES["client-tlc"]["effects"]))
        self.assertIn("| reads that suspend programs shorten the mean |" + " 2.00 |" * 10, changes)
        drawn = tool.picture(first)
        self.assertEqual(drawn.count("<rect"), 1 + len(results) * len(tool.SCHEDULERS))
        self.assertEqual(drawn.count("8.00 to 8.00"), 6, "an interval only where there are several seeds")


if __name__ == "__main__":
    unittest.main()
