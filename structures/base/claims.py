"""Claims: calls from Python take turns at a container, whatever threads they come from.

Kernels release the GIL, so that two threads of Python could change one container at the same time. Therefore
a call claims every container that it is given, and gives the claim back when it ends. A second thread waits.

The claim is two fields of the container itself: two objects of Python can stand for one container. ::

    claimed_by    0, or the number of the thread whose call uses the container
    n_claims      how many claims that thread has: it may be given the container twice

A claim is one atomic instruction and takes some nanoseconds. Only a thread that has to wait calls Python. It
waits as ``time.sleep`` does: other threads run, and Ctrl-C ends it. If it would wait for ever, it raises: two
calls that each hold what the other wants, or a fork in the middle of a call of another thread.

Compiled code does not claim: inside ``@njit(parallel=True)``, one container is for one thread.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

FIELDS = {"claimed_by": types.int64, "n_claims": types.int64}
"""The fields of every container that claims need."""

_SHORT, _LONG = 20e-6, 1e-3  # seconds between two looks
_WORD, _BIT = ir.IntType(64), ir.IntType(1)

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
    """Wait until the claim at an address looks free; compiled code tries to take it then.

    Parameters
    ----------
    address : int
        Where ``claimed_by`` is, in a container that the caller keeps alive.

    Raises
    ------
    RuntimeError
        It never will be.

    Complexity
    ----------
    A look every 20 microseconds at first, then every millisecond.

    Examples
    --------
    >>> wait_for_claim(ctypes.addressof(ctypes.c_int64(0)))
    """
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
    return tuple(payload._get_ptr_by_name(name) for name in FIELDS)  # type: ignore[return-value]


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


def _claim_one(c: Any, payload: Any) -> Any:
    holder_at, n_at = _pointers(payload)
    builder = c.builder
    get_thread = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(_WORD, []), "PyThread_get_thread_ident"
    )
    me = builder.call(get_thread, [])
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
