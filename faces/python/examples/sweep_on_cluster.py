"""A sweep on a Dask cluster of two processes, one of which is killed half-way: no run is lost.

    python sweep_on_cluster.py [store]

With `dask_jobqueue.SLURMCluster` or `dask_kubernetes.KubeCluster` in place of `LocalCluster` it is the same.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import flashlane as fl

SPEC = {
    "name": "rates",
    "schedulers": ["fcfs", "sprinkler"],
    "device": {"preset": "flin-isca18", "geometry": {"blocks_per_plane": 32, "pages_per_block": 32}, "ftl": {"over_provisioning_percent": 28}},
    "flow": [{"name": "mixed", "synthetic": {"read_ratio": 0.7, "size": {"constant": 8192}, "rate_iops": 1, "requests": 3_000}}],
    "sweep": {
        "flow": {"mixed": {"synthetic": {"rate_iops": {"from": 1e4, "to": 1e5, "points": 5, "scale": "log"}}}},
        "device": {"nand": {"program_ns": [200_000, 600_000]}},
        "seeds": 5,
    },
}


def kill_half_way(pid: int, store: Path, sweep: fl.Sweep) -> None:
    runs = len(sweep.runs())
    while sweep.missing(store) > runs // 2:
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    print(f"killed a worker after {runs - sweep.missing(store)} of {runs} runs")


def main(store: str = "rates") -> fl.SweepResult:
    from distributed import Client, LocalCluster

    sweep = fl.Sweep(SPEC)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        victim = min(client.run(os.getpid).values())
        killer = threading.Thread(target=kill_half_way, args=(victim, Path(store), sweep))
        killer.start()
        result = fl.sweep(sweep, store, client=client)
        killer.join()
    print(f"{result.runs} runs in {result.results}")
    return result


if __name__ == "__main__":
    main(*sys.argv[1:])
