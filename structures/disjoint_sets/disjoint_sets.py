r"""``DisjointSets``: elements 0, 1, 2, ... in sets that can only be joined, known as union-find.

One array is a forest. The link of an element is another element of its set; the link of a root is minus the
size of the set::

    element      0    1    2    3    4    5            0       3     4
    links       -3    0    0   -1   -2    4           / \            |
                                                     1   2           5

Two sets are joined at their roots, the smaller one below the larger. A search for a root halves its path:
every second element gets a link to the element two above.

Invariants
----------
1. Each of the ``n_elements`` elements has a link: below 0, or another element.
2. From every element the links lead to a root, in at most log2(size of its set) steps.
3. The link of a root is minus the number of elements of its set.
4. ``n_sets`` is the number of roots.

Complexity
----------
==================================  =================================================
find, union                         O(log n), amortized almost constant
root, connected, size               O(log n)
add                                 O(1), amortized over growth
union_many                          the cost of union, for each pair
labels, from_labels, copy, ``==``   O(n log n), in practice O(n)
memory                              8 bytes per element, up to twice that after growth
==================================  =================================================

Source: R. E. Tarjan, J. van Leeuwen, Worst-case analysis of set union algorithms (1984).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structures.base.container import Facade, named_by_package
from structures.base.in_njit import class_method, constructor, must_be_integer, must_be_integers
from structures.base.struct_type import bind
from structures.disjoint_sets.disjoint_sets_kernels import (
    DisjointSetsType,
    disjoint_sets_of,
    disjoint_sets_type,
    links_of,
    n_sets_of,
    new_disjoint_sets,
)
from structures.status import int64, int64_array


class DisjointSets(Facade):
    """Elements 0, 1, 2, ... in sets that can only be joined.

    Calls from threads take turns. The iterations of a ``prange`` may call all methods that
    only read, such as :meth:`root`. :meth:`find` is faster after many unions, but it changes the links.

    Inside ``@njit`` there are the same methods, and ``n_sets`` is a field. Without ``boundscheck`` elements
    are not checked there, and :meth:`add` returns a status below 0 if there is no memory.

    Methods for elements:

    * :meth:`find`, :meth:`root`, :meth:`connected`, :meth:`size`
    * :meth:`union`, :meth:`union_many`, :meth:`add`

    Methods for the whole:

    * :attr:`n_sets`, ``len(s)``: the number of elements
    * :meth:`labels`, :meth:`from_labels`
    * :meth:`copy`, :meth:`reserve`, :attr:`nbytes`; ``==`` (compares which elements are together), pickle

    Parameters
    ----------
    n : int, optional
        Number of elements, each in a set of its own.

    Raises
    ------
    TypeError
        `n` is not an integer.
    ValueError
        `n` is negative.
    MemoryError
        There is not enough memory.

    Examples
    --------
    >>> from structures import DisjointSets
    >>> s = DisjointSets(5)
    >>> s.union(0, 2), s.union(2, 3), s.union(3, 0)
    (True, True, False)
    >>> s.connected(0, 3), s.size(3), s.labels()
    (True, 3, array([0, 1, 0, 0, 2]))
    """

    __slots__ = ()
    _only_type = disjoint_sets_type

    def __new__(cls, n: int = 0) -> DisjointSets:
        return cls._like(new_disjoint_sets(cls._room(n, "n")))

    @classmethod
    def from_labels(cls, labels: Any) -> DisjointSets:
        """Build the sets of the elements that have the same label.

        Parameters
        ----------
        labels : (n,) array_like of int
            The label of each element, in ``range(n)``; :meth:`labels` returns them, and so does
            ``scipy.sparse.csgraph.connected_components``.

        Returns
        -------
        DisjointSets

        Raises
        ------
        ValueError
            A label is not in ``range(n)``.

        Complexity
        ----------
        O(n).

        Examples
        --------
        >>> from structures import DisjointSets
        >>> DisjointSets.from_labels([0, 1, 0, 1])
        <DisjointSets of 4 in 2 sets>
        """
        labels = int64_array(labels, "labels")
        is_wrong = (labels < 0) | (labels >= labels.size)
        if is_wrong.any():
            i = int(np.argmax(is_wrong))
            raise ValueError(f"labels[{i}] is {labels[i]}, but must be in range({labels.size})")
        return cls._like(disjoint_sets_of(labels))

    from_arrays = from_labels

    def to_arrays(self) -> tuple[np.ndarray]:
        """Return the labels as pickles store them, a tuple of one array."""
        return (self.labels(),)

    def _content(self) -> tuple[np.ndarray, ...]:
        """Return the labels, whose order matters."""
        return self.to_arrays()

    def __len__(self) -> int:
        return self._type.entries.len(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} in {self.n_sets} sets>"

    @property
    def n_sets(self) -> int:
        """Number of sets."""
        return n_sets_of(self)

    def _element(self, element: int) -> int:
        """Return an element, or raise if it is out of range."""
        number = int64(element, "element")
        if not 0 <= number < len(self):
            raise IndexError(f"element {number} is out of range for {len(self)} elements")
        return number

    def _elements(self, elements: Any, name: str) -> np.ndarray:
        """Return an array of elements, or raise if one is out of range."""
        elements = int64_array(elements, name)
        for end in (elements.min(), elements.max()) if elements.size else ():
            self._element(end)
        return elements

    def add(self) -> int:
        """Add an element in a set of its own, and return it.

        Returns
        -------
        int
            The number of elements before.

        Raises
        ------
        MemoryError
            There is no memory to grow; nothing has changed.

        Complexity
        ----------
        O(1), amortized.

        Examples
        --------
        >>> from structures import DisjointSets
        >>> DisjointSets(3).add()
        3
        """
        element = self._type.entries.add(self)
        self._done(element, "one more element")
        return element

    def reserve(self, n: int) -> None:
        """Make room for `n` elements in all, so that there is no growth until then.

        Parameters
        ----------
        n : int

        Raises
        ------
        ValueError
            `n` is negative.
        MemoryError
            There is not enough memory; nothing has changed.

        Complexity
        ----------
        O(elements).

        Examples
        --------
        >>> from structures import DisjointSets
        >>> s = DisjointSets()
        >>> s.reserve(1000)
        """
        self._done(self._kernels.reserve(self, self._room(n, "n")), f"{n} elements")

    def find(self, element: int) -> int:
        """Return the element that stands for the set of `element`, until that set is joined with another.

        Parameters
        ----------
        element : int

        Returns
        -------
        int

        Raises
        ------
        IndexError
            The element is not in ``range(len(s))``.

        Complexity
        ----------
        O(log n), amortized almost constant.

        Examples
        --------
        >>> from structures import DisjointSets
        >>> s = DisjointSets(3)
        >>> s.union(0, 2)
        True
        >>> s.find(0) == s.find(2), s.find(1)
        (True, 1)
        """
        return self._type.entries.find(self, self._element(element))

    def root(self, element: int) -> int:
        """Return what :meth:`find` returns, and change nothing: the iterations of a ``prange`` may call it.

        Parameters
        ----------
        element : int

        Returns
        -------
        int

        Raises
        ------
        IndexError
            The element is not in ``range(len(s))``.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> from numba import njit, prange
        >>> from structures import DisjointSets
        >>> @njit(parallel=True)
        ... def count_with(s, element):
        ...     n = 0
        ...     for other in prange(len(s)):
        ...         n += s.root(other) == s.root(element)
        ...     return n
        >>> count_with(DisjointSets.from_labels([0, 1, 0]), 0)
        2
        """
        return self._type.entries.root(self, self._element(element))

    def union(self, one: int, other: int) -> bool:
        """Join the sets of two elements, unless they are in one set already.

        Parameters
        ----------
        one, other : int

        Returns
        -------
        bool
            Whether two sets were joined.

        Raises
        ------
        IndexError
            An element is not in ``range(len(s))``.

        Complexity
        ----------
        O(log n), amortized almost constant.

        Examples
        --------
        >>> from structures import DisjointSets
        >>> s = DisjointSets(3)
        >>> s.union(0, 2), s.union(2, 0), s.n_sets
        (True, False, 2)
        """
        return self._type.entries.union(self, self._element(one), self._element(other))

    def union_many(self, ones: Any, others: Any) -> int:
        """Join the sets of ``ones[i]`` and ``others[i]``, for every i.

        Parameters
        ----------
        ones, others : (m,) array_like of int

        Returns
        -------
        int
            How many sets fewer there are.

        Raises
        ------
        IndexError
            An element is not in ``range(len(s))``; nothing has changed.
        ValueError
            The arrays differ in length; nothing has changed.

        Complexity
        ----------
        The cost of :meth:`union`, for each pair.

        Examples
        --------
        >>> from structures import DisjointSets
        >>> s = DisjointSets(4)
        >>> s.union_many([0, 1, 2], [1, 2, 0])
        2
        """
        ones, others = self._elements(ones, "ones"), self._elements(others, "others")
        if ones.size != others.size:
            raise ValueError(f"{ones.size} ones but {others.size} others")
        return self._kernels.union_many(self, ones, others)

    def connected(self, one: int, other: int) -> bool:
        """Return whether two elements are in the same set.

        Parameters
        ----------
        one, other : int

        Returns
        -------
        bool

        Raises
        ------
        IndexError
            An element is not in ``range(len(s))``.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> from structures import DisjointSets
        >>> DisjointSets(2).connected(0, 1)
        False
        """
        return self._type.entries.connected(self, self._element(one), self._element(other))

    def size(self, element: int) -> int:
        """Return the number of elements in the set of `element`.

        Parameters
        ----------
        element : int

        Returns
        -------
        int

        Raises
        ------
        IndexError
            The element is not in ``range(len(s))``.

        Complexity
        ----------
        O(log n).

        Examples
        --------
        >>> from structures import DisjointSets
        >>> DisjointSets.from_labels([0, 1, 0]).size(2)
        2
        """
        return self._type.entries.size(self, self._element(element))

    def labels(self) -> np.ndarray:
        """Return the number of the set of each element.

        Returns
        -------
        (n,) int64
            0 ... ``n_sets - 1``, in the order of the least elements of the sets.

        Complexity
        ----------
        O(n log n), in practice O(n).

        Examples
        --------
        >>> from structures import DisjointSets
        >>> s = DisjointSets(4)
        >>> s.union(1, 3)
        True
        >>> s.labels()
        array([0, 1, 2, 1])
        """
        return self._kernels.labels(self)

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        links, n = links_of(self).tolist(), len(self)
        assert all(link < n and link != element for element, link in enumerate(links)), "1: links"
        elements_below: dict[int, int] = {}
        depths: dict[int, int] = {}
        for element in range(n):
            root, depth = element, 0
            while links[root] >= 0:
                root, depth = links[root], depth + 1
                assert depth <= n, f"2: element {element} is on a cycle"
            elements_below[root] = elements_below.get(root, 0) + 1
            depths[root] = max(depths.get(root, 0), depth)
        for root, size in elements_below.items():
            assert 2 ** depths[root] <= size, f"2: the paths to {root}"
            assert links[root] == -size, f"3: the size of the set of {root}"
        assert self.n_sets == len(elements_below), "4: n_sets"


bind(DisjointSetsType, DisjointSets)


@constructor(DisjointSets)
def _disjoint_sets(n=0):
    must_be_integer(n, "n")
    return lambda n=0: new_disjoint_sets(n)


@class_method(DisjointSets, "from_labels")
@class_method(DisjointSets, "from_arrays")
def _from_labels(cls, labels):
    must_be_integers(labels, "labels")
    return lambda cls, labels: disjoint_sets_of(labels)


__test__ = named_by_package(DisjointSets)
