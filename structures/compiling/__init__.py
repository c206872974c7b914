"""How kernels are compiled: lazily, without the GIL, cached on disk and never stale.

=================  ==================================================================================
module             what it is about
=================  ==================================================================================
``numba_private``  the private names of numba that we use
``cache``          which folder holds compiled code, and why it never gets stale
``code``           code that compiled callers link in, or call when they first reach it
``dispatchers``    what Python calls, and what compiled code calls: the kinds of kernels
``without_jit``    kernels and containers that are interpreted, for debuggers
``jit``            the decorators: ``kernel``, ``quiet``, ``inlined``, ``inner``, ``late``
=================  ==================================================================================
"""
