// Package lsp is a language server for cells: it speaks the Language Server Protocol 3.17 over a stream, and answers with the
// checker that sessions use. No cell runs, and no kernel is needed.
//
//	server.go    Serve: the messages, in their order, and diagnostics when none are waiting
//	protocol.go  the types of the messages
//	document.go  Notebooks and plain documents as lists of cells, and their changes
//	names.go     which names in all cells denote the same object
//	answer.go    hover, completion, signatures, formatting, inlay hints, semantic tokens
//	rename.go    definition, references and renaming across cells
//
// # Cells
//
// A client that knows notebooks, such as VS Code or Neovim, opens one with notebookDocument/didOpen, and each cell is a
// document. Others, such as jupyterlab-lsp, join the cells of a notebook to one document; there, two or more blank lines
// outside of brackets, which gofmt never leaves within code, separate the cells.
//
// A cell sees what the cells above it define, as when the notebook runs once from top to bottom. [Serve] checks all of them
// after each change, which takes some milliseconds a cell.
package lsp
