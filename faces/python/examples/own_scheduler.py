"""A scheduler of one's own: an idle die begins a page of the request that has the fewest left.

    python own_scheduler.py
"""

import numpy as np

import flashlane as fl

SCENARIO = {
    "name": "small-and-large",
    "device": {
        "preset": "flin-isca18",
        "geometry": {"channels": 2, "chips_per_channel": 2, "blocks_per_plane": 64, "pages_per_block": 32},
        "ftl": {"over_provisioning_percent": 28},
    },
    "flow": [
        {
            "name": "mixed",
            "synthetic": {"read_ratio": 0.9, "size": {"mix": [[8192, 9], [262144, 1]]}, "rate_iops": 5_000, "requests": 5_000},
        }
    ],
}


class ShortestRequestFirst(fl.Pick):
    base = "fr-fcfs"
    columns = ("serial", "request_pages_left")

    def pick(self, board: fl.Board, unit: int) -> int:
        # Of equals the oldest.
        return int(np.lexsort((board.serial, board.request_pages_left))[0])


def main() -> fl.Result:
    result = fl.compare(SCENARIO, schedulers=["fr-fcfs", ShortestRequestFirst], audit=True)
    print(result)
    return result


if __name__ == "__main__":
    main()
