"""What the kernels of several containers share.

==============  =====================================================================================
module          what it is about
==============  =====================================================================================
``hashing``     hashes of keys, with a seed of the process; two ids packed into one key
``simd``        many lanes of int64 or int32 at a time; words of bytes, pointers, local memory
``byte_lanes``  many lanes of bytes at a time
``constants``   values that are part of compiled code
``words``       products and other words of arrays
``memory``      arrays for containers, copied and moved
``sorting``     keys sorted
``priorities``  priorities of all kinds as int64 numbers in the same order
==============  =====================================================================================
"""
