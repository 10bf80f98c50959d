"""quern lsp for jupyterlab-lsp.

The server's part of that extension, jupyter-lsp, calls the entry points of jupyter_lsp_spec_v1
to find language servers.
"""

from quern_jupyter import program


def spec(manager):
    """Describes the language server, as jupyter-lsp's schema has it."""
    return {
        "quern": {
            "version": 2,
            "argv": [program.path(), "lsp"],
            "languages": ["go"],
            "mime_types": ["text/x-go"],
            "display_name": "quern lsp",
            "requires_documents_on_disk": False,
        }
    }
