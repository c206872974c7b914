"""Priority queues: ``MaxHeap``, ``MinHeap``, ``IndexedMaxHeap``, ``IndexedMinHeap`` and ``CountBuckets``.

The first two are in ``multiset_heap``, the next two in ``indexed_heap``; ``tournament`` is what all four are.
"""
