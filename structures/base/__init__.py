"""The base of every container: of its numba type, and of its Python class.

===============  ==================================================================================
module           content
===============  ==================================================================================
``in_njit``      methods, constructors and error messages in compiled code
``locks``        locks that serialize calls from several threads
``struct_type``  numba types of containers: their fields and methods, and how kernels get them
``record``       records: several fields that kernels get as one argument
``container``    the base of the Python classes; operators and loops in compiled code
``mapping``      containers with the methods of a dict
``queue``        containers that also have an order: the top is read and removed
===============  ==================================================================================
"""
