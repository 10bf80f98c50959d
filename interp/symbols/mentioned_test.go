package symbols_test

import (
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/symbols"
)

// TestMentionedPackages: cells may import the packages whose types occur in the API of a compiled package of another author.
// Otherwise a module would import such a package from source, whose types are different ones.
func TestMentionedPackages(t *testing.T) {
	t.Parallel()
	importer := symbols.Importer(token.NewFileSet())
	for _, path := range symbols.Paths() {
		if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") || strings.HasPrefix(path, "github.com/quernlab/") {
			continue
		}
		p, err := importer.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[*types.Package]bool{}
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			if !o.Exported() {
				continue
			}
			mentioned(o.Type(), map[types.Type]bool{}, func(other *types.Package) {
				if !seen[other] && !symbols.Has(other.Path()) && !strings.Contains(other.Path(), "internal/") {
					t.Errorf("%s.%s mentions a type of %s, which is not compiled in", path, name, other.Path())
				}
				seen[other] = true
			})
		}
	}
}

// mentioned calls visit with the packages of the named types in an exported declaration.
func mentioned(t types.Type, seen map[types.Type]bool, visit func(*types.Package)) {
	if seen[t] {
		return
	}
	seen[t] = true
	all := func(list ...types.Type) {
		for _, t := range list {
			mentioned(t, seen, visit)
		}
	}
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if t.Obj().Pkg() == nil {
			return
		}
		visit(t.Obj().Pkg())
		for m := range t.Methods() {
			if m.Exported() {
				all(m.Type())
			}
		}
		all(t.Underlying())
	case interface{ Elem() types.Type }: // pointers, slices, arrays and channels
		all(t.Elem())
		if m, ok := t.(*types.Map); ok {
			all(m.Key())
		}
	case *types.Signature:
		all(t.Params(), t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			all(v.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				all(f.Type())
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			all(m.Type())
		}
	}
}
