"""Two traces on one drive under three schedulers: who is served when, and a picture of it.

    python compare_traces.py [picture.png]
"""

import sys

import numpy as np

import flashlane as fl


def trace(seed: int, reads: float, length: int, rate: float, count: int) -> dict:
    """A trace as columns; a data frame with these columns does as well, and so does the path of a trace file."""
    random = np.random.default_rng(seed)
    return {
        "time_us": np.cumsum(random.exponential(1e6 / rate, count)),
        "op": np.where(random.random(count) < reads, "read", "write"),
        "offset": random.integers(0, 2**29 // length, count) * length,
        "length": np.full(count, length),
    }


def main(picture: str = "compare_traces.png") -> fl.Result:
    web = {"name": "web", "trace": trace(seed=1, reads=0.9, length=4096, rate=8_000, count=5_000)}
    backup = {"name": "backup", "trace": trace(seed=2, reads=0.1, length=65536, rate=800, count=500)}
    device = {"preset": "flin-isca18", "geometry": {"blocks_per_plane": 64, "pages_per_block": 64}, "ftl": {"over_provisioning_percent": 28}}
    result = fl.compare(device=device, flow=[web, backup], schedulers=["fcfs", "read-first", "sprinkler"])
    print(result)
    ax = result.plot.cdf("read", flow="web")
    ax.set_title("reads of web, beside backup")
    ax.figure.savefig(picture, dpi=120)
    return result


if __name__ == "__main__":
    main(*sys.argv[1:])
