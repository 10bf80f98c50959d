package lsp_test

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/quernlab/quern/kernel/notebook"
)

// No request at any place of a notebook, also while it is being typed, ends in an internal error.
func TestRequestsAnywhere(t *testing.T) {
	paths, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	methods := []string{"hover", "completion", "signatureHelp", "definition", "references", "documentHighlight", "prepareRename", "rename", "inlayHint", "semanticTokens/full", "formatting"}
	for _, path := range paths {
		n, err := notebook.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		var cells []string
		for _, c := range n.Cells {
			if c.Type == "code" {
				cells = append(cells, c.Source)
			}
		}
		c := connect(t)
		i := random.IntN(len(cells))
		cells[i] = cells[i][:random.IntN(len(cells[i])+1)] // as far as it has been typed
		c.open(cells...)
		for range 10 {
			k := random.IntN(len(cells))
			lines := strings.Split(cells[k], "\n")
			line := random.IntN(len(lines))
			params := object{
				"textDocument": object{"uri": cellURI(k)}, "position": object{"line": line, "character": random.IntN(len(lines[line]) + 1)},
				"newName": "renamed", "context": object{"includeDeclaration": true},
			}
			method := methods[random.IntN(len(methods))]
			var result any
			err := c.conn.Call(t.Context(), "textDocument/"+method, params, &result)
			if e, ok := err.(*jsonrpc2.Error); ok && e.Code == jsonrpc2.CodeInternalError || err != nil && !ok {
				t.Errorf("%s, %s at %v: %v", path, method, params, err)
			}
		}
	}
}
