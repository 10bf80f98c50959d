"""quern lsp with a client that has the types of the protocol from its authors' description (lsprotocol)."""

import asyncio

import pytest
from conftest import TIMEOUT
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient
from quern_jupyter import language_server

CELLS = ["func Twice(x int) int { return 2 * x }", "n := Twice(1)", "n + missing"]
URIS = [f"vscode-notebook-cell:/nb.ipynb#{i}" for i in range(len(CELLS))]


def at(cell, line, character):
    return {"text_document": lsp.TextDocumentIdentifier(URIS[cell]), "position": lsp.Position(line, character)}


async def session(steps):
    """Starts the program that jupyter-lsp would start, opens the notebook and runs the steps."""
    client = LanguageClient("test", "1")
    diagnostics = asyncio.Queue()

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(parameters):
        diagnostics.put_nowait(parameters)

    program, *arguments = language_server.spec(None)["quern"]["argv"]
    await client.start_io(program, *arguments)
    started = await client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
    assert started.capabilities.notebook_document_sync is not None
    client.initialized(lsp.InitializedParams())
    client.notebook_document_did_open(lsp.DidOpenNotebookDocumentParams(
        lsp.NotebookDocument("file:///nb.ipynb", "jupyter-notebook", 1, [lsp.NotebookCell(lsp.NotebookCellKind.Code, uri) for uri in URIS]),
        [lsp.TextDocumentItem(uri, "go", 1, text) for uri, text in zip(URIS, CELLS)]))
    found = {}
    while len(found) < len(CELLS):
        parameters = await diagnostics.get()
        found[parameters.uri] = [d.message for d in parameters.diagnostics]
    await steps(client, found)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


def run(steps):
    asyncio.run(asyncio.wait_for(session(steps), 10 * TIMEOUT))


def test_diagnostics():
    async def steps(client, found):
        assert found == {URIS[0]: [], URIS[1]: [], URIS[2]: ["undefined: missing"]}
    run(steps)


def test_answers():
    async def steps(client, found):
        hover = await client.text_document_hover_async(lsp.HoverParams(**at(1, 0, 6)))
        assert "func Twice(x int) int" in hover.contents.value
        completion = await client.text_document_completion_async(lsp.CompletionParams(**at(1, 0, 8)))
        assert completion.items[0].label == "Twice"
        resolved = await client.completion_item_resolve_async(completion.items[0])
        assert "func Twice(x int) int" in resolved.documentation.value
        prepared = await client.text_document_prepare_rename_async(lsp.PrepareRenameParams(**at(1, 0, 6)))
        assert prepared.placeholder == "Twice"
        signature = await client.text_document_signature_help_async(lsp.SignatureHelpParams(**at(1, 0, 11)))
        assert signature.signatures[0].parameters[signature.active_parameter].label == "x int"
        definition = await client.text_document_definition_async(lsp.DefinitionParams(**at(1, 0, 6)))
        assert [d.uri for d in definition] == [URIS[0]]
        references = await client.text_document_references_async(
            lsp.ReferenceParams(context=lsp.ReferenceContext(include_declaration=True), **at(0, 0, 5)))
        assert [r.uri for r in references] == URIS[:2]
        hints = await client.text_document_inlay_hint_async(lsp.InlayHintParams(
            lsp.TextDocumentIdentifier(URIS[1]), lsp.Range(lsp.Position(0, 0), lsp.Position(1, 0))))
        assert [h.label for h in hints] == ["int"]
        tokens = await client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(lsp.TextDocumentIdentifier(URIS[1])))
        assert len(tokens.data) == 2 * 5
        edit = await client.text_document_rename_async(lsp.RenameParams(new_name="Double", **at(1, 0, 6)))
        assert sorted(edit.changes) == URIS[:2]
        formatted = await client.text_document_formatting_async(lsp.DocumentFormattingParams(
            lsp.TextDocumentIdentifier(URIS[0]), lsp.FormattingOptions(4, insert_spaces=False)))
        assert not formatted
    run(steps)


def test_an_edit_changes_the_diagnostics():
    async def steps(client, found):
        client.notebook_document_did_change(lsp.DidChangeNotebookDocumentParams(
            lsp.VersionedNotebookDocumentIdentifier(version=2, uri="file:///nb.ipynb"),
            lsp.NotebookDocumentChangeEvent(cells=lsp.NotebookDocumentCellChanges(text_content=[lsp.NotebookDocumentCellContentChanges(
                lsp.VersionedTextDocumentIdentifier(version=2, uri=URIS[0]),
                [lsp.TextDocumentContentChangePartial(lsp.Range(lsp.Position(0, 5), lsp.Position(0, 10)), "Double")])]))))
        # Completion already sees the new name.
        completion = await client.text_document_completion_async(lsp.CompletionParams(**at(1, 0, 5)))
        names = [item.label for item in completion.items]
        assert "Double" in names and "Twice" not in names
    run(steps)


def test_errors_are_answers():
    async def steps(client, found):
        with pytest.raises(Exception, match="is not defined in a cell"):
            await client.text_document_rename_async(lsp.RenameParams(new_name="x", **at(0, 0, 13)))
    run(steps)
