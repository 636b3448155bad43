"""Schedulers written in Python: an answer to what an idle unit does next."""

from __future__ import annotations

import copy
import re
from typing import Any, Callable, ClassVar, Optional, Sequence, Union

from ._native import BoardView as Board
from ._native import Error

__all__ = ["Board", "Pick"]


class Pick:
    """What an idle unit does next, written in Python. Subclass it and give the class, or an instance, wherever a scheduler is named.

    Every run makes an instance of its own: a class is called without arguments, an instance is copied. The runs of a comparison are
    made on several threads.

    >>> class Oldest(fl.Pick):
    ...     def pick(self, board, unit):
    ...         return board.serial.argmin()
    >>> fl.compare("two-tenants.toml", schedulers=["fcfs", Oldest, {"base": "flin", "pick": Oldest}])
    """

    #: What results call the scheduler. Default: the name of the class, in words joined by ``-``.
    name: ClassVar[Optional[str]] = None
    #: The scheduler that answers the other questions.
    base: ClassVar[str] = "read-first"
    #: Whether a transaction that waits alone and may go always goes: it is then not asked about.
    lets_lone_transactions_go: ClassVar[bool] = False
    #: The columns of the board that it looks at. Default: all; those that are not named cost nothing.
    columns: ClassVar[Optional[Sequence[str]]] = None

    def pick(self, board: Board, unit: int) -> Union[None, int, Sequence[int]]:
        """The place on the board of the transaction that leads the next command of ``unit``.

        ``board`` has the waiting transactions that may go now, at least one: reads first, each kind in the order of its queue. Its
        columns are read-only numpy arrays over memory that is used again: copy what you keep.

        ``None`` lets the unit idle until something changes. A place lets transactions for other planes share the command as they
        come in the queue; a list names the lead and its companions.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say what to pick")


def _is_pick(value: Any) -> bool:
    return isinstance(value, Pick) or (isinstance(value, type) and issubclass(value, Pick))


def _name(pick: Any) -> str:
    own = pick if isinstance(pick, type) else type(pick)
    return own.name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", own.__name__).lower()


def _factory(pick: Any) -> Callable[[], Pick]:
    return pick if isinstance(pick, type) else lambda: copy.deepcopy(pick)


class _Picks:
    """The answers written in Python that a scenario uses, each with its names."""

    def __init__(self) -> None:
        self.written: dict[str, Any] = {}

    def add(self, pick: Any) -> str:
        """The name of the answer, which is also that of its scheduler."""
        name = _name(pick)
        if self.written.setdefault(name, pick) is not pick:
            raise Error(f"{name}: two answers written in Python have this name; give one of them another `name`")
        return name

    def replaced(self, value: Any) -> Any:
        """``value`` with every answer written in Python replaced by its name."""
        if _is_pick(value):
            return self.add(value)
        if isinstance(value, dict):
            return {key: self.replaced(inner) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.replaced(inner) for inner in value]
        return value

    def native(self) -> list[tuple[str, str, Callable[[], Pick], bool, Optional[list[str]]]]:
        """As the native part takes them."""

        def one(name: str, pick: Any) -> tuple[str, str, Callable[[], Pick], bool, Optional[list[str]]]:
            columns = None if pick.columns is None else list(pick.columns)
            return (name, pick.base, _factory(pick), pick.lets_lone_transactions_go, columns)

        return [one(name, pick) for name, pick in self.written.items()]
