"""Claims: calls from Python take turns at a container, whatever threads they come from.

Kernels release the GIL, so that two threads of Python could change one container at the same time. Therefore
a call claims every container that it is given, and gives the claim back when it ends. A second thread waits.

The claim is two fields of the container itself: two objects of Python can stand for one container. ::

    claimed_by    0, or the number of the thread whose call uses the container
    n_claims      how many claims that thread has: it may be given the container twice

A claim is one atomic instruction and takes some nanoseconds. Only a thread that has to wait calls Python. It
waits as ``time.sleep`` does: other threads run, and Ctrl-C ends it. If it would wait for ever, it raises: two
calls that each hold what the other wants, or a fork in the middle of a call of another thread.

Compiled code does not claim. Where a ``prange`` runs, its *region*, calls of compiled code lock a container
instead, for there several threads may come to one by ways that the compiler does not see. (What it sees, it
refuses: :mod:`structures.base.parallel_loops`.) One word of the process says whether there is a region, and
outside of regions a lock is one test of it::

    region word   low 16 bits: how many regions there are; the others: how many there have been
    region        of a container: the region word when it was made, which needs no lock in that region; or
                  its complement, when a call in the region changed it
    locked_by     0, or the number of the thread that is in a call

In a region, a call that changes a container locks it. A call that reads it does so only if one that changes
it was there: reading alone, threads do not wait. A read that begins before the first change, and is not over
when a later one lets the container grow, is not protected.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from llvmlite.binding import add_symbol
from numba import types
from numba.core import cgutils

FIELDS = dict.fromkeys(("claimed_by", "n_claims", "region", "locked_by"), types.int64)
"""The fields of every container that claims and locks need."""

_SHORT, _LONG = 20e-6, 1e-3  # seconds between two looks
_WORD, _HALF, _BIT = ir.IntType(64), ir.IntType(16), ir.IntType(1)

_claim_wanted_by: dict[int, int] = {}
"""The address of the claim that a waiting thread wants, by the number of the thread."""


def _holder(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


def _is_circle(me: int, address: int) -> bool:
    """Return whether the thread that holds a claim waits, maybe by way of others, for one of mine."""
    holder = _holder(address)
    for _ in range(len(_claim_wanted_by)):
        wanted = _claim_wanted_by.get(holder)
        if wanted is None:
            return False
        holder = _holder(wanted)
        if holder == me:
            return True
    return False


def wait_for_claim(address: int) -> None:
    """Wait until the claim at an address looks free; compiled code tries to take it then."""
    me, pause = threading.get_ident(), _SHORT
    _claim_wanted_by[me] = address
    try:
        while holder := _holder(address):
            if _is_circle(me, address):
                raise RuntimeError(
                    "two threads wait for each other: each uses a container that the other wants. "
                    "Give the containers to all calls in the same order, or use a lock"
                )
            if holder not in sys._current_frames() and _holder(address) == holder:
                raise RuntimeError(
                    "the thread that was using this container is gone: the process was forked in the middle "
                    "of a call of another thread. The content may be damaged: make a new container"
                )
            time.sleep(pause)
            pause = min(2 * pause, _LONG)
    finally:
        del _claim_wanted_by[me]


def _pointers(payload: Any) -> tuple[Any, Any]:
    return payload._get_ptr_by_name("claimed_by"), payload._get_ptr_by_name("n_claims")


def claim(c: Any, payloads: Sequence[Any]) -> Any:
    """Emit code that claims containers; return a bit that says whether Python raised instead."""
    first, *others = payloads
    failed = cgutils.alloca_once_value(c.builder, _claim_one(c, first))
    if others:
        with c.builder.if_then(c.builder.not_(c.builder.load(failed))):
            others_failed = claim(c, others)
            c.builder.store(others_failed, failed)
            with c.builder.if_then(others_failed):
                give_back(c, [first])
    return c.builder.load(failed)


def _this_thread(builder: Any) -> Any:
    kind = ir.FunctionType(_WORD, [])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, "PyThread_get_thread_ident"), [])


def _claim_one(c: Any, payload: Any) -> Any:
    holder_at, n_at = _pointers(payload)
    builder = c.builder
    me = _this_thread(builder)
    failed = cgutils.alloca_once(builder, _BIT)
    again, wait, mine, end = (
        builder.append_basic_block(f"claim.{name}") for name in ("again", "wait", "mine", "end")
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
    """Emit a call of :func:`wait_for_claim`; return whether it raised."""
    function = c.pyapi.unserialize(c.pyapi.serialize_object(wait_for_claim))
    argument = c.pyapi.long_from_longlong(address)
    result = c.pyapi.call_function_objargs(function, [argument])
    for each in (function, argument, result):
        c.pyapi.decref(each)
    return cgutils.is_null(c.builder, result)


def give_back(c: Any, payloads: Sequence[Any]) -> None:
    """Emit code that gives claims back."""
    for payload in reversed(payloads):
        holder_at, n_at = _pointers(payload)
        n = c.builder.sub(c.builder.load(n_at), _WORD(1))
        c.builder.store(n, n_at)
        with c.builder.if_then(c.builder.icmp_signed("==", n, _WORD(0))):
            c.builder.store_atomic(_WORD(0), holder_at, "release", 8)


# ------------------------------------------------------------------------------------- locks in regions
_REGION = "structures.region"
_memory = (ctypes.c_int64 * 16)()  # a cache line of its own, and what comes before it
add_symbol(_REGION, -(-ctypes.addressof(_memory) // 64) * 64)


def region_word(builder: Any) -> Any:
    """Return the address of the region word."""
    if _REGION not in builder.module.globals:
        ir.GlobalVariable(builder.module, _WORD, _REGION)
    return builder.module.globals[_REGION]


def note_region(builder: Any, payload: Any) -> None:
    """Emit code that notes in which region a new container is made."""
    builder.store(builder.load(region_word(builder)), payload._get_ptr_by_name("region"))


def is_shared(builder: Any, payload: Any) -> Any:
    """Emit what says whether there is a region, in which the container was not made."""
    word = builder.load(region_word(builder))
    # It changes only in calls that begin or end a region, before and after its threads run.
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


def lock(builder: Any, payload: Any, changes: bool) -> Any:
    """Emit code that locks a container where it has to; return a bit: whether :func:`unlock` has to."""
    is_needed = is_shared(builder, payload)
    before = builder.block
    with cgutils.if_unlikely(builder, is_needed):
        fields = [payload._get_ptr_by_name(name) for name in ("region", "locked_by")]
        is_taken = builder.call(_lock(builder.module), [*fields, _BIT(changes)])
        inside = builder.block
    is_held = builder.phi(_BIT)
    is_held.add_incoming(_BIT(0), before)
    is_held.add_incoming(is_taken, inside)
    return is_held


def unlock(builder: Any, payload: Any, is_held: Any) -> None:
    """Emit code that unlocks a container if it is held."""
    with cgutils.if_unlikely(builder, is_held):
        builder.store_atomic(_WORD(0), payload._get_ptr_by_name("locked_by"), "release", 8)


def _lock(module: Any) -> Any:
    """Return the function that waits for a lock; it returns whether it took it."""
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
    give_way = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
    kind = ir.FunctionType(ir.IntType(32), [])
    builder.call(cgutils.get_or_insert_function(module, kind, give_way), [])
    builder.cbranch(builder.icmp_unsigned("==", holder, me), end, again)
    builder.position_at_end(mine)
    with builder.if_then(changes):
        builder.store_atomic(builder.not_(word), region_at, "monotonic", 8)
    builder.ret(_BIT(1))
    builder.position_at_end(end)  # in a call of this thread, which unlocks it
    builder.ret(_BIT(0))
    return function
