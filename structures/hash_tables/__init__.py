"""Hash tables: ``IntMap`` and ``IntSet`` of integers, ``ByteCounter`` of byte strings.

In each folder of containers, ``<name>.py`` has the Python class; its docstring draws the arrays. The kernels
and the numba type are in ``<name>_kernels.py``, or in several modules ``<name>_...``.
"""
