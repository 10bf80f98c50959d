"""Go in JupyterLab's code formatter, the extension jupyterlab-code-formatter.

The extension calls formatters in the server. Its documented way to add one is an entry of
SERVER_FORMATTERS. This module is a server extension, which does that at the start of the
server if the code formatter is installed. A file in overrides.d makes the formatter the
default for Go.
"""

import subprocess

from quern_jupyter import program


def register():
    """Adds the formatter; without the code formatter it raises ImportError."""
    from jupyterlab_code_formatter.formatters import SERVER_FORMATTERS, BaseFormatter

    class GoFormatter(BaseFormatter):
        """Formats cells and Go files with quern fmt, which leaves commands as they are."""

        label = "Apply quern fmt (Go)"
        importable = True  # the menu shows it also if quern is installed later

        def format_code(self, code, notebook, **options):
            try:
                done = subprocess.run([program.path(), "fmt", "-"], input=code, capture_output=True, text=True, encoding="utf-8", check=False)
            except OSError as err:
                raise RuntimeError(f"cannot run quern: {err}; run quern install") from err
            if done.returncode != 0:
                raise RuntimeError(done.stderr.strip().removeprefix("quern: fmt: "))
            return done.stdout

    SERVER_FORMATTERS["quern"] = GoFormatter()


def _load_jupyter_server_extension(app):
    try:
        register()
    except ImportError:
        app.log.debug("quern_jupyter: jupyterlab-code-formatter is not installed")
