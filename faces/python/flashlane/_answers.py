"""Schedulers written in Python: answers to five of the seven questions that a scheduler is."""

from __future__ import annotations

import copy
import linecache
import re
import traceback
from typing import Any, Callable, ClassVar, Optional, Sequence, Union

from ._native import BoardView as Board
from ._native import Error

__all__ = ["Board", "Collect", "Order", "Pick", "Place", "Preempt"]


class Answer:
    """What all answers written in Python have in common. Subclass one of those below.

    Give the class, or an instance, wherever a scheduler is named, or as an answer of a mix. Every run makes an instance of its own: a
    class is called without arguments, an instance is copied. The runs of a comparison are made on several threads.

    The board that a method gets has read-only numpy arrays over memory that is used again: copy what you keep.
    """

    #: What results call the scheduler. Default: the name of the class, in words joined by ``-``.
    name: ClassVar[Optional[str]] = None
    #: The scheduler that answers the other questions.
    base: ClassVar[str] = "read-first"
    #: The columns of the board that it looks at. Default: all of the transactions but ``page_at`` and ``request_units``; these and those of
    #: units, planes and flows are there if they are named. Those that are not named cost nothing.
    columns: ClassVar[Optional[Sequence[str]]] = None

    _question: ClassVar[str] = ""
    #: The method whose line is named if it says nothing else.
    _method: ClassVar[str] = ""

    def _missing(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} does not say {what}")


class Pick(Answer):
    """What an idle unit does next.

    >>> class Oldest(fl.Pick):
    ...     def pick(self, board, unit):
    ...         return board.serial.argmin()
    >>> fl.compare("two-tenants.toml", schedulers=["fcfs", Oldest, {"base": "flin", "pick": Oldest}])
    """

    _question, _method = "pick", "pick"

    #: Whether a transaction that waits alone and may go always goes: it is then not asked about.
    skips_when_single: ClassVar[bool] = False

    def pick(self, board: Board, unit: int) -> Union[None, int, Sequence[int]]:
        """The place on the board of the transaction that leads the next command of ``unit``.

        ``board`` has the waiting transactions that may go now, at least one: reads first, each kind in the order of its queue.

        ``None`` lets the unit idle until something changes. A place lets transactions for other planes share the command as they
        come in the queue; a list names the lead and its companions.
        """
        raise self._missing("what to pick")


class Place(Answer):
    """Which plane a write goes to.

    >>> class MostBlocks(fl.Place):
    ...     columns = ("plane_free_blocks",)
    ...     def plane(self, board, lpn, home, at):
    ...         return board.plane_free_blocks.argmax()
    """

    _question, _method = "place", "plane"

    #: Whether writes get their plane only when a unit is to take them: until then they wait in one queue of the device, and
    #: ``place_at_dispatch`` is asked instead of ``plane``.
    binds_at_dispatch: ClassVar[bool] = False
    #: How many of the writes in that queue the board has, oldest first.
    window: ClassVar[int] = 64

    def plane(self, board: Board, lpn: int, home: int, at: int) -> int:
        """The plane of a write of the logical page ``lpn``, whose plane by static allocation is ``home``, and which is on the plane ``at``
        now (``home`` if it has never been written). ``board`` has no transactions."""
        raise self._missing("which plane")

    def place_at_dispatch(self, board: Board) -> Optional[tuple[int, int]]:
        """The place on the board of the write that gets a plane now, and the plane; ``None`` if none gets one until something changes.

        ``board`` has the oldest ``window`` writes that have no plane and may go. It is asked again until it returns ``None``.
        """
        raise self._missing("which write gets which plane")


class Order(Answer):
    """Where in its queue a transaction stands.

    >>> class ShortRequestsFirst(fl.Order):
    ...     columns = ("request_pages",)
    ...     def position(self, board, unit):
    ...         return int((board.request_pages <= board.request_pages[-1]).sum()) - 1
    """

    _question, _method = "order", "position"

    def position(self, board: Board, unit: int) -> int:
        """The place at which the last transaction on the board, which is new, shall stand.

        ``board`` has the transactions of the queue of ``unit`` that it joins, in their order, and the new one as the last. Its own
        place, ``len(board) - 1``, leaves it at the tail. Asked once for each transaction as it joins; reads and writes have queues of
        their own.
        """
        raise self._missing("where a transaction stands")


class Preempt(Answer):
    """Whether a running program or erase is paused for a read.

    >>> class OnlyErases(fl.Preempt):
    ...     columns = ("unit_command",)
    ...     def pause(self, board, unit):
    ...         return board.unit_command[unit] == 3
    """

    _question, _method = "preempt", "pause"

    #: Whether programs are paused only at the ends of program-and-verify iterations, and erases never.
    between_iterations: ClassVar[bool] = False

    def pause(self, board: Board, unit: int) -> bool:
        """Whether ``unit`` pauses its program or erase. ``board`` has the reads that wait for it and may go, the one that goes next first."""
        raise self._missing("what to pause")

    def serve(self, board: Board, unit: int) -> bool:
        """Whether ``unit``, which has paused a command, serves the next read before it resumes. Default: always."""
        return True


class Collect(Answer):
    """Whether garbage collection goes before user transactions.

    >>> class LastMoment(fl.Collect):
    ...     columns = ("plane_unit", "plane_free_blocks")
    ...     def goes_first(self, board, unit):
    ...         return board.plane_free_blocks[board.plane_unit == unit].min() <= 1
    """

    _question, _method = "collect", "goes_first"

    #: Whether reads may pause the programs and erases of garbage collection, if the preempt answer pauses them.
    pausable: ClassVar[bool] = True

    def goes_first(self, board: Board, unit: int) -> bool:
        """Whether the garbage collection that waits at ``unit`` goes next; if not, it goes where no user transaction waits.

        ``board`` has the user transactions that wait there and may go. A plane keeps its last free block for garbage collection: a
        device that never collects runs out of blocks, which ends the run with an error.
        """
        raise self._missing("what goes first")


_QUESTIONS = (Place, Order, Pick, Preempt, Collect)


def _is_answer(value: Any) -> bool:
    return isinstance(value, Answer) or (isinstance(value, type) and issubclass(value, Answer))


def _name(answer: Any) -> str:
    own = answer if isinstance(answer, type) else type(answer)
    if own.name is not None and not isinstance(own.name, str):
        raise Error(f"{own.__name__}: name = {own.name!r}: must be a text")
    return own.name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", own.__name__).lower()


def _failure(raised: BaseException, name: str, answer: Any) -> BaseException:
    """The error of a scheduler: what was raised, and the line of the scheduler at which it was."""
    if not isinstance(raised, Exception):
        return raised
    own = answer if isinstance(answer, type) else type(answer)
    method = "place_at_dispatch" if getattr(own, "binds_at_dispatch", False) else own._method
    code = getattr(getattr(own, method, None), "__code__", None)
    place = (code.co_filename, code.co_firstlineno, method) if code else None
    # The innermost line of the scheduler's own file; what it calls elsewhere is in the cause.
    for frame, line in traceback.walk_tb(raised.__traceback__):
        if place is None or frame.f_code.co_filename == place[0]:
            place = (frame.f_code.co_filename, line, frame.f_code.co_name)
    message = str(raised) if isinstance(raised, Error) else f"{type(raised).__name__}: {raised}"
    at = ""
    if place:
        file, line, function = place
        text = linecache.getline(file, line).strip()
        at = f" ({file}:{line}, in {function}{': ' if text else ''}{text})"
    error = Error(f"{name}: {message}{at}")
    error.__cause__ = raised
    return error


def _is_names(columns: Any) -> bool:
    return columns is None or isinstance(columns, (list, tuple)) and all(isinstance(name, str) for name in columns)


def _factory(answer: Any) -> Callable[[], Answer]:
    return answer if isinstance(answer, type) else lambda: copy.deepcopy(answer)


#: What answers may set: the key, the answer that has it, what it must be, and whether a value is that.
_SETTINGS: tuple[tuple[str, type, str, Callable[[Any], bool]], ...] = (
    ("base", Answer, "a name", lambda value: isinstance(value, str)),
    ("columns", Answer, "names of columns, or None", _is_names),
    ("skips_when_single", Pick, "True or False", lambda value: isinstance(value, bool)),
    ("binds_at_dispatch", Place, "True or False", lambda value: isinstance(value, bool)),
    ("window", Place, "a number from 1", lambda value: type(value) is int and value >= 1),
    ("between_iterations", Preempt, "True or False", lambda value: isinstance(value, bool)),
    ("pausable", Collect, "True or False", lambda value: isinstance(value, bool)),
)


class _Written:
    """The answers written in Python that a scenario uses, each with its names."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}

    def add(self, answer: Any) -> str:
        """The name of the answer, which is also that of its scheduler."""
        name = _name(answer)
        if self.answers.setdefault(name, answer) is not answer:
            raise Error(f"{name}: two answers written in Python have this name; give one of them another `name`")
        return name

    def replaced(self, value: Any) -> Any:
        """``value`` with every answer written in Python replaced by its name."""
        if _is_answer(value):
            return self.add(value)
        if isinstance(value, dict):
            return {key: self.replaced(inner) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.replaced(inner) for inner in value]
        return value

    def native(self) -> list[dict[str, Any]]:
        """As the native part takes them."""
        return [_native_answer(name, answer) for name, answer in self.answers.items()]


def _native_answer(name: str, answer: Any) -> dict[str, Any]:
    own = answer if isinstance(answer, type) else type(answer)
    questions = [question._question for question in _QUESTIONS if issubclass(own, question)]
    if len(questions) != 1:
        legal = ", ".join(question.__name__ for question in _QUESTIONS)
        raise Error(f"{name}: must be a subclass of one of {legal}, and answers {len(questions)} questions; a mix has one answer for each")

    def value(key: str, of: type) -> Any:
        return getattr(answer if issubclass(own, of) else of, key)

    settings = {}
    for key, of, legal, is_legal in _SETTINGS:
        settings[key] = value(key, of)
        if not is_legal(settings[key]):
            raise Error(f"{name}: {key} = {settings[key]!r}: must be {legal}")
    if settings["columns"] is not None:
        settings["columns"] = list(settings["columns"])
    failure = lambda raised: _failure(raised, name, answer)  # noqa: E731
    return {"question": questions[0], "name": name, "factory": _factory(answer), "failure": failure, **settings}
