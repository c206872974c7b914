r"""``DisjointSets``: a container of our own. Elements 0, 1, 2, ... in sets that can only be joined.

One array is a forest. The link of an element is another element of its set, the link of a root is minus the
size of the set::

    element      0    1    2    3    4    5            0       3     4
    links       -3    0    0   -1   -2    4           / \            |
                                                     1   2           5

Two sets are joined at their roots, the smaller one below the larger. A search for a root halves the path that
it walks: every second element gets a link to the element two above.

Invariants
----------
1. ``size`` elements have a link: below 0, or another element.
2. From every element the links lead to a root, after log2(size of its set) steps at most.
3. The link of a root is minus the number of elements of its set.
4. ``n_sets`` is the number of roots.

Complexity
----------
=================================  =================================================
find, union, connected, set_size   O(log n), amortised almost constant
add                                O(1), amortised over growth
union_many                         the cost of union, for each pair
to_arrays, from_arrays, copy, ==   O(n), almost
memory                             8 bytes an element, up to twice that after growth
=================================  =================================================

Source: R. E. Tarjan, J. van Leeuwen, Worst-case analysis of set union algorithms (1984).
"""

import numpy as np
from numba import njit, types
from numba.experimental import structref

from structures.kernels import (
    Facade,
    StructType,
    bind,
    copy_prefix,
    fields_of,
    inner,
    int64,
    int64_array,
    kernel,
    method,
    new,
    new_like,
    new_words,
    quiet,
    status,
)


# ------------------------------------------------------------------------------ kernels on plain arrays
@inner
def root_of(links, element):
    """Return the root above an element, and halve the path to it."""
    while links[element] >= 0:
        above = links[element]
        if links[above] < 0:
            return above
        links[element] = links[above]
        element = links[above]
    return element


@inner
def join(links, one, other):
    """Join the sets of two roots."""
    if links[other] < links[one]:  # it has more elements
        one, other = other, one
    links[one] += links[other]
    links[other] = one


# ------------------------------------------------------------------------------------------------ type
@structref.register
class DisjointSetsType(StructType):
    """numba type of :class:`DisjointSets`."""


disjoint_sets_type = DisjointSetsType(
    fields_of(
        links=types.int64[::1],  # those of the elements, then room for more
        size=types.int64,
        n_sets=types.int64,
    )
)


@kernel
def new_disjoint_sets(n):
    """Return `n` elements, each in a set of its own."""
    self = new(disjoint_sets_type)
    self.links = new_words(n + 8)
    for element in range(n):
        self.links[element] = -1
    self.size = n
    self.n_sets = n
    return self


@inner
def _grow(self, n):
    links = new_words(n)
    copy_prefix(self.links, self.size, links)
    self.links = links
    return True


@method(DisjointSetsType, "reserve")
@quiet
def _reserve(self, n):
    if n > self.links.size and not _grow(self, n):
        return status.NO_MEMORY
    return status.OK


@method(DisjointSetsType, "add")
@quiet
def _add(self):
    """Add an element in a set of its own; return the element, or a status below 0."""
    element = self.size
    if element == self.links.size and not _grow(self, 2 * element):
        return status.NO_MEMORY
    self.links[element] = -1
    self.size = element + 1
    self.n_sets += 1
    return element


@method(DisjointSetsType, "find")
@quiet
def _find(self, element):
    return root_of(self.links, element)


@method(DisjointSetsType, "union")
@quiet
def _union(self, one, other):
    one, other = root_of(self.links, one), root_of(self.links, other)
    if one == other:
        return False
    join(self.links, one, other)
    self.n_sets -= 1
    return True


@method(DisjointSetsType, "union_many")
@quiet
def _union_many(self, ones, others):
    n_joined = 0
    for i in range(ones.size):
        n_joined += _union(self, ones[i], others[i])
    return n_joined


@method(DisjointSetsType, "connected")
@quiet
def _connected(self, one, other):
    return root_of(self.links, one) == root_of(self.links, other)


@method(DisjointSetsType, "set_size")
@quiet
def _set_size(self, element):
    return -self.links[root_of(self.links, element)]


@method(DisjointSetsType, "to_arrays")
@kernel
def _to_arrays(self):
    """Return the least element of the set of each element, ``(n,) int64``, in a tuple."""
    least_below = new_words(self.size)
    least = new_words(self.size)
    for element in range(self.size):
        least_below[element] = -1
    for element in range(self.size):
        root = root_of(self.links, element)
        if least_below[root] < 0:
            least_below[root] = element
        least[element] = least_below[root]
    return (least,)


@method(DisjointSetsType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    other.links = self.links.copy()
    other.size = self.size
    other.n_sets = self.n_sets
    return other


@method(DisjointSetsType, "nbytes")
@quiet
def _nbytes(self):
    return self.links.nbytes


@quiet
def _n_sets(self):
    return self.n_sets


@kernel
def state(self):
    """Return what the invariants are about."""
    return self.links.copy()


# ----------------------------------------------------------------------------------------------- class
class DisjointSets(Facade):
    """Elements 0, 1, 2, ... in sets that can only be joined.

    One thread at a time, readers included: a search halves paths. Inside ``@njit`` the same verbs are
    methods, and ``n_sets`` is a field. Nothing is checked there; :meth:`add` returns a status below 0 if
    there is no memory.

    Parameters
    ----------
    n : int, optional
        Number of elements, each in a set of its own.

    Examples
    --------
    >>> s = DisjointSets(4)
    >>> s.union(0, 2), s.union(2, 0)
    (True, False)
    >>> s.connected(0, 2), s.set_size(2), s.add()
    (True, 2, 4)
    >>> s
    <DisjointSets of 5 in 4 sets>
    """

    __slots__ = ()

    def __new__(cls, n=0):
        return cls._like(new_disjoint_sets(cls._room(n, "n")))

    @classmethod
    def from_arrays(cls, others):
        """Build the sets in which each element i is together with ``others[i]``."""
        others = int64_array(others, "others")
        self = cls(others.size)
        self.union_many(np.arange(others.size), others)
        return self

    def to_arrays(self):
        """Return the least element of the set of each element, ``(n,) int64``, in a tuple."""
        return self._kernels.to_arrays(self)

    def _content(self):
        return self.to_arrays()

    def __repr__(self):
        return f"<{type(self).__name__} of {len(self)} in {self.n_sets} sets>"

    @property
    def n_sets(self):
        """Number of sets."""
        return _n_sets(self)

    def _element(self, element):
        element = int64(element, "element")
        if not 0 <= element < len(self):
            raise IndexError(f"element {element} is out of range for {len(self)} elements")
        return element

    def _elements(self, elements, name):
        elements = int64_array(elements, name)
        for end in (elements.min(), elements.max()) if elements.size else ():
            self._element(end)
        return elements

    def add(self):
        """Add an element in a set of its own, and return it."""
        element = self._kernels.add(self)
        self._done(element, "one more element")
        return element

    def reserve(self, n):
        """Make room for `n` elements in all."""
        self._done(self._kernels.reserve(self, self._room(n, "n")), f"{n} elements")

    def find(self, element):
        """Return the element that stands for the set of `element`, until that set is joined with another."""
        return self._kernels.find(self, self._element(element))

    def union(self, one, other):
        """Join the sets of two elements; return whether they were two."""
        return self._kernels.union(self, self._element(one), self._element(other))

    def union_many(self, ones, others):
        """Join the sets of ``ones[i]`` and ``others[i]``, for every i; return the number of sets fewer."""
        ones, others = self._elements(ones, "ones"), self._elements(others, "others")
        if ones.size != others.size:
            raise ValueError(f"{ones.size} ones but {others.size} others")
        return self._kernels.union_many(self, ones, others)

    def connected(self, one, other):
        """Return whether two elements are in the same set."""
        return self._kernels.connected(self, self._element(one), self._element(other))

    def set_size(self, element):
        """Return the number of elements in the set of `element`."""
        return self._kernels.set_size(self, self._element(element))

    def _check(self):
        """Assert the numbered invariants of the module docstring."""
        links, size = state(self).tolist(), len(self)
        assert 0 <= size <= len(links), "1: size"
        assert all(link < size and link != element for element, link in enumerate(links[:size])), "1: links"
        elements_below, depths = {}, {}
        for element in range(size):
            root, depth = element, 0
            while links[root] >= 0:
                root, depth = links[root], depth + 1
                assert depth <= size, f"2: element {element} is on a cycle"
            elements_below[root] = elements_below.get(root, 0) + 1
            depths[root] = max(depths.get(root, 0), depth)
        for root, n in elements_below.items():
            assert 2 ** depths[root] <= n, f"2: the paths to {root}"
            assert links[root] == -n, f"3: the size of the set of {root}"
        assert self.n_sets == len(elements_below), "4: n_sets"


bind(DisjointSetsType, DisjointSets)


# ------------------------------------------------------------------------------------------------- use
@njit(cache=True)
def spanning_tree(sets, left, right, cheapest_first):
    """Return which edges of a graph are in its least spanning tree, ``(n,) bool`` (Kruskal).

    Edge i joins the nodes ``left[i]`` and ``right[i]``. The nodes are the elements of `sets`; before the call
    each is in a set of its own.

    Examples
    --------
    >>> left, right, cost = np.array([0, 1, 2, 0]), np.array([1, 2, 0, 3]), np.array([5, 1, 2, 9])
    >>> spanning_tree(DisjointSets(4), left, right, np.argsort(cost))
    array([False,  True,  True,  True])
    """
    chosen = np.zeros(left.size, np.bool_)
    for edge in cheapest_first:
        chosen[edge] = sets.union(left[edge], right[edge])
    return chosen
