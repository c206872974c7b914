import numpy as np
from numba import njit
import structures as st
def show(name, fn, *a):
    try: fn(*a)
    except Exception as ex: print(name, repr(ex))
K=np.array([3,3]); C=np.array([1,2])
show("from_arrays", njit(lambda k,c: st.CountBuckets.from_arrays(k,c)), K, C)
show("len", njit(lambda k,c: len(st.CountBuckets.from_arrays(k,c))), K, C)
show("noarg", njit(lambda: len(st.CountBuckets.from_arrays(np.array([3,3]),np.array([1,2])))))
