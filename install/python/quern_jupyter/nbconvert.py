"""Go programs with nbconvert --to script."""

import pathlib
import subprocess
import tempfile

import nbformat
from nbconvert.exporters import Exporter, TemplateExporter
from nbconvert.utils.exceptions import ConversionException

from quern_jupyter.program import path


class GoExporter(TemplateExporter):
    """Converts a notebook to the main.go of quern export.

    nbconvert --to script selects it for notebooks whose language is Go, as saved by
    Jupyter; --to go accepts any notebook.

    If the notebook cannot be converted, it raises a ConversionException that names
    the cells and the reasons.
    """

    file_extension = ".go"
    output_mimetype = "text/x-go"

    def from_notebook_node(self, nb, resources=None, **kw):
        nb, resources = Exporter.from_notebook_node(self, nb, resources, **kw)  # --execute, for instance
        name = resources["metadata"].get("name") or "notebook"
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, f"{pathlib.Path(name).name}.ipynb")
            nbformat.write(nb, source)
            made = subprocess.run([path(nb.metadata.get("kernelspec", {}).get("name")), "export", str(source), "-o", folder], capture_output=True, text=True, check=False)
            if made.returncode != 0:
                raise ConversionException(made.stderr.strip().replace(f"{source}: ", ""))
            return pathlib.Path(folder, "main.go").read_text(encoding="utf-8"), resources
