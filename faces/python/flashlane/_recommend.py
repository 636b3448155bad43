"""Which scheduler to take for a workload."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional, Union

from . import _native
from ._compare import JOBS, Scenario, Texts, wait, warn_of_seeds, whole, with_scenario
from ._native import Error
from ._result import Record


class Recommendation(Record):
    """Which scheduler to take, what that costs whom, and how far it is from what is possible (docs/recommend.md).

    Its keys are those of ``flashlane recommend --json``: ``line`` for a scenario, ``judged`` with each judged scheduler's figures, ``take``
    (which of them; None where none keeps the limits, or nothing was judged), ``tried``, ``failed``. Its text is what the program prints.
    """

    __slots__ = ("_text",)

    def __init__(self, keys: dict[str, Any], text: str) -> None:
        super().__init__(keys)
        self._text = text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._keys, self._text)

    @property
    def taken(self) -> Record:
        """The judged scheduler to take.

        :raises Error: there is none: nothing that was tried keeps the limits, or nothing was judged
        """
        keys = self._keys
        if keys["take"] is not None:
            return self.judged[keys["take"]]
        if keys["refusal"] is not None:
            raise Error(f"taken: nothing was judged ({keys['refusal']}); `line` names the default, {keys['default']}")
        raise Error(f"taken: nothing that was tried keeps what has to be kept ({', '.join(keys['limits'])}); `judged` has how near it comes")

    def __repr__(self) -> str:
        return self._text


def recommend(
    scenario: Scenario = None,
    *,
    trace: Any = None,
    set: Optional[Mapping[str, Any]] = None,
    p99: str = "+5%",
    flush_p99: str = "+5%",
    write_amplification: str = "+5%",
    fairness: str = "none",
    out: "Union[str, os.PathLike[str], None]" = None,
    audit: bool = False,
    jobs: Optional[int] = None,
    progress: Optional[bool] = None,
    **keys: Any,
) -> Recommendation:
    """Tries schedulers, mixes and parameters in about a hundred runs, and says which to take.

    ``scenario``, ``trace``, ``set`` and further keys are those of :func:`compare`; schedulers written in Python are not tried, and ``run.seeds`` is not used.

    :param p99: the most that any flow's p99 may be: a time (``"2ms"``), a change against the first scheduler (``"+5%"``) or ``"none"``
    :param flush_p99: the same for the flushes of any flow that has some
    :param write_amplification: the most that it may be: a value (``"1.5"``), a change or ``"none"``
    :param fairness: the least that it may be: a value (``"0.6"``), a change (``"-5%"``) or ``"none"``
    :param out: a store that keeps the runs, as sweeps do; what is there is never made again
    :param audit: checks every rule of the device during the runs; slower
    :param jobs: runs at a time; by default one for each processor
    :param progress: whether a progress bar is shown; by default in notebooks and terminals, if tqdm is installed
    :raises Error: with the text that the program prints
    """
    whole("jobs", jobs, JOBS)
    limits = (str(p99), str(flush_p99), str(write_amplification), str(fairness))

    def start(path: Optional[Path], document: Optional[str], texts: Texts, chosen: Any, answers: Any) -> Recommendation:
        if answers:
            raise Error("schedulers: one is written in Python; recommend tries those of the catalogue and mixes of their answers")
        warn_of_seeds(_native.seeds(path, document, texts), "recommend", 5)
        job = _native.recommend(path, document, texts, limits, out, "flashlane.recommend", audit, jobs)
        made, text, damaged = wait(job, "runs", progress)
        if damaged:
            warnings.warn(f"{len(damaged)} runs were damaged and were made again: {damaged[0]}", stacklevel=4)
        return Recommendation(json.loads(made), text)

    return with_scenario(scenario, keys, None, trace, set, start)
