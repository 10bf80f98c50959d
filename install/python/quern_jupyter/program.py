"""The quern program."""

import shutil

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel


def path(*kernelspecs):
    """Returns the program of the first kernelspec that exists, also of the one named quern, or else the one on PATH."""
    for name in (*kernelspecs, "quern"):
        if name:
            try:
                spec = KernelSpecManager().get_kernel_spec(name)
                return spec.argv[0].replace("{resource_dir}", spec.resource_dir)
            except NoSuchKernel:
                continue
    return shutil.which("quern") or "quern"
