"""What every container is built on: its numba type, and its class in Python.

===============  ==================================================================================
module           what it is about
===============  ==================================================================================
``in_njit``      methods, constructors and error messages in compiled code
``locks``        calls from several threads take turns
``struct_type``  numba types of containers: their fields and methods, how kernels get them
``record``       fields that kernels get as one argument
``container``    the base of the classes in Python; operators and loops in compiled code
``mapping``      those with the methods of a dict
``queue``        those that also have an order: the top is read and removed
===============  ==================================================================================
"""
