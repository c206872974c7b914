"""Hash tables: ``IntMap`` and ``IntSet`` of integers, ``ByteCounter`` of byte strings.

In folders of containers, ``<name>.py`` has the class in Python; its docstring draws the arrays. The kernels
and the type are in ``<name>_kernels.py``, or in several modules ``<name>_...``.
"""
