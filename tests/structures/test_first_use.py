import sys

import pytest

import structures as st
from structures.compiling.dispatchers import Dispatcher


def late_kernels():
    modules = [module for name, module in sys.modules.items() if name.startswith("structures.")]
    kernels = {
        kernel for module in modules for kernel in vars(module).values() if isinstance(kernel, Dispatcher)
    }
    return {kernel for kernel in kernels if kernel.name == "late"}


def test_everything_that_is_compiled_late():
    containers = [
        st.IntMap(),
        st.MaxHeap(),
        st.CountBuckets(),
        st.IndexedMinHeap(2),
        st.SortedMap(),
        st.ByteCounter(),
        st.IntSet(),
        st.Deque(),
        st.Heap(),
        st.TokenList([1, 2]),
    ]
    containers[0][5] = 3
    st.warmup(*containers)
    assert len(late_kernels()) > 10
    assert not [kernel.__name__ for kernel in late_kernels() if not kernel.overloads]
    assert list(containers[0].items()) == [(5, 3)]
    assert not any(len(each) for each in containers[1:-1])


def test_a_class():
    with pytest.raises(TypeError, match=r"not classes: pass MaxHeap\(\)"):
        st.warmup(st.MaxHeap)
