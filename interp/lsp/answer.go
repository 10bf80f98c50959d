package lsp

import (
	"context"
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/quernlab/quern/interp/complete"
	"github.com/quernlab/quern/interp/format"
	"github.com/quernlab/quern/interp/inspect"
	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/symbols"
	"github.com/quernlab/quern/interp/vet"
)

// A before is a session with the cells above one.
type before struct {
	*vet.Session
	cells []string // their texts
	dir   string
}

// above returns a session with the cells above a cell. It is kept until one of them changes.
func (s *server) above(ctx context.Context, d *document, cell int) (*before, error) {
	var texts []string
	for _, t := range d.cells[:cell] {
		if !t.ignored {
			texts = append(texts, t.content)
		}
	}
	if b := s.before; b != nil && b.dir == d.dir() && slices.Equal(b.cells, texts) {
		return b, nil
	}
	session, err := vet.NewSession(d.dir(), s.modules)
	if err != nil {
		return nil, err
	}
	for i, t := range texts {
		if _, err := session.Check(ctx, vet.Cell{Number: i + 1, Source: t}); err != nil {
			return nil, err
		}
	}
	s.before = &before{session, texts, d.dir()}
	return s.before, nil
}

func (b *before) hover(src string, offset int) *hover {
	if usage, doc, ok := magic.DocAt(src, offset, b.Checker().Known); ok {
		return &hover{Contents: markdown("`" + usage + "`\n\n" + doc)}
	}
	d, ok := inspect.At(b.Checker(), symbols.Doc, magic.Blank(src, b.Checker().Known), offset, 0)
	if !ok {
		return nil
	}
	return &hover{Contents: markdown(d.Markdown())}
}

func (b *before) complete(t *text, offset int, encoding string, snippets bool) completionList {
	inString := func(s complete.String, prefix string) []complete.Item { return complete.Files(b.dir, s, prefix) }
	start, end, items := complete.InCell(b.Checker(), symbols.Paths(), t.content, offset, inString)
	list := completionList{Items: []completionItem{}}
	for i, item := range items {
		c := completionItem{
			Label: item.Text, Kind: completionKinds[item.Kind], Detail: item.Type, SortText: fmt.Sprintf("%04d", i),
			TextEdit: textEdit{t.place(start, end, encoding), item.Text},
		}
		if item.Kind != "path" {
			c.Data = &completedAt{t.uri, c.TextEdit.Range.Start}
		}
		if snippets && item.Snippet != "" {
			c.Format, c.TextEdit.NewText = snippetFormat, item.Snippet
		}
		list.Items = append(list.Items, c)
	}
	return list
}

// resolve adds the documentation of a completion, as if its name stood in the cell. The cell may have changed since, in or behind
// the name.
func (s *server) resolve(ctx context.Context, item *completionItem) error {
	if item.Data == nil {
		return nil
	}
	d := s.documentOf(item.Data.URI)
	if d == nil {
		return fmt.Errorf("completionItem/resolve: the document %s has not been opened", item.Data.URI)
	}
	cell, offset, ok := d.find(item.Data.URI, item.Data.Position, s.encoding)
	if !ok {
		return nil
	}
	b, err := s.above(ctx, d, cell)
	if err != nil {
		return err
	}
	content := d.cells[cell].content
	command := len(content[offset:]) - len(strings.TrimLeft(content[offset:], "%"))
	after := content[nameEnd(content, offset+command):]
	for _, text := range []string{item.Label, item.Label + ": nil"} { // the second is for fields in a literal
		if h := b.hover(content[:offset]+text+after, offset+len(item.Label)); h != nil {
			item.Documentation = &h.Contents
			break
		}
	}
	return nil
}

func (b *before) signature(src string, offset int) *signatureHelp {
	found, ok := inspect.SignatureAt(b.Checker(), symbols.Doc, magic.Blank(src, b.Checker().Known), offset)
	if !ok {
		return nil
	}
	s := signatureInformation{Label: found.Declaration, Documentation: markdown(found.Doc), Parameters: []parameterInformation{}}
	for _, p := range found.Parameters {
		s.Parameters = append(s.Parameters, parameterInformation{found.Declaration[p[0]:p[1]]})
	}
	return &signatureHelp{Signatures: []signatureInformation{s}, Parameter: found.Active}
}

// format returns the edits that format the cells of a document.
func (s *server) format(ctx context.Context, d *document, uri string) ([]textEdit, error) {
	edits := []textEdit{}
	for i, t := range d.cells {
		if t.ignored || t.uri != uri {
			continue
		}
		b, err := s.above(ctx, d, i)
		if err != nil {
			return nil, err
		}
		formatter := format.Formatter{Known: b.Checker().Known}
		content := strings.TrimRight(t.content, "\n")
		formatted, err := formatter.Cell(content)
		if err != nil {
			return nil, fmt.Errorf("format: cell %d: %w", i+1, err)
		}
		if formatted != content {
			edits = append(edits, textEdit{t.place(0, len(content), s.encoding), formatted})
		}
	}
	return edits, nil
}

// hints shows the types of variables that := and range define.
func (a *analysis) hints(d *document, uri string, within *textRange, encoding string) []inlayHint {
	hints := []inlayHint{}
	for _, n := range a.names {
		t := d.cells[n.cell]
		if n.typed == "" || t.uri != uri {
			continue
		}
		at := t.place(n.end, n.end, encoding).Start
		if within == nil || within.Start.Line <= at.Line && at.Line <= within.End.Line {
			hints = append(hints, inlayHint{Position: at, Label: n.typed, Kind: 1, PaddingLeft: true})
		}
	}
	return hints
}

// tokens encodes the names of a document as the protocol has it: for each token five numbers, with its position relative to
// the token before.
func (a *analysis) tokens(d *document, uri, encoding string) semanticTokens {
	tokens := semanticTokens{Data: []int{}}
	var last position
	for _, n := range a.names {
		t := d.cells[n.cell]
		kind := slices.Index(tokenTypes, n.kind())
		if t.uri != uri || kind < 0 || n.unnamed {
			continue
		}
		r := t.place(n.start, n.end, encoding)
		column := r.Start.Character
		if r.Start.Line == last.Line {
			column -= last.Character
		}
		tokens.Data = append(tokens.Data, r.Start.Line-last.Line, column, r.End.Character-r.Start.Character, kind, n.modifiers())
		last = r.Start
	}
	return tokens
}

// kind returns the type of the semantic token for a name.
func (n name) kind() string {
	switch o := n.object.(type) {
	case nil:
		return "variable"
	case *types.PkgName:
		return "namespace"
	case *types.TypeName:
		if _, ok := types.Unalias(o.Type()).(*types.TypeParam); ok {
			return "typeParameter"
		}
		return "type"
	case *types.Func:
		if o.Signature().Recv() != nil {
			return "method"
		}
		return "function"
	case *types.Builtin:
		return "function"
	case *types.Var:
		switch o.Kind() {
		case types.FieldVar:
			return "property"
		case types.ParamVar, types.RecvVar, types.ResultVar:
			return "parameter"
		}
		return "variable"
	case *types.Const, *types.Nil:
		return "variable"
	}
	return "" // a label
}

func (n name) modifiers() (bits int) {
	set := func(name string) { bits |= 1 << slices.Index(tokenModifiers, name) }
	if n.defines {
		set("definition")
	}
	if _, ok := n.object.(*types.Const); ok {
		set("readonly")
	}
	if n.object != nil && (n.object.Parent() == types.Universe || n.object.Pkg() != nil && n.key == "") {
		set("defaultLibrary")
	}
	return bits
}

// diagnostics returns those of all cells, by their documents.
func (a *analysis) diagnostics(d *document, encoding string) map[string][]diagnostic {
	all := map[string][]diagnostic{}
	for _, t := range d.cells {
		all[t.uri] = []diagnostic{}
	}
	add := func(t *text, start, end, severity int, message string) {
		all[t.uri] = append(all[t.uri], diagnostic{t.place(start, end, encoding), severity, "quern", message})
	}
	for _, f := range a.findings {
		t := d.cells[min(max(f.Cell-1, 0), len(d.cells)-1)]
		start := offsetOf(t.content, f.Line, f.Column)
		severity := severityError
		if f.Warning {
			severity = severityWarning
		}
		add(t, start, tokenEnd(t.content, start), severity, f.Message)
	}
	for _, u := range a.unread {
		t := d.cells[u.cell]
		add(t, u.start, u.end, severityInformation, fmt.Sprintf("%s is not read in this cell: if it is not nil, the cell fails", t.content[u.start:u.end]))
	}
	return all
}

// tokenEnd returns the end of the identifier or number at an offset, or of its one character.
func tokenEnd(src string, offset int) int {
	end := nameEnd(src, offset)
	if end == offset && offset < len(src) && src[offset] != '\n' {
		_, size := utf8.DecodeRuneInString(src[offset:])
		end += size
	}
	return end
}

// nameEnd returns the end of the letters and digits at an offset.
func nameEnd(src string, offset int) int {
	return len(src) - len(strings.TrimLeftFunc(src[offset:], func(r rune) bool { return token.IsIdentifier("x" + string(r)) }))
}

// locations returns places for the client.
func locations(d *document, places []place, encoding string) []location {
	list := []location{}
	for _, p := range places {
		t := d.cells[p.cell]
		list = append(list, location{t.uri, t.place(p.start, p.end, encoding)})
	}
	return list
}

// renamedEdits returns the change that gives names another text.
func renamedEdits(d *document, names []name, to, encoding string) workspaceEdit {
	edit := workspaceEdit{map[string][]textEdit{}}
	for _, n := range names {
		t := d.cells[n.cell]
		start, end, text := n.renamed(to)
		edit.Changes[t.uri] = append(edit.Changes[t.uri], textEdit{t.place(start, end, encoding), text})
	}
	return edit
}
