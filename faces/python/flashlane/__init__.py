"""What does a scheduling policy do to my workload on this SSD?

>>> import flashlane as fl
>>> result = fl.compare("two-tenants.toml", schedulers=["fcfs", "sprinkler"])
>>> result                                      # the table that the program prints
>>> result.summary.schedulers[0].total.read.p99_ns
>>> polars.DataFrame(result.requests("sprinkler"))

Times are nanoseconds of simulated time, sizes bytes, rates per second, unless a name ends in another unit.
"""

from ._answers import Board, Collect, Order, Pick, Place, Preempt
from ._compare import compare, run
from ._native import Error, Rows, __version__, devices, schedulers
from ._recommend import Recommendation, recommend
from ._result import Record, Result, Summary
from ._sweep import Sweep, SweepResult, sweep

__all__ = [
    "Board",
    "Collect",
    "Error",
    "Order",
    "Pick",
    "Place",
    "Preempt",
    "Recommendation",
    "Record",
    "Result",
    "Rows",
    "Summary",
    "Sweep",
    "SweepResult",
    "__version__",
    "compare",
    "devices",
    "recommend",
    "run",
    "schedulers",
    "sweep",
]
