"""Programs as arrays: thousands of operations in one call of compiled code, compared with the model.

A program does inside ``@njit`` what a state machine does from Python, a hundred times as fast. It is three
arrays; a row is an operation, a key and a number. A compiled *driver* runs it on the container and writes two
results a row. The *meanings* of the operations are functions of the model, which return the expected results.
:mod:`structures.testing.languages` has one :class:`Language` for each container. You can write one for a
container of yours::

    @structures.kernel
    def run(cache, operations, keys, numbers, first, second):
        for i in range(operations.size):
            if operations[i] == 0:
                cache.put(keys[i], numbers[i])
            elif operations[i] == 1:
                first[i], second[i] = cache.get(keys[i])
        return cache

    language = Language(run, {
        0: lambda model, key, number: (0, model.put(key, number) or 0),
        1: lambda model, key, number: model.get(key),
    })
    program = random_program(language, rng, 100_000)
    check_program(language, Cache(), CacheModel(), program)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np


class Program(NamedTuple):
    """Rows of operations.

    Attributes
    ----------
    operations : (n,) int64
        Keys of :attr:`Language.meanings`.
    keys : (n,) int64
    numbers : (n,) int64 or float64
    """

    operations: np.ndarray
    keys: np.ndarray
    numbers: np.ndarray


class Language(NamedTuple):
    """What the operations of a program mean, compiled and in plain Python.

    Attributes
    ----------
    driver : callable
        ``driver(container, operations, keys, numbers, first, second)`` runs a program, writes the results
        of row ``i`` to ``first[i]``, int64, and ``second[i]``, of the dtype of the numbers, and returns
        the container.
    meanings : mapping from int to callable
        ``meanings[operation](model, key, number)`` changes the model and returns both results. The first
        two operations insert.

    Examples
    --------
    >>> from structures import IntMap
    >>> from structures.testing import LANGUAGES
    >>> sorted(LANGUAGES[IntMap].meanings)[:2]
    [<Operation.ADD: 0>, <Operation.SET: 1>]
    """

    driver: Any
    meanings: Mapping[int, Callable[[Any, int, Any], tuple[Any, Any]]]


def random_program(
    language: Language,
    rng: np.random.Generator,
    n_rows: int,
    keys: Any = range(-2, 10),
    numbers: Any = range(-2, 4),
    rare: float = 0.2,
    dtype: str = "int64",
) -> Program:
    """Return a program that inserts more than it removes.

    Parameters
    ----------
    language : Language
    rng : numpy.random.Generator
    n_rows : int
    keys, numbers : array_like
        The values to choose from.
    rare : float
        Share of rows with any operation; the others have one of the two that insert.
    dtype : {"int64", "float64"}
        Type of the numbers.

    Returns
    -------
    Program

    Examples
    --------
    >>> from structures import MaxHeap
    >>> from structures.testing import LANGUAGES
    >>> program = random_program(LANGUAGES[MaxHeap], np.random.default_rng(0), 5, dtype="float64")
    >>> program.operations.size, program.numbers.dtype
    (5, dtype('float64'))
    """
    operations = np.array(list(language.meanings), np.int64)
    n_choices = np.where(rng.random(n_rows) < rare, operations.size, 2)
    return Program(
        operations[rng.integers(0, n_choices)],
        rng.choice(np.asarray(keys, np.int64), n_rows),
        rng.choice(np.asarray(numbers, dtype), n_rows),
    )


def check_program(language: Language, container: Any, model: Any, program: Program) -> Any:
    """Run a program on a container and on its model, and compare every result.

    Parameters
    ----------
    language : Language
    container : object
    model : object
        Has the same content as the container; both are changed.
    program : Program

    Returns
    -------
    container
        What the driver returned, after its ``_check()``.

    Raises
    ------
    AssertionError
        A result is not the expected one, or an invariant is broken.

    Examples
    --------
    >>> from structures import IntMap
    >>> from structures.testing import LANGUAGES, MapModel
    >>> language, model = LANGUAGES[IntMap], MapModel()
    >>> program = random_program(language, np.random.default_rng(0), 1000)
    >>> check_program(language, IntMap(), model, program) == IntMap(model)
    True
    """
    first = np.zeros(program.operations.size, np.int64)
    second = np.zeros(program.operations.size, program.numbers.dtype)
    container = language.driver(container, *program, first, second)
    rows = zip(*(column.tolist() for column in (*program, first, second)), strict=True)
    for row, (operation, key, number, *got) in enumerate(rows):
        expected = language.meanings[operation](model, key, number)
        verb = next(known for known in language.meanings if known == operation)
        assert tuple(got) == tuple(expected), (
            f"row {row}: {verb!r} {key} {number} returned {tuple(got)}, not {expected}"
        )
    container._check()
    return container
