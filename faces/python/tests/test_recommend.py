"""Recommendations from Python: the program's answer."""

import json
import pickle
import subprocess
from pathlib import Path

import pytest

import flashlane as fl
from conftest import DOCUMENT, SCENARIO


def longer(text: str) -> str:
    return text.replace("requests = 200", "requests = 2000").replace("requests = 100", "requests = 800")


def test_the_answer_is_the_programs(program: str, tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(longer(SCENARIO))
    printed = subprocess.run([program, "recommend", str(file)], check=True, capture_output=True, text=True).stdout
    made = fl.recommend(file, jobs=2)
    assert repr(made) == printed
    as_data = subprocess.run([program, "recommend", str(file), "--json"], check=True, capture_output=True).stdout
    assert made.to_dict() == json.loads(as_data)
    assert made.line in printed and made.judged[made.take].ratio <= 1
    assert pickle.loads(pickle.dumps(made)) == made
    store = tmp_path / "store"
    assert fl.recommend(file, out=store) == made
    assert fl.recommend(file, out=store) == made, "read from the store"


def test_a_limit_that_nothing_keeps(tmp_path: Path) -> None:
    """The limits are those of docs/python.md: with the one there is something to take, with the other there is not, and it is said."""
    file = tmp_path / "s.toml"
    file.write_text(longer(SCENARIO))
    none = fl.recommend(file, p99="1us", jobs=2)
    assert none.take is None and none.line == "" and all(judged.broken for judged in none.judged)
    with pytest.raises(fl.Error, match="taken: nothing that was tried keeps what has to be kept .p99 of every flow at most 1.000 µs"):
        none.taken
    made = fl.recommend(file, jobs=2)
    assert made.taken == made.judged[made.take]
    with pytest.raises(fl.Error, match="taken: nothing was judged .a choice needs at least 2,000.; `line` names the default, late"):
        fl.recommend(DOCUMENT).taken


def test_few_requests_and_wrong_limits(tmp_path: Path) -> None:
    few = fl.recommend(DOCUMENT)
    assert few.refusal == "a choice needs at least 2,000" and few.line == 'scheduler = "late"'
    with pytest.raises(fl.Error, match='p99 = "5%": must be a time such as 2ms'):
        fl.recommend(DOCUMENT, p99="5%")
    with pytest.raises(fl.Error, match='flush_p99 = "2": must be a time such as 2ms'):
        fl.recommend(DOCUMENT, flush_p99=2)
    with pytest.raises(fl.Error, match='fairness = "2.0": must be a value from 0 to 1'):
        fl.recommend(DOCUMENT, fairness=2.0)
    with pytest.raises(fl.Error, match="legal here is none"):
        fl.recommend(DOCUMENT, fairness=0.5, set={"run.alone": False})
    (tmp_path / "notes.md").write_text("mine")
    with pytest.raises(fl.Error, match="holds notes.md"):
        fl.recommend(DOCUMENT, out=tmp_path)


def test_seeds_of_the_scenario_are_not_used_and_that_is_said(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"run.seeds = 3 is not used by flashlane.recommend: only run and compare"):
        fl.recommend(DOCUMENT, set={"run.seeds": 3})
    spec = {**DOCUMENT, "run": {"seeds": 3}, "sweep": {"seeds": 1}}
    with pytest.warns(UserWarning, match=r"run.seeds = 3 is not used by flashlane.sweep: only run and compare"):
        fl.sweep(spec, tmp_path / "store")
