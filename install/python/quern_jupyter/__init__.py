"""Support for Go notebooks in three Jupyter tools.

papermill writes parameters into a notebook in the notebook's language; module
papermill adds Go. nbconvert --to script concatenates the cells of a notebook, which
is not a valid Go file; module nbconvert uses quern export instead. Both tools find
this package by its entry points. JupyterLab's code formatter formats Go with quern fmt
through module code_formatter, a server extension.
"""


def _jupyter_server_extension_points():
    return [{"module": "quern_jupyter.code_formatter"}]
