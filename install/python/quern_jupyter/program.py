"""The quern program."""

import shutil

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel


def path(*kernelspecs):
    """Returns the program of the first kernelspec that exists, also of the one named quern, or else the one on PATH."""
    for name in (*kernelspecs, "quern"):
        if name:
            try:
                return KernelSpecManager().get_kernel_spec(name).argv[0]
            except NoSuchKernel:
                continue
    return shutil.which("quern") or "quern"
