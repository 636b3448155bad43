"""What the tests share: a small scenario, and the program where it was built."""

import os
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import pytest

#: The scenario that the program's tests of sweeps use.
SCENARIO = (Path(__file__).parents[3] / "faces/cli/tests/small.toml").read_text()

#: The same as a dict.
DOCUMENT = {
    "name": "small",
    "schedulers": ["fcfs", "read-first"],
    "device": {
        "preset": "flin-isca18",
        "geometry": {"blocks_per_plane": 32, "pages_per_block": 16},
        "ftl": {"over_provisioning_percent": 60},
    },
    "flow": [
        {"name": "reader", "synthetic": {"read_ratio": 1.0, "size": {"constant": 4096}, "rate_iops": 20_000, "requests": 200}},
        {"name": "writer", "synthetic": {"read_ratio": 0.0, "size": {"constant": 8192}, "rate_iops": 5_000, "requests": 100}},
    ],
}

#: Twenty-four runs.
AXES = """
[sweep]
flow.reader.synthetic.rate_iops = { from = 1e4, to = 1e5, points = 4, scale = "log" }
device.nand.program_ns = [200_000, 600_000]
seeds = 3
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    path = tmp_path / "s.toml"
    path.write_text(SCENARIO + AXES)
    return path


@pytest.fixture(scope="session")
def program() -> str:
    """The program, to compare with; the tests of `make test` name it."""
    path = os.environ.get("FLASHLANE")
    if not path:
        pytest.skip("FLASHLANE names no program to compare with")
    return path
