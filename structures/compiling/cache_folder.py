"""May the folder of the cache be trusted? Who writes to it chooses what this process runs.

numba's cache is made of pickles and machine code. So a folder that other users can write to is not used.
"""

from __future__ import annotations

import functools
import os
import stat
from pathlib import Path


@functools.cache
def others_may_write(folder: str, source: str) -> bool:
    """Return whether others than this user, and the owner of a source file, can write to its cache folder.

    Parameters
    ----------
    folder : str
        The cache folder. It and the folder that it is in are looked at.
    source : str
        The source file of the compiled functions: who owns it is trusted, as root is.

    Returns
    -------
    bool
        False where the system does not say, as on Windows.

    Complexity
    ----------
    Three looks at the disk, once for each folder and file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     others_may_write(folder, __file__)
    False
    """
    if not hasattr(os, "getuid"):
        return False
    trusted = {0, os.getuid(), os.stat(source).st_uid}
    own, above = (os.stat(each) for each in (folder, Path(folder).parent))
    if {own.st_uid, above.st_uid} - trusted or own.st_mode & stat.S_IWOTH:
        return True
    # With the sticky bit, as in /tmp, nobody can replace what belongs to others.
    return bool(above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX)
