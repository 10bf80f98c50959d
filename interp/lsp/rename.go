package lsp

import (
	"cmp"
	"context"
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"github.com/quernlab/quern/interp/module"
	"github.com/quernlab/quern/interp/vet"
)

// definition returns where the name at an offset is defined.
func (a *analysis) definition(cell, offset int) (places []place) {
	n, ok := a.at(cell, offset)
	if !ok {
		return nil
	}
	for _, other := range a.of(n.key) {
		if other.defines {
			places = append(places, other.place)
		}
	}
	if len(places) > 1 { // := of an existing variable and fields of the same name: the first is where it begins
		places = places[:1]
	}
	return places
}

// references returns all places where the object at an offset is named.
func (a *analysis) references(cell, offset int, definitions bool) (places []place) {
	n, ok := a.at(cell, offset)
	if !ok {
		return nil
	}
	for _, other := range a.of(n.key) {
		if definitions || !other.defines {
			places = append(places, other.place)
		}
	}
	return places
}

// rename returns the names that change if the object at an offset gets another one. It fails if any
// name would denote something else then, or if a cell had an error that it has not now.
func rename(ctx context.Context, d *document, a *analysis, cell, offset int, to string, modules module.Source) ([]name, error) {
	n, ok := a.at(cell, offset)
	switch {
	case !ok:
		return nil, fmt.Errorf("rename: there is no name here")
	case n.key == "" && isPackage(n):
		return nil, fmt.Errorf("rename: no cell imports %s: write import %q first", n.text, n.object.(*types.PkgName).Imported().Path())
	case n.key == "":
		return nil, fmt.Errorf("rename: %s is not defined in a cell", n.text)
	case !token.IsIdentifier(to) || to == "_":
		return nil, fmt.Errorf("rename: %q is not a name in Go", to)
	case to == n.text:
		return nil, nil
	}
	renamed := &document{uri: d.uri}
	for _, t := range d.cells {
		c := *t
		renamed.cells = append(renamed.cells, &c)
	}
	names := a.of(n.key)
	for _, n := range slices.Backward(names) {
		t := renamed.cells[n.cell]
		start, end, text := n.renamed(to)
		t.content = t.content[:start] + text + t.content[end:]
	}
	after, err := analyze(ctx, renamed, modules)
	if err != nil {
		return nil, err
	}
	if len(after.findings) > len(a.findings) {
		for _, f := range after.findings {
			if !slices.ContainsFunc(a.findings, func(old vet.Finding) bool { return old.Cell == f.Cell && old.Message == f.Message }) {
				return nil, fmt.Errorf("rename %s to %s: cell %d, line %d: %s", n.text, to, f.Cell, f.Line, f.Message)
			}
		}
	}
	if other, ok := a.differs(after); ok {
		return nil, fmt.Errorf("rename %s to %s: %s in cell %d would denote something else", n.text, to, cmp.Or(other.text, to), other.cell+1)
	}
	return names, nil
}

func isPackage(n name) bool {
	_, ok := n.object.(*types.PkgName)
	return ok
}

// renamed returns what replaces a part of its cell if the object of n gets another name.
func (n name) renamed(to string) (start, end int, text string) {
	if n.unnamed {
		return n.start, n.start, to + " "
	}
	return n.start, n.end, to
}

// differs returns a name that is bound to another definition in b, a document with the same names but for their text.
func (a *analysis) differs(b *analysis) (name, bool) {
	if len(a.names) != len(b.names) {
		return name{}, true
	}
	to, from := map[string]string{}, map[string]string{}
	for i, x := range a.names {
		y := b.names[i]
		outside := x.key == "" && (y.key != "" || x.text != y.text)
		if x.cell != y.cell || outside || x.key != "" && y.key == "" {
			return x, true
		}
		if x.key == "" {
			continue
		}
		if known, ok := to[x.key]; ok && known != y.key {
			return x, true
		}
		if known, ok := from[y.key]; ok && known != x.key {
			return x, true
		}
		to[x.key], from[y.key] = y.key, x.key
	}
	return name{}, false
}
