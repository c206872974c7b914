"""What every container is built on: its numba type, and its class in Python.

=================  ==================================================================================
module             what it is about
=================  ==================================================================================
``struct_type``    numba types of containers: their fields and methods, how kernels get them
``bound_methods``  ``heap.add`` in compiled code
``operators``      operators and loops in compiled code
``made_inside``    containers that compiled code makes
``mistakes``       clear messages for the usual mistakes in compiled code
``claims``         calls from several threads of Python take turns
``fields``         exchange of two array fields
``facade``         the base of the classes in Python
``keyed``          those with the methods of a dict
``counted``        those with an order, too: the top is read and removed
=================  ==================================================================================
"""
