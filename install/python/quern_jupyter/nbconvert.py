"""Go programs by nbconvert --to script."""

import pathlib
import shutil
import subprocess
import tempfile

import nbformat
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbconvert.exporters import Exporter, TemplateExporter
from nbconvert.utils.exceptions import ConversionException


def command(nb):
    """The quern that the notebook's kernel is, or else the one in the path."""
    for name in (nb.metadata.get("kernelspec", {}).get("name"), "quern"):
        if name:
            try:
                return KernelSpecManager().get_kernel_spec(name).argv[0]
            except NoSuchKernel:
                continue
    return shutil.which("quern") or "quern"


class GoExporter(TemplateExporter):
    """What quern export makes of the notebook: a main.go.

    nbconvert --to script finds it for a notebook that says it is Go, as Jupyter
    saves it; --to go takes any.

    A notebook that is no program is a ConversionException, which says which cells
    stand against it.
    """

    file_extension = ".go"
    output_mimetype = "text/x-go"

    def from_notebook_node(self, nb, resources=None, **kw):
        nb, resources = Exporter.from_notebook_node(self, nb, resources, **kw)  # --execute, for instance
        name = resources["metadata"].get("name") or "notebook"
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, f"{pathlib.Path(name).name}.ipynb")
            nbformat.write(nb, source)
            made = subprocess.run([command(nb), "export", str(source), "-o", folder], capture_output=True, text=True, check=False)
            if made.returncode != 0:
                raise ConversionException(made.stderr.strip().replace(f"{source}: ", ""))
            return pathlib.Path(folder, "main.go").read_text(encoding="utf-8"), resources
