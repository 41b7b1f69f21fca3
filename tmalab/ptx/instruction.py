"""An instruction: one PTX mnemonic as a plain Python object that means the same in both worlds.

Called from a simulated kernel it checks its operands and acts for the current thread. In compiled code `tmalab.gpu`
teaches it to numba at the first compile and its PTX text is emitted; nothing here knows about numba.

>>> from tmalab import ptx
>>> ptx.mbarrier_arrive_expect_tx.text
'mbarrier.arrive.expect_tx.shared::cta.b64 $result, [$bar], $bytes;'
>>> ptx.mbarrier_arrive_expect_tx
<instruction mbarrier_arrive_expect_tx(bar: Shared, bytes: U32) -> State>
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from string import Template
from typing import Any

from tmalab.ptx.operands import Given, Kind, Map, OperandError, classify
from tmalab.texts import text


class UnknownInstruction(AttributeError):
    """tmalab.ptx has no such name. The message says what is similar, or which architecture brought it."""


class Instruction:
    """A PTX instruction: its text, its operands by name and kind, and what it means in the simulator.

    `text` is the PTX line with `$name` for each operand and `$result` for what is returned. `body(thread, *operands)`
    is its meaning for one simulated thread. A `pure` instruction computes a value and touches nothing else. One that
    `updates` an operand reads it and returns it anew: in PTX it stands once, for both.
    """

    def __init__(
        self,
        name: str,
        template: str,
        operands: dict[str, Kind],
        body: Callable[..., Any],
        doc: str,
        returns: Kind | None = None,
        defaults: dict[str, Any] | None = None,
        pure: bool = False,
        updates: str | None = None,
    ):
        _check_template(name, template, operands, returns if updates is None else None)
        self.__name__ = self.__qualname__ = name
        self.__module__ = "tmalab.ptx"
        self.__doc__ = doc
        self.text, self.operands, self.returns, self.pure, self.updates = template, operands, returns, pure, updates
        self.defaults = defaults or {}
        self._body = body
        self._kinds = tuple((operand, kind, kind.as_is) for operand, kind in operands.items())
        self._count = len(self._kinds)
        self._optional = tuple(self.defaults[operand] for operand in operands if operand in self.defaults)
        self.__signature__ = inspect.Signature(
            [
                inspect.Parameter(
                    operand,
                    inspect.Parameter.POSITIONAL_OR_KEYWORD,
                    default=self.defaults.get(operand, inspect.Parameter.empty),
                    annotation=kind,
                )
                for operand, kind in operands.items()
            ],
            return_annotation=returns,
        )

    def __repr__(self) -> str:
        return f"<instruction {self.__name__}{self.__signature__}>"

    def __get__(self, instance: object, owner: type | None = None) -> Instruction:
        """An instruction is no method; that it could be asked makes help() describe it as it does a function."""
        return self

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Act for the simulated thread that is running now."""
        thread = _current_thread()
        left_out: tuple = ()
        if named or len(arguments) != self._count:
            missing = self._count - len(arguments)
            if named or not 0 <= missing <= len(self._optional):
                arguments, missing = self.bind(arguments, named), 0
            left_out = self._optional[len(self._optional) - missing :]
        given = [  # a plain int or float32 is spared the checks that it would pass: 0.3 instead of 0.9 us for each
            value if type(value) is as_is else self._convert(thread, operand, kind, value)
            for (operand, kind, as_is), value in zip(self._kinds, arguments)
        ]
        return self._body(thread, *given, *left_out)

    def bind(self, arguments: tuple, named: dict[str, Any]) -> tuple:
        """The operands in order, defaults filled in; OperandError where they do not fit the signature."""
        try:
            bound = self.__signature__.bind(*arguments, **named)
        except TypeError:
            raise OperandError(self.arity()) from None
        bound.apply_defaults()
        return bound.args

    def arity(self) -> str:
        """The sentence for operands that do not fit the signature."""
        shown = ", ".join(str(p.replace(annotation=p.empty)) for p in self.__signature__.parameters.values())
        return text("ptx.arity", instruction=self.__name__, operands=shown)

    def _convert(self, thread: Any, operand: str, kind: Kind, value: Any) -> Any:
        if kind is Map and getattr(value, "space", None) == "global":
            kind.check(self.__name__, operand, classify(value))
            return thread.global_map(value)
        kind.check(self.__name__, operand, classify(value))
        converted = kind.convert(value)
        kind.check_value(self.__name__, operand, converted)
        return converted


def _current_thread() -> Any:
    """The simulated thread that is running. The first call imports the simulator and puts its function here."""
    global _current_thread
    from tmalab.simulator.context import current_thread as _current_thread

    return _current_thread()


def instruction(template: str, pure: bool = False) -> Callable[[Callable[..., Any]], Instruction]:
    """Make an instruction of a function: its annotations are the operand kinds, its body the simulated meaning."""

    def make(body: Callable[..., Any]) -> Instruction:
        signature = inspect.signature(body, eval_str=True)
        _, *parameters = signature.parameters.values()  # the first one is the thread
        returned = signature.return_annotation
        return Instruction(
            body.__name__,
            template,
            {p.name: p.annotation for p in parameters},
            body,
            inspect.getdoc(body) or "",
            returns=returned if isinstance(returned, Kind) else None,
            defaults={p.name: p.default for p in parameters if p.default is not p.empty},
            pure=pure,
        )

    return make


def _check_template(name: str, template: str, operands: dict[str, Kind], returns: Kind | None) -> None:
    """Every operand stands in the text, which names nothing else: a slip would be silent in compiled code."""
    wanted = {*operands, *(["result"] if returns else [])}
    named = set(Template(template).get_identifiers())
    if named != wanted:
        raise ValueError(f"{name}: the text names {sorted(named)}, the operands are {sorted(wanted)}")


__all__ = ["Given", "Instruction", "OperandError", "UnknownInstruction", "instruction"]
