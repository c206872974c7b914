"""The numba type of ``DisjointSets`` and its methods; the docstring of ``disjoint_sets`` draws the array."""

from types import MappingProxyType

from numba import types
from numba.experimental import structref

from structures import status
from structures.base.struct_type import StructType, fields_of, method, new, new_like
from structures.compiling.jit import inlined, inner, kernel, quiet
from structures.primitives.memory import MOST_ITEMS, copy_prefix, new_words
from structures.primitives.simd import larger, pointer_to


# ------------------------------------------------------------------------------ kernels on plain arrays
@inner
def root_of(links, element):
    """Return the root above an element; nothing changes."""
    above = pointer_to(links, element)[0]
    while above >= 0:
        element = above
        above = pointer_to(links, element)[0]
    return element


@inner
def find_root(links, element):
    """Return the root above an element, and halve the path to it."""
    above = pointer_to(links, element)[0]
    while above >= 0:
        higher = pointer_to(links, above)[0]
        if higher < 0:
            return above
        pointer_to(links, element)[0] = higher
        element = higher
        above = pointer_to(links, element)[0]
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

    changing_verbs = ("add", "find", "reserve", "union", "union_many")
    subjects = MappingProxyType({"connected": "element {} or {}", "union": "element {} or {}"})


disjoint_sets_type = DisjointSetsType(
    fields_of(
        links=types.int64[::1],  # the links of the elements, then room for more
        n_elements=types.int64,
        n_sets=types.int64,
    )
)


@inner
def _grow(self, n):
    links = new_words(n)
    copy_prefix(self.links, self.n_elements, links)
    self.links = links
    return True


@kernel
def new_disjoint_sets(n):
    """Return `n` elements, each in a set of its own."""
    n = larger(n, 0)
    self = new(disjoint_sets_type)
    self.links = new_words(larger(n, 8))
    for element in range(n):
        self.links[element] = -1
    self.n_elements = self.n_sets = n
    return self


@method(DisjointSetsType, "reserve")
@quiet
def _reserve(self, n):
    if n >= MOST_ITEMS:
        return status.NO_MEMORY
    if n > self.links.size and not _grow(self, n):
        return status.NO_MEMORY
    return status.OK


@method(DisjointSetsType, "add")
@quiet
def _add(self):
    """Add an element in a set of its own; return the element, or a status below 0."""
    element = self.n_elements
    if element == self.links.size and not _grow(self, 2 * element):
        return status.NO_MEMORY
    self.links[element] = -1
    self.n_elements = element + 1
    self.n_sets += 1
    return element


@inner
def _is_element(self, element):
    return element >= 0 and element < self.n_elements


@method(DisjointSetsType, "_before_find")
@method(DisjointSetsType, "_before_root")
@method(DisjointSetsType, "_before_size")
@quiet
def _before_find(self, element):
    return status.OK if _is_element(self, element) else status.OUT_OF_RANGE


@method(DisjointSetsType, "_before_connected")
@method(DisjointSetsType, "_before_union")
@quiet
def _before_union(self, one, other):
    return status.OK if _is_element(self, one) and _is_element(self, other) else status.OUT_OF_RANGE


@method(DisjointSetsType, "_before_union_many")
@quiet
def _before_union_many(self, ones, others):
    if ones.size != others.size:
        return status.UNEQUAL
    for i in range(ones.size):
        if _before_union(self, ones[i], others[i]) < 0:
            return status.OUT_OF_RANGE
    return status.OK


@method(DisjointSetsType, "find")
@quiet
def _find(self, element):
    return find_root(self.links, element)


@method(DisjointSetsType, "root")
@quiet
def _root(self, element):
    return root_of(self.links, element)


@method(DisjointSetsType, "union")
@inlined
def _union(self, one, other):
    one, other = find_root(self.links, one), find_root(self.links, other)
    if one == other:
        return False
    join(self.links, one, other)
    self.n_sets -= 1
    return True


@method(DisjointSetsType, "union_many")
@quiet
def _union_many(self, ones, others):
    """Join many pairs; return by how much `n_sets` falls, or a status if the arrays differ in length."""
    if ones.size != others.size:
        return status.OUT_OF_RANGE
    n_before = self.n_sets
    for i in range(ones.size):
        _union(self, ones[i], others[i])
    return n_before - self.n_sets


@method(DisjointSetsType, "connected")
@quiet
def _connected(self, one, other):
    return root_of(self.links, one) == root_of(self.links, other)


@method(DisjointSetsType, "size")
@quiet
def _size(self, element):
    return -self.links[root_of(self.links, element)]


@method(DisjointSetsType, "len")
@quiet
def _len(self):
    return self.n_elements


@quiet
def n_sets_of(self):
    """Return the number of sets."""
    return self.n_sets


@inner
def _write_labels(links, labels, label_of):
    """Write the number of the set of each element; `label_of` has those of the roots."""
    n = 0
    for element in range(labels.size):
        label_of[element] = -1
    for element in range(labels.size):
        root = root_of(links, element)
        if label_of[root] < 0:
            label_of[root] = n
            n += 1
        labels[element] = label_of[root]


@method(DisjointSetsType, "labels")
@kernel
def labels_of(self):
    """Return the number of the set of each element, ``(n,) int64``."""
    labels = new_words(self.n_elements)
    _write_labels(self.links, labels, new_words(self.n_elements))
    return labels


@method(DisjointSetsType, "to_arrays")
@kernel
def _to_arrays(self):
    return (labels_of(self),)


@kernel
def disjoint_sets_of(labels):
    """Return the sets of the elements with equal labels, or raise if a label is out of range."""
    for element in range(labels.size):
        if not 0 <= labels[element] < labels.size:
            raise ValueError("a label is out of range")
    self = new_disjoint_sets(labels.size)
    first_with = new_words(labels.size)
    for label in range(labels.size):
        first_with[label] = -1
    for element in range(labels.size):
        label = labels[element]
        if first_with[label] < 0:
            first_with[label] = element
        _union(self, first_with[label], element)
    return self


@method(DisjointSetsType, "equals")
@kernel
def _equals(self, other):
    """Return whether the same elements are together in both."""
    if self.n_elements != other.n_elements or self.n_sets != other.n_sets:
        return False
    labels, other_labels = labels_of(self), labels_of(other)
    element = 0
    while element < labels.size and labels[element] == other_labels[element]:
        element += 1
    return element == labels.size


@method(DisjointSetsType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    other.links = new_words(self.links.size)
    copy_prefix(self.links, self.n_elements, other.links)
    other.n_elements = self.n_elements
    other.n_sets = self.n_sets
    return other


@method(DisjointSetsType, "nbytes")
@quiet
def _nbytes(self):
    return self.links.nbytes


@kernel
def links_of(self):
    """Return a copy of the links, for ``_check()``."""
    return self.links[: self.n_elements].copy()
