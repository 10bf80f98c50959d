package lsp

// The types of the messages, as far as the server uses their fields: see
// https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/.

// A position is a place in a document. character counts UTF-16 code units, or bytes if the client has agreed to that.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string    `json:"uri"`
	Range textRange `json:"range"`
}

type textEdit struct {
	Range   textRange `json:"range"`
	NewText string    `json:"newText"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

type documentID struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
}

type textDocument struct {
	documentID
	LanguageID string `json:"languageId"`
	Text       string `json:"text"`
}

// A contentChange replaces a range of a document, or all of it.
type contentChange struct {
	Range *textRange `json:"range"`
	Text  string     `json:"text"`
}

type didOpen struct {
	TextDocument textDocument `json:"textDocument"`
}

type didChange struct {
	TextDocument   documentID      `json:"textDocument"`
	ContentChanges []contentChange `json:"contentChanges"`
}

type didClose struct {
	TextDocument documentID `json:"textDocument"`
}

// codeCell is the kind of a notebook cell that has code.
const codeCell = 2

type notebookCell struct {
	Kind     int    `json:"kind"`
	Document string `json:"document"` // the URI of its text
	Metadata struct {
		Tags     []string `json:"tags"`
		Metadata struct { // of VS Code
			Tags []string `json:"tags"`
		} `json:"metadata"`
	} `json:"metadata"`
}

type didOpenNotebook struct {
	NotebookDocument struct {
		documentID
		Cells []notebookCell `json:"cells"`
	} `json:"notebookDocument"`
	CellTextDocuments []textDocument `json:"cellTextDocuments"`
}

type didChangeNotebook struct {
	NotebookDocument documentID `json:"notebookDocument"`
	Change           struct {
		Cells struct {
			Structure *struct {
				Array struct {
					Start       int            `json:"start"`
					DeleteCount int            `json:"deleteCount"`
					Cells       []notebookCell `json:"cells"`
				} `json:"array"`
				DidOpen  []textDocument `json:"didOpen"`
				DidClose []documentID   `json:"didClose"`
			} `json:"structure"`
			Data        []notebookCell `json:"data"`
			TextContent []struct {
				Document documentID      `json:"document"`
				Changes  []contentChange `json:"changes"`
			} `json:"textContent"`
		} `json:"cells"`
	} `json:"change"`
}

type didCloseNotebook struct {
	NotebookDocument documentID `json:"notebookDocument"`
}

type initializeParams struct {
	Capabilities struct {
		General struct {
			PositionEncodings []string `json:"positionEncodings"`
		} `json:"general"`
		TextDocument struct {
			Completion struct {
				CompletionItem struct {
					SnippetSupport bool `json:"snippetSupport"`
				} `json:"completionItem"`
			} `json:"completion"`
		} `json:"textDocument"`
	} `json:"capabilities"`
}

// atPosition are the parameters of all requests about a document: some have a position, a range or a new name.
type atPosition struct {
	TextDocument documentID `json:"textDocument"`
	Position     position   `json:"position"`
	Range        *textRange `json:"range"`
	NewName      string     `json:"newName"`
	Context      struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

type diagnostic struct {
	Range    textRange `json:"range"`
	Severity int       `json:"severity"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
}

// The severities of diagnostics.
const (
	severityError = 1 + iota
	severityWarning
	severityInformation
)

type publishDiagnostics struct {
	URI         string       `json:"uri"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

func markdown(text string) markup { return markup{"markdown", text} }

type hover struct {
	Contents markup     `json:"contents"`
	Range    *textRange `json:"range,omitempty"`
}

type completionItem struct {
	Label         string       `json:"label"`
	Kind          int          `json:"kind"`
	Detail        string       `json:"detail,omitempty"`
	Documentation *markup      `json:"documentation,omitempty"` // in the answer of completionItem/resolve
	SortText      string       `json:"sortText"`
	Format        int          `json:"insertTextFormat,omitempty"` // snippetFormat, or 0
	TextEdit      textEdit     `json:"textEdit"`
	Data          *completedAt `json:"data,omitempty"`
}

// completedAt is where the name that a completion replaces begins. The client sends it back.
type completedAt struct {
	URI      string   `json:"uri"`
	Position position `json:"position"`
}

// snippetFormat is the format of a text with places to fill in.
const snippetFormat = 2

type completionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []completionItem `json:"items"`
}

// completionKinds are the kinds of completions by those of package complete.
var completionKinds = map[string]int{
	"function": 3, "field": 5, "instance": 6, "type": 7, "module": 9, "keyword": 14, "magic": 14, "path": 17, "label": 20, "const": 21,
}

type signatureHelp struct {
	Signatures []signatureInformation `json:"signatures"`
	Active     int                    `json:"activeSignature"`
	Parameter  int                    `json:"activeParameter"`
}

type signatureInformation struct {
	Label         string                 `json:"label"`
	Documentation markup                 `json:"documentation"`
	Parameters    []parameterInformation `json:"parameters"`
}

type parameterInformation struct {
	Label string `json:"label"`
}

type highlight struct {
	Range textRange `json:"range"`
}

type inlayHint struct {
	Position    position `json:"position"`
	Label       string   `json:"label"`
	Kind        int      `json:"kind"`
	PaddingLeft bool     `json:"paddingLeft"`
}

type semanticTokens struct {
	Data []int `json:"data"`
}

// The legend of the semantic tokens.
var (
	tokenTypes     = []string{"namespace", "type", "typeParameter", "parameter", "variable", "property", "function", "method"}
	tokenModifiers = []string{"definition", "readonly", "defaultLibrary"}
)

// capabilities is what the server can do.
func capabilities(encoding string) map[string]any {
	return map[string]any{
		"positionEncoding":           encoding,
		"textDocumentSync":           map[string]any{"openClose": true, "change": 2},
		"notebookDocumentSync":       map[string]any{"notebookSelector": []any{map[string]any{"notebook": "*", "cells": []any{map[string]any{"language": "go"}}}}},
		"hoverProvider":              true,
		"completionProvider":         map[string]any{"triggerCharacters": []string{".", "/", `"`, "%"}, "resolveProvider": true},
		"signatureHelpProvider":      map[string]any{"triggerCharacters": []string{"(", ","}},
		"definitionProvider":         true,
		"referencesProvider":         true,
		"documentHighlightProvider":  true,
		"renameProvider":             map[string]any{"prepareProvider": true},
		"inlayHintProvider":          true,
		"documentFormattingProvider": true,
		"semanticTokensProvider":     map[string]any{"legend": map[string]any{"tokenTypes": tokenTypes, "tokenModifiers": tokenModifiers}, "full": true},
	}
}
