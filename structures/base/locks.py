"""Locks: calls from Python use a container one at a time, whatever threads they come from.

Kernels release the GIL, so two Python threads could change one container at the same time. Therefore a call
locks every container among its arguments, and unlocks it when it ends. A second thread waits.

The lock is two fields of the container itself, because two Python objects can refer to one container. ::

    call_owner    0, or the id of the thread whose call uses the container
    call_depth    how often that thread has locked it: a call may get the same container twice

Locking is one atomic instruction and takes some nanoseconds. Only a thread that has to wait calls Python. It
waits in ``time.sleep``: other threads run, and Ctrl-C ends it. If it would wait forever, it raises: for two
calls that each hold what the other needs, or after a fork in the middle of a call of another thread.

Compiled code does not take this lock. While a ``prange`` runs, which is called a *region*, calls of compiled
code take another lock instead, because several threads may reach one container in ways that the compiler does
not see. (What it sees, it refuses: see below.) One word of the process says whether there is a region.
Outside regions, locking is one test of this word::

    region word    low 16 bits: the number of regions now; the other bits: the number of regions so far
    region         of a container: the region word when it was made, as it needs no lock in that region; or
                   the complement of the word, after a call in the region has changed the container
    region_owner   0, or the id of the thread that is in a call

In a region, a call that changes a container locks it. A call that reads it locks it only after another call
has changed it: as long as they only read, threads do not wait. A read that begins before the first change,
and is still running when a later change lets the container grow, is not protected.

**Loops of** ``prange``: numba runs the iterations in several threads. After numba has inferred the types of a
function, :class:`ParallelLoops` examines the loops that will be parallel. A container that is the same in all
iterations, and is changed in them, is a ``TypingError``. Threads may reach one container in ways that cannot
be detected: through another function, or a list that contains it twice. So each loop is a region.
"""

from __future__ import annotations

import ctypes
import re
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from llvmlite.binding import add_symbol
from numba import config, prange, types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from structures.compiling.numba_private import Rewrite, compute_cfg_from_blocks, register_rewrite
from structures.compiling.numba_private import ir as numba_ir

FIELDS = dict.fromkeys(("call_owner", "call_depth", "region", "region_owner"), types.int64)
"""The fields of every container that the locks need."""

_SHORT, _LONG = 20e-6, 1e-3  # seconds between two checks
_WORD, _HALF, _BIT = ir.IntType(64), ir.IntType(16), ir.IntType(1)

_lock_wanted_by: dict[int, int] = {}
"""The address of the lock that a waiting thread needs, by the id of the thread."""


def _owner(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


def _is_deadlock(me: int, address: int) -> bool:
    """Return whether the owner of a lock waits, directly or indirectly, for a lock of this thread."""
    owner = _owner(address)
    for _ in range(len(_lock_wanted_by)):
        wanted = _lock_wanted_by.get(owner)
        if wanted is None:
            return False
        owner = _owner(wanted)
        if owner == me:
            return True
    return False


def wait_for_lock(address: int) -> None:
    """Wait until the lock at an address seems free; compiled code then tries to take it."""
    me, pause = threading.get_ident(), _SHORT
    _lock_wanted_by[me] = address
    try:
        while owner := _owner(address):
            if _is_deadlock(me, address):
                raise RuntimeError(
                    "deadlock: two threads wait for each other, as each uses a container that the other "
                    "needs. Pass the containers to all calls in the same order, or use a lock"
                )
            if owner not in sys._current_frames() and _owner(address) == owner:
                raise RuntimeError(
                    "the thread that was using this container no longer exists: the process was forked in "
                    "the middle of a call of another thread. The content may be damaged: make a new container"
                )
            time.sleep(pause)
            pause = min(2 * pause, _LONG)
    finally:
        del _lock_wanted_by[me]


def _pointers(payload: Any) -> tuple[Any, Any]:
    return payload._get_ptr_by_name("call_owner"), payload._get_ptr_by_name("call_depth")


def lock_for_call(c: Any, payloads: Sequence[Any]) -> Any:
    """Emit code that locks containers for a call; return a bit: whether Python raised instead."""
    first, *others = payloads
    failed = cgutils.alloca_once_value(c.builder, _lock_one(c, first))
    if others:
        with c.builder.if_then(c.builder.not_(c.builder.load(failed))):
            others_failed = lock_for_call(c, others)
            c.builder.store(others_failed, failed)
            with c.builder.if_then(others_failed):
                unlock_after_call(c, [first])
    return c.builder.load(failed)


def _this_thread(builder: Any) -> Any:
    kind = ir.FunctionType(_WORD, [])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, "PyThread_get_thread_ident"), [])


def _lock_one(c: Any, payload: Any) -> Any:
    holder_at, n_at = _pointers(payload)
    builder = c.builder
    me = _this_thread(builder)
    failed = cgutils.alloca_once(builder, _BIT)
    again, wait, mine, end = (
        builder.append_basic_block(f"lock.{name}") for name in ("again", "wait", "mine", "end")
    )
    builder.branch(again)
    builder.position_at_end(again)
    holder = builder.extract_value(builder.cmpxchg(holder_at, _WORD(0), me, "acquire", "monotonic"), 0)
    is_mine = builder.or_(builder.icmp_signed("==", holder, _WORD(0)), builder.icmp_signed("==", holder, me))
    builder.cbranch(is_mine, mine, wait).set_weights([99, 1])
    builder.position_at_end(wait)
    is_raised = _call_wait(c, builder.ptrtoint(holder_at, _WORD))
    builder.store(is_raised, failed)
    builder.cbranch(is_raised, end, again)
    builder.position_at_end(mine)
    builder.store(builder.add(builder.load(n_at), _WORD(1)), n_at)
    builder.store(_BIT(0), failed)
    builder.branch(end)
    builder.position_at_end(end)
    return builder.load(failed)


def _call_wait(c: Any, address: Any) -> Any:
    """Emit a call of :func:`wait_for_lock`; return whether it raised."""
    is_raised = cgutils.alloca_once_value(c.builder, _BIT(1))
    function = c.pyapi.unserialize(c.pyapi.serialize_object(wait_for_lock))
    # A signal may have interrupted that, which runs Python.
    with cgutils.if_likely(c.builder, cgutils.is_not_null(c.builder, function)):
        argument = c.pyapi.long_from_longlong(address)
        result = c.pyapi.call_function_objargs(function, [argument])
        for each in (function, argument, result):
            c.pyapi.decref(each)
        c.builder.store(cgutils.is_null(c.builder, result), is_raised)
    return c.builder.load(is_raised)


def unlock_after_call(c: Any, payloads: Sequence[Any]) -> None:
    """Emit code that unlocks containers after a call."""
    for payload in reversed(payloads):
        holder_at, n_at = _pointers(payload)
        n = c.builder.sub(c.builder.load(n_at), _WORD(1))
        c.builder.store(n, n_at)
        with c.builder.if_then(c.builder.icmp_signed("==", n, _WORD(0))):
            c.builder.store_atomic(_WORD(0), holder_at, "release", 8)


# ------------------------------------------------------------------------------------- locks in regions
_REGION = "structures.region"
_memory = (ctypes.c_int64 * 16)()  # large enough to contain a whole cache line
add_symbol(_REGION, -(-ctypes.addressof(_memory) // 64) * 64)


def region_word(builder: Any) -> Any:
    """Return the address of the region word."""
    if _REGION not in builder.module.globals:
        ir.GlobalVariable(builder.module, _WORD, _REGION)
    return builder.module.globals[_REGION]


def store_region(builder: Any, payload: Any) -> None:
    """Emit code that stores in which region a new container is made."""
    builder.store(builder.load(region_word(builder)), payload._get_ptr_by_name("region"))


def is_shared(builder: Any, payload: Any) -> Any:
    """Emit a test whether there is a region, other than the one in which the container was made."""
    word = builder.load(region_word(builder))
    # It changes only in calls that begin or end a region, when the threads of the region do not run.
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    is_region = builder.icmp_unsigned("!=", builder.trunc(word, _HALF), _HALF(0))
    before = builder.block
    with cgutils.if_unlikely(builder, is_region):
        made_in = builder.load(payload._get_ptr_by_name("region"))
        made_elsewhere = builder.icmp_unsigned("!=", made_in, word)
        inside = builder.block
    answer = builder.phi(_BIT)
    answer.add_incoming(_BIT(0), before)
    answer.add_incoming(made_elsewhere, inside)
    return answer


def lock_in_region(builder: Any, payload: Any, changes: bool) -> Any:
    """Emit code that locks a container if necessary; return a bit: whether to unlock it."""
    is_needed = is_shared(builder, payload)
    before = builder.block
    with cgutils.if_unlikely(builder, is_needed):
        fields = [payload._get_ptr_by_name(name) for name in ("region", "region_owner")]
        is_taken = builder.call(_region_lock(builder.module), [*fields, _BIT(changes)])
        inside = builder.block
    is_held = builder.phi(_BIT)
    is_held.add_incoming(_BIT(0), before)
    is_held.add_incoming(is_taken, inside)
    return is_held


def unlock_in_region(builder: Any, payload: Any, is_held: Any) -> None:
    """Emit code that unlocks a container if it is held."""
    with cgutils.if_unlikely(builder, is_held):
        builder.store_atomic(_WORD(0), payload._get_ptr_by_name("region_owner"), "release", 8)


def _region_lock(module: Any) -> Any:
    """Return the function that waits for a lock, and returns whether it took it."""
    name = "structures.lock"
    if name in module.globals:
        return module.globals[name]
    pointer = _WORD.as_pointer()
    function = ir.Function(module, ir.FunctionType(_BIT, [pointer, pointer, _BIT]), name)
    function.linkage = "linkonce_odr"
    for attribute in ("noinline", "cold"):
        function.attributes.add(attribute)
    region_at, holder_at, changes = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    word = builder.load_atomic(region_word(builder), "monotonic", 8)
    changed = builder.icmp_unsigned("==", builder.load_atomic(region_at, "monotonic", 8), builder.not_(word))
    with cgutils.if_unlikely(builder, builder.not_(builder.or_(changes, changed))):
        builder.ret(_BIT(0))
    me = _this_thread(builder)
    again, wait, mine, end = (function.append_basic_block(each) for each in ("again", "wait", "mine", "end"))
    builder.branch(again)
    builder.position_at_end(again)
    holder = builder.extract_value(builder.cmpxchg(holder_at, _WORD(0), me, "acquire", "monotonic"), 0)
    builder.cbranch(builder.icmp_unsigned("==", holder, _WORD(0)), mine, wait)
    builder.position_at_end(wait)
    yield_name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
    kind = ir.FunctionType(ir.IntType(32), [])
    builder.call(cgutils.get_or_insert_function(module, kind, yield_name), [])
    builder.cbranch(builder.icmp_unsigned("==", holder, me), end, again)
    builder.position_at_end(mine)
    with builder.if_then(changes):
        builder.store_atomic(builder.not_(word), region_at, "monotonic", 8)
    builder.ret(_BIT(1))
    builder.position_at_end(end)  # an outer call of this thread has it, and unlocks it
    builder.ret(_BIT(0))
    return function


# --------------------------------------------------------------------------------------- loops of prange
_NAMES_A_CONTAINER = re.compile("@[0-9a-f]{8}")  # the name of a type contains the names of its parts
_OF_PARTS = ("getattr", "getitem", "static_getitem", "typed_getitem", "cast")


class SharedContainerError(TypingError):
    """Raised if several threads would change one container."""

    def __init__(self, message: str, loc: Any) -> None:
        super().__init__(message, loc)
        self._message = f"{message}\n{loc.strformat()}"

    def __str__(self) -> str:  # numba would put the name of its pass first
        return self._message


def _is_prange(statement: Any, typemap: Any) -> bool:
    value = getattr(statement, "value", None)
    if not (isinstance(value, numba_ir.Expr) and value.op == "call"):
        return False
    called = typemap[value.func.name]
    return isinstance(called, types.Function) and called.typing_key is prange


class _Body:
    """The body of a loop, searched for containers that its iterations change."""

    def __init__(self, blocks: Any, labels: Any, typemap: Any) -> None:
        self._typemap = typemap
        self._methods: dict[str, Any] = {}  # by the variable, in the whole function
        self._assigned: dict[str, list[Any]] = {}  # by the variable, in the loop
        self._statements: list[Any] = []
        for label, block in blocks.items():
            assignments = list(block.find_insts(numba_ir.Assign))
            for each in assignments:
                if isinstance(each.value, numba_ir.Expr) and each.value.op == "getattr":
                    self._methods[each.target.name] = each.value
            if label in labels:
                self._statements += block.body
                for each in assignments:
                    self._assigned.setdefault(each.target.name, []).append(each.value)

    def check(self) -> None:
        """Raise for a container that is the same in all iterations, and is changed in them."""
        for statement in self._statements:
            container, verb = self._changed_by(statement)
            name = container and self._outside(container)
            if name:
                label = self._typemap[container.name].label
                raise SharedContainerError(
                    f"{label} {name} comes from outside the prange, and is changed in it by {verb}: "
                    "make one in each iteration, or change parts[i] of a List that has one for each, and "
                    "combine them after the loop",
                    statement.loc,
                )

    def _changed_by(self, statement: Any) -> tuple[Any, str]:
        """Return the variable of the container that a statement changes, or None, and the method."""
        container, verb = None, ""
        if isinstance(statement, (numba_ir.SetItem, numba_ir.StaticSetItem)):
            container, verb = statement.target, "[key] = ..."
        elif isinstance(statement, numba_ir.DelItem):
            container, verb = statement.target, "del [key]"
        elif isinstance(statement, numba_ir.Assign) and getattr(statement.value, "op", "") == "call":
            method = self._methods.get(statement.value.func.name)
            if method is not None:
                container, verb = method.value, method.attr
        changing = getattr(container and self._typemap[container.name], "changing_verbs", None)
        is_changed = changing is not None and (verb in changing or "[key]" in verb)
        return (container, verb) if is_changed else (None, "")

    def _outside(self, variable: Any, within: tuple[str, ...] = ()) -> str:
        """Return the name of a variable if it is the same in all iterations, else the empty string."""
        if variable.name not in self._assigned:
            return variable.unversioned_name
        if variable.name in within:
            return ""
        for value in self._assigned[variable.name]:
            if isinstance(value, (numba_ir.Const, numba_ir.Global, numba_ir.FreeVar)):
                return "a constant"
            is_part = isinstance(value, numba_ir.Expr) and value.op in _OF_PARTS
            parts = value.list_vars() if is_part else [value] if isinstance(value, numba_ir.Var) else []
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


class ParallelLoops(Rewrite):
    """Checks the parallel loops of a function, and puts regions around them."""

    def __init__(self, state: Any) -> None:
        self._state = state
        options = state.flags.auto_parallel
        self._is_seen = not (options.enabled and options.prange)

    def match(self, func_ir, block, typemap, calltypes):
        """Process all loops at the first call; they are changed in place."""
        if not self._is_seen:
            self._is_seen = True
            if any(_NAMES_A_CONTAINER.search(str(each)) for each in typemap.values()):
                self._process(func_ir.blocks, typemap)
        return False

    def _process(self, blocks: Any, typemap: Any) -> None:
        loops = [
            loop
            for loop in compute_cfg_from_blocks(blocks).loops().values()
            if len(loop.entries) == len(loop.exits) == 1
            and any(_is_prange(each, typemap) for each in blocks[next(iter(loop.entries))].body)
        ]
        # Inner loops are not parallel.
        outer = [loop for loop in loops if not any(loop.header in o.body for o in loops if o is not loop)]
        for loop in outer:
            _Body(blocks, loop.body, typemap).check()
        for loop in outer:
            self._make_region(blocks, loop)

    def _make_region(self, blocks: Any, loop: Any) -> None:
        """Begin a region before a loop, and end it after the loop, where `n` is 0 if it was not entered."""
        first, (entry,), (exit_,) = blocks[min(blocks)], loop.entries, loop.exits
        scope, loc = first.scope, blocks[loop.header].loc
        n = self._variable(scope, types.int64, loc)
        begin = self._call(enter_region, [], n, loc)
        end = self._call(leave_region, [n], n, loc)
        at = next(i for i, each in enumerate(blocks[entry].body) if _is_prange(each, self._state.typemap))
        blocks[entry].body[at:at] = begin
        blocks[exit_].body[:0] = end
        first.body.insert(0, numba_ir.Assign(numba_ir.Const(0, loc), n, loc))

    def _variable(self, scope: Any, typ: Any, loc: Any) -> Any:
        variable = scope.redefine("$region", loc)
        self._state.typemap[variable.name] = typ
        return variable

    def _call(self, function: Any, arguments: Any, target: Any, loc: Any) -> list[Any]:
        """Return the statements that call a function of int64, and assign the result."""
        kind = self._state.typingctx.resolve_value_type(function)
        called = self._variable(target.scope, kind, loc)
        call = numba_ir.Expr.call(called, arguments, (), loc)
        signature = kind.get_call_type(self._state.typingctx, (types.int64,) * len(arguments), {})
        self._state.calltypes[call] = signature
        named = numba_ir.Global(function.__name__, function, loc)
        return [numba_ir.Assign(named, called, loc), numba_ir.Assign(call, target, loc)]


if not config.DISABLE_JIT:
    register_rewrite("after-inference")(ParallelLoops)
