"""How kernels are compiled: lazily, without the GIL, cached on disk and never stale.

===================  ==================================================================================
module               what it is about
===================  ==================================================================================
``jit``              the decorators: ``kernel``, ``quiet``, ``inner``, ``late``
``dispatchers``      what Python calls, and what compiled code calls
``inside_code``      code that compiled callers link in
``late_code``        code that is compiled when it is first reached
``quick_compiling``  what takes less time of the compiler
``digests``          after a change of the sources, cached code is not used any more
``stamps``           nor is the code of callers that make their containers
``cache_folder``     which folder is used, and whose turn it is to write to it
``numba_private``    the private names of numba that we use
``plain``            kernels without those names
``without_jit``      kernels and containers that are interpreted, for debuggers
===================  ==================================================================================
"""
