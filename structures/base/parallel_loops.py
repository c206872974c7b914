"""Loops of ``prange``: a container from outside that the iterations change is refused; others get locks.

numba runs the iterations of a ``prange`` in several threads. When it has found the types of a function, it
asks what is here, which looks at the loops that will be parallel:

* A container that is the same in all iterations, and is changed in them, is a ``TypingError``.
* Threads may come to one container by ways that cannot be seen: through another function, or a list that has
  it twice. So each loop is a region (:mod:`structures.base.claims`): calls take turns at a container there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from llvmlite.ir import IntType
from numba import config, prange, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from structures.base.claims import region_word
from structures.base.struct_type import StructType
from structures.compiling.numba_private import ALL_THERE

if ALL_THERE:
    from structures.compiling.numba_private import Rewrite, compute_cfg_from_blocks, ir, register_rewrite

_NAMES_A_CONTAINER = re.compile("@[0-9a-f]{8}")  # the name of a type has those of its parts
_WORD = IntType(64)
_OF_PARTS = ("getattr", "getitem", "static_getitem", "typed_getitem", "cast")


class SharedContainerError(TypingError):
    """Threads would change one container."""

    def __init__(self, message: str, loc: Any) -> None:
        super().__init__(message, loc)
        self._shown = f"{message}\n{loc.strformat()}"

    def __str__(self) -> str:  # numba would put the name of its pass first
        return self._shown


def _is_prange(statement: Any, typemap: Any) -> bool:
    value = getattr(statement, "value", None)
    if not (isinstance(value, ir.Expr) and value.op == "call"):
        return False
    called = typemap[value.func.name]
    return isinstance(called, types.Function) and called.typing_key is prange


class _Body:
    """The body of a loop, to ask which containers its iterations change."""

    def __init__(self, blocks: Any, labels: Any, typemap: Any) -> None:
        self._typemap = typemap
        self._methods: dict[str, Any] = {}  # by the variable, in the whole function
        self._assigned: dict[str, list[Any]] = {}  # by the variable, in the loop
        self._statements: list[Any] = []
        for label, block in blocks.items():
            assignments = list(block.find_insts(ir.Assign))
            for each in assignments:
                if isinstance(each.value, ir.Expr) and each.value.op == "getattr":
                    self._methods[each.target.name] = each.value
            if label in labels:
                self._statements += block.body
                for each in assignments:
                    self._assigned.setdefault(each.target.name, []).append(each.value)

    def check(self) -> None:
        """Raise for a container that is the same in all iterations, and is changed in them."""
        for statement in self._statements:
            for container, verb in self._changed_by(statement):
                name = self._outside(container)
                if name:
                    label = self._typemap[container.name].label
                    raise SharedContainerError(
                        f"{label} {name} comes from outside of the prange, and is changed in it by {verb}: "
                        "make one in each iteration, or change parts[i] of a List that has one for each, and "
                        "put them together after the loop",
                        statement.loc,
                    )

    def _changed_by(self, statement: Any) -> Iterator[tuple[Any, str]]:
        """Yield the variable with the container that a statement changes, if any, and the verb."""
        if isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
            container, verb = statement.target, "[key] = ..."
        elif isinstance(statement, ir.DelItem):
            container, verb = statement.target, "del [key]"
        elif isinstance(statement, ir.Assign) and getattr(statement.value, "op", "") == "call":
            method = self._methods.get(statement.value.func.name)
            if method is None:
                return
            container, verb = method.value, method.attr
            if verb not in getattr(self._typemap[container.name], "changing_verbs", ()):
                return
        else:
            return
        if isinstance(self._typemap[container.name], StructType):
            yield container, verb

    def _outside(self, variable: Any, within: tuple[str, ...] = ()) -> str:
        """Return the name of what is the same in all iterations, empty if it is not."""
        if variable.name not in self._assigned:
            return variable.unversioned_name
        if variable.name in within:
            return ""
        for value in self._assigned[variable.name]:
            if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
                return "a constant"
            is_part = isinstance(value, ir.Expr) and value.op in _OF_PARTS
            parts = value.list_vars() if is_part else [value] if isinstance(value, ir.Var) else []
            names = [self._outside(part, (*within, variable.name)) for part in parts]
            if names and all(names):
                return names[0]
        return ""


@intrinsic
def enter_region(typingctx):
    """Begin a region, and return 1."""

    def codegen(context, builder, signature, arguments):
        builder.atomic_rmw("add", region_word(builder), _WORD(2**16 + 1), "seq_cst")
        return _WORD(1)

    return types.int64(), codegen


@intrinsic
def leave_region(typingctx, n):
    """End `n` regions, 0 or 1, and return 0."""

    def codegen(context, builder, signature, arguments):
        builder.atomic_rmw("sub", region_word(builder), arguments[0], "seq_cst")
        return _WORD(0)

    return types.int64(types.int64), codegen


class _ParallelLoops:
    """What numba asks about each function, once for each of its blocks."""

    def __init__(self, state: Any) -> None:
        self._state = state
        options = state.flags.auto_parallel
        self._is_seen = not (options.enabled and options.prange)
        self._n_calls = 0

    def match(self, func_ir, block, typemap, calltypes):
        """Look at all loops at the first call; the changes are made in place."""
        if not self._is_seen:
            self._is_seen = True
            if any(_NAMES_A_CONTAINER.search(str(each)) for each in typemap.values()):
                self._look(func_ir.blocks, typemap)
        return False

    def _look(self, blocks: Any, typemap: Any) -> None:
        loops = [
            loop
            for loop in compute_cfg_from_blocks(blocks).loops().values()
            if len(loop.entries) == len(loop.exits) == 1
            and any(_is_prange(each, typemap) for each in blocks[next(iter(loop.entries))].body)
        ]
        # Loops in others are not parallel.
        outer = [loop for loop in loops if not any(loop.header in o.body for o in loops if o is not loop)]
        for loop in outer:
            _Body(blocks, loop.body, typemap).check()
        for loop in outer:
            self._make_region(blocks, loop)

    def _make_region(self, blocks: Any, loop: Any) -> None:
        """Begin a region before a loop, and end it behind; others come there who did not begin one."""
        first, (entry,), (exit_,) = blocks[min(blocks)], loop.entries, loop.exits
        scope, loc = first.scope, blocks[loop.header].loc
        n = self._variable(scope, types.int64, loc)
        begin = self._call(enter_region, [], n, loc)
        end = self._call(leave_region, [n], n, loc)
        at = next(i for i, each in enumerate(blocks[entry].body) if _is_prange(each, self._state.typemap))
        blocks[entry].body[at:at] = begin
        blocks[exit_].body[:0] = end
        first.body.insert(0, ir.Assign(ir.Const(0, loc), n, loc))

    def _variable(self, scope: Any, typ: Any, loc: Any) -> Any:
        variable = scope.redefine("$region", loc)
        self._state.typemap[variable.name] = typ
        return variable

    def _call(self, function: Any, arguments: Any, target: Any, loc: Any) -> list[Any]:
        """Return the statements that call a function of int64, and keep the result."""
        kind = self._state.typingctx.resolve_value_type(function)
        called = self._variable(target.scope, kind, loc)
        call = ir.Expr.call(called, arguments, (), loc)
        signature = kind.get_call_type(self._state.typingctx, (types.int64,) * len(arguments), {})
        self._state.calltypes[call] = signature
        named = ir.Global(function.__name__, function, loc)
        return [ir.Assign(named, called, loc), ir.Assign(call, target, loc)]


if ALL_THERE and not config.DISABLE_JIT:
    register_rewrite("after-inference")(type("ParallelLoops", (_ParallelLoops, Rewrite), {}))
