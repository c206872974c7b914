"""Priority queues: ``MaxHeap``, ``MinHeap``, ``IndexedMaxHeap``, ``IndexedMinHeap`` and ``CountBuckets``.

The first two are in ``multiset_heap``, the next two in ``indexed_heap``; all four are tournaments
(``tournament``). ``CountBuckets`` is in ``count_buckets``.
"""
