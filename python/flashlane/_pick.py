"""Schedulers written in Python: an answer to what an idle unit does next."""

from __future__ import annotations

import copy
import linecache
import re
import traceback
from typing import Any, Callable, ClassVar, Optional, Sequence, Union

from ._native import BoardView as Board
from ._native import Error

__all__ = ["Board", "Pick"]

#: The name of an answer, its base, what makes an instance, what makes its errors, whether lone transactions go, its columns.
_Written = tuple[str, str, Callable[[], "Pick"], Callable[[BaseException], BaseException], bool, Optional[list[str]]]


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
    if own.name is not None and not isinstance(own.name, str):
        raise Error(f"{own.__name__}: name = {own.name!r}: must be a text")
    return own.name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", own.__name__).lower()


def _failure(raised: BaseException, name: str, pick: Any) -> BaseException:
    """The error of a scheduler: what was raised, and the line of the scheduler at which it was."""
    if not isinstance(raised, Exception):
        return raised
    own = pick if isinstance(pick, type) else type(pick)
    code = getattr(getattr(own, "pick", None), "__code__", None)
    place = (code.co_filename, code.co_firstlineno, "pick") if code else None
    # The innermost line of the scheduler's own file; what it calls elsewhere is in the cause.
    for frame, line in traceback.walk_tb(raised.__traceback__):
        if place is None or frame.f_code.co_filename == place[0]:
            place = (frame.f_code.co_filename, line, frame.f_code.co_name)
    said = str(raised) if isinstance(raised, Error) else f"{type(raised).__name__}: {raised}"
    at = ""
    if place:
        file, line, function = place
        text = linecache.getline(file, line).strip()
        at = f" ({file}:{line}, in {function}{': ' if text else ''}{text})"
    error = Error(f"{name}: {said}{at}")
    error.__cause__ = raised
    return error


def _is_names(columns: Any) -> bool:
    return columns is None or isinstance(columns, (list, tuple)) and all(isinstance(name, str) for name in columns)


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

    def native(self) -> list[_Written]:
        """As the native part takes them."""

        def one(name: str, pick: Any) -> _Written:
            for key, legal in (("base", isinstance(pick.base, str)), ("columns", _is_names(pick.columns))):
                if not legal:
                    raise Error(f"{name}: {key} = {getattr(pick, key)!r}: must be {'a name' if key == 'base' else 'names of columns, or None'}")
            columns = None if pick.columns is None else list(pick.columns)
            failure = lambda raised: _failure(raised, name, pick)  # noqa: E731
            return (name, pick.base, _factory(pick), failure, pick.lets_lone_transactions_go, columns)

        return [one(name, pick) for name, pick in self.written.items()]
