"""What the kernels of several containers share.

==============  =====================================================================================
module          what it is about
==============  =====================================================================================
``secret``      random words of the process, which hashes depend on
``hashing``     keys mixed for hash tables; two ids packed into one key
``simd``        many lanes of int64 at a time; words of bytes, pointers, local memory
``byte_lanes``  many lanes of bytes at a time
``lines``       a cache line at a time, as eight words or sixteen int32
``constants``   values that compiled code knows
``words``       products and other words of arrays
``memory``      arrays for containers, copied and moved
``sorting``     keys sorted
``priorities``  priorities of all kinds as int64 numbers in the same order
==============  =====================================================================================
"""
