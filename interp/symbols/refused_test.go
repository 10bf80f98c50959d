package symbols

import (
	"errors"
	"go/token"
	"go/types"
	"runtime"
	"testing"
)

// TestRefused checks that the names in the table exist in the package or as fields of its types.
func TestRefused(t *testing.T) {
	t.Parallel()
	importer := Importer(token.NewFileSet())
	for path, names := range refused {
		p, err := importer.Import(path)
		var unknown *UnknownPackageError
		switch {
		case errors.As(err, &unknown):
			t.Logf("%s is not a package of %s", path, runtime.Version())
			continue
		case err != nil:
			t.Fatal(err)
		}
		for name := range names {
			if p.Scope().Lookup(name) == nil && !hasField(p, name) {
				t.Errorf("%s has no %s", path, name)
			}
			if Refused(path, name) == "" {
				t.Errorf("%s.%s is refused without a reason", path, name)
			}
		}
	}
	if reason := Refused("fmt", "Println"); reason != "" {
		t.Errorf("fmt.Println is refused: %s", reason)
	}
}

func hasField(p *types.Package, field string) bool {
	for _, name := range p.Scope().Names() {
		s, ok := p.Scope().Lookup(name).Type().Underlying().(*types.Struct)
		if !ok {
			continue
		}
		for f := range s.Fields() {
			if f.Name() == field {
				return true
			}
		}
	}
	return false
}
