"""How tests fork and start processes: a child always ends, and nobody waits for it for ever.

A forked child that raised would go on as a second test process, on the pipe of the first one.
"""

import os
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable


class Child(subprocess.Popen):
    """A process that is killed where a ``with`` of it ends by an error, and if it runs too long."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self._alarm = threading.Timer(540, self.kill)
        self._alarm.daemon = True
        self._alarm.start()

    def wait(self, timeout=None):
        code = super().wait(timeout)
        self._alarm.cancel()
        self._alarm.join()
        return code

    def __exit__(self, kind, *error):
        if kind is not None:
            self.kill()
        super().__exit__(kind, *error)


def fork_and_run(function: Callable[[], int], seconds: float = 60) -> int:
    """Run a function in a forked process.

    Parameters
    ----------
    function : callable
        It takes nothing and returns an exit code.
    seconds : float
        The child is killed after so long.

    Returns
    -------
    int
        The exit code: 1 if the function raised, which is printed; -9 if the child was killed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
        child = os.fork()
    if not child:
        code = 1
        try:
            code = function()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    alarm = threading.Timer(seconds, os.kill, (child, signal.SIGKILL))
    alarm.start()
    status = os.waitpid(child, 0)[1]
    alarm.cancel()
    alarm.join()
    return os.waitstatus_to_exitcode(status)
