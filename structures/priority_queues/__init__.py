"""Priority queues: ``MaxHeap``, ``MinHeap``, ``IndexedMaxHeap``, ``IndexedMinHeap`` and ``CountBuckets``.

The first two are in the modules ``multiset_heap...``, the next two in ``indexed_heap...``.
"""
