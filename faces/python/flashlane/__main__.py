"""``python -m flashlane compare SCENARIO --python-scheduler FILE``: schedulers of a Python file on the command line.

Errors go to standard error, as one line that begins with ``error:``. Exit codes are the program's: 0 done, 2 bad input.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any, Optional, Sequence

from . import Error, __version__, compare
from ._answers import _QUESTIONS, _is_answer, _name


def schedulers_of(path: Path) -> list[Any]:
    """The schedulers of a Python file: its list ``schedulers``, or else every answer that it defines, in their order."""
    if not path.is_file():
        raise Error(f"--python-scheduler {path}: no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise Error(f"--python-scheduler {path}: is no Python file; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    # Its classes are found by their module, as `copy` and `pickle` need it.
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as cause:
        line = getattr(cause, "lineno", None) or _line(cause, path)
        raise Error(f"--python-scheduler {path}: {type(cause).__name__}: {cause}{f' (line {line})' if line else ''}") from cause
    own = getattr(module, "schedulers", None)
    if own is None:
        own = [value for value in vars(module).values() if isinstance(value, type) and _is_answer(value) and value.__module__ == path.stem]
    if not isinstance(own, (list, tuple)) or not own:
        legal = ", ".join(f"flashlane.{question.__name__}" for question in _QUESTIONS)
        raise Error(f"--python-scheduler {path}: has no scheduler; it must define subclasses of {legal}, or a list `schedulers`")
    return list(own)


def _line(cause: BaseException, path: Path) -> Optional[int]:
    """The last line of the file that the exception passed."""
    found, at = None, cause.__traceback__
    while at is not None:
        if Path(at.tb_frame.f_code.co_filename) == path:
            found = at.tb_lineno
        at = at.tb_next
    return found


def chosen(named: Optional[str], written: list[Any]) -> list[Any]:
    """The schedulers to compare: those named, of the files or of the catalogue; or else what each of the files starts from, and then they."""
    names = {_name(own) if _is_answer(own) else own.get("name") if isinstance(own, dict) else own: own for own in written}
    if named is not None:
        return [names.get(name, name) for name in named.split(",")]
    bases = [own.base if _is_answer(own) else own.get("base", "read-first") for own in written if not isinstance(own, str)]
    return list(dict.fromkeys(bases)) + written


def assignment(text: str) -> tuple[str, Any]:
    """``KEY=VALUE`` as the key and its value; what is no number, truth value, list or quoted text is a text."""
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        raise argparse.ArgumentTypeError(f"{text!r}: must be KEY=VALUE, such as device.gc.start_percent=7")
    try:
        return key.strip(), json.loads(value)
    except ValueError:
        return key.strip(), value.strip()


def one_value(given: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The keys, each with its value; one with two is refused."""
    sets: dict[str, Any] = {}
    for key, value in given:
        if sets.setdefault(key, value) != value:
            raise Error(f"--set: {key} = {value}: it is given the value {sets[key]} too; give {key} one value")
    return sets


def parser() -> argparse.ArgumentParser:
    """The command line."""
    whole = argparse.ArgumentParser(prog="python -m flashlane", description="Flashlane with schedulers written in Python.")
    whole.add_argument("--version", action="version", version=__version__)
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    one = commands.add_parser("compare", help="compare schedulers, also of Python files", description="Compares schedulers, also of Python files.")
    one.add_argument("scenario", nargs="?", metavar="SCENARIO", help="the scenario; may be left out with --trace")
    one.add_argument("--python-scheduler", action="append", type=Path, default=[], metavar="FILE", help="a Python file whose answers join the schedulers")
    one.add_argument("--schedulers", metavar="NAMES", help="names, with commas between; default: what each scheduler of the files starts from, and it")
    one.add_argument("--baseline", metavar="NAME", help="the scheduler that the others are compared with; default: the first")
    one.add_argument("--trace", action="append", metavar="FILE", help="a trace in place of the scenario's flows; several: a flow each")
    one.add_argument("--set", action="append", type=assignment, default=[], metavar="KEY=VALUE", help="sets a key of the scenario")
    one.add_argument("--audit", action="store_true", help="checks every rule of the device")
    one.add_argument("--ceiling", action="store_true", help="computes what no scheduler can beat, and how far each is from it")
    one.add_argument("--seeds", type=int, metavar="N", help="under how many seeds they are compared; default: 5, or 1 with many requests")
    one.add_argument("--jobs", type=int, metavar="N", help="runs at a time; default: one for each processor")
    one.add_argument("--full", action="store_true", help="prints every table")
    one.add_argument("--json", action="store_true", help="prints summary.json in place of tables")
    one.add_argument("--report", type=Path, metavar="FILE", help="writes the page with all tables and charts")
    return whole


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Does what the command line asks for; returns the exit code."""
    given = parser().parse_args(arguments)
    try:
        if given.scenario is None and given.trace is None:
            raise Error("there is no scenario; give one, or --trace FILE")
        written = [one for path in given.python_scheduler for one in schedulers_of(path.absolute())]
        schedulers = chosen(given.schedulers, written) if written or given.schedulers else None
        baseline = [] if given.baseline is None else [("run.baseline", given.baseline)]
        sets = one_value(baseline + given.set)
        result = compare(
            given.scenario, schedulers=schedulers, trace=given.trace, set=sets, requests=False, audit=given.audit, activity=given.report is not None,
            ceiling=given.ceiling, seeds=given.seeds, jobs=given.jobs,
        )
        print(result.summary.to_json() if given.json else result.summary.tables() if given.full else result, end="" if given.json else "\n")
        if result.audited is not None and not given.json:
            print(f"audit: {result.audited:,} events, no rule broken")
        if given.report is not None:
            result.report(given.report)
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as ended:
        print(f"error: ended by SIGINT{f'; {ended}' if str(ended) else ''}", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
