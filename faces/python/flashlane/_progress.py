"""Progress bars, where tqdm is installed."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional


def _is_notebook() -> bool:
    shell = sys.modules.get("IPython")
    shell = shell.get_ipython() if shell is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


@contextmanager
def bar(unit: str, wanted: Optional[bool]) -> Iterator[Callable[[int, int], None]]:
    """A function that shows how many units are done, and how many there will be (0 while unknown)."""
    shown = wanted if wanted is not None else _is_notebook() or (sys.stderr is not None and sys.stderr.isatty())
    made: Any = None
    if shown:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            if wanted:
                from ._native import Error

                raise Error("progress=True needs tqdm: pip install 'flashlane[progress]'") from None
        else:
            made = tqdm(unit=f" {unit}", unit_scale=True, leave=False)

    def show(done: int, of: int) -> None:
        if made is None:
            return
        if of and made.total != of:
            made.total = of
        made.update(done - made.n)

    try:
        yield show
    finally:
        if made is not None:
            made.close()
