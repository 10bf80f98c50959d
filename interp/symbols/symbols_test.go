package symbols_test

import (
	"go/token"
	"go/types"
	"path"
	"reflect"
	"strings"
	"testing"

	bodies "github.com/quernlab/quern/interp/generic"
	"github.com/quernlab/quern/interp/symbols"
)

// TestComplete compares the tables with the types: each exported name that package reflect can represent is
// in the table and matches its type.
func TestComplete(t *testing.T) {
	packages := symbols.Packages()
	importer := symbols.Importer(token.NewFileSet())
	names := 0
	for _, importPath := range symbols.Paths() {
		pkg, err := importer.Import(importPath)
		if err != nil {
			t.Errorf("import %s: %v", importPath, err)
			continue
		}
		table, ok := packages[path.Join(importPath, pkg.Name())]
		if !ok {
			t.Errorf("%s has no table", importPath)
			continue
		}
		for _, name := range pkg.Scope().Names() {
			object := pkg.Scope().Lookup(name)
			if !object.Exported() || pkg == types.Unsafe {
				continue
			}
			if generic(object) {
				if _, body := bodies.Source(importPath); strings.Contains(importPath, ".") && !body {
					t.Errorf("%s.%s is generic and has no body in interp/generic: no cell can use it", importPath, name)
				}
				continue
			}
			names++
			value, ok := table[name]
			if !ok {
				t.Errorf("%s.%s is missing", importPath, name)
				continue
			}
			if problem := mismatch(object, value); problem != "" {
				t.Errorf("%s.%s: %s", importPath, name, problem)
			}
		}
	}
	if names < 5000 {
		t.Errorf("only %d names seen", names)
	}
	t.Logf("%d names", names)
}

// generic reports whether package reflect cannot represent the object: a generic function or type, or a
// constraint.
func generic(object types.Object) bool {
	switch o := object.(type) {
	case *types.Func:
		return o.Signature().TypeParams().Len() > 0
	case *types.TypeName:
		if g, ok := o.Type().(interface{ TypeParams() *types.TypeParamList }); ok && g.TypeParams().Len() > 0 {
			return true
		}
		i, ok := o.Type().Underlying().(*types.Interface)
		return ok && !i.IsMethodSet()
	}
	return false
}

// mismatch returns how a symbol differs from its type; "" if it does not. It compares kinds and numbers of
// parameters, fields and methods.
func mismatch(object types.Object, value reflect.Value) string {
	switch o := object.(type) {
	case *types.Func:
		if value.Kind() != reflect.Func {
			return "is a " + value.Kind().String() + ", not a function"
		}
		if s := o.Signature(); value.Type().NumIn() != s.Params().Len() || value.Type().NumOut() != s.Results().Len() {
			return "is " + value.Type().String() + ", not " + s.String()
		}
	case *types.Var:
		if !value.CanSet() {
			return "is a variable that cannot be set"
		}
	case *types.TypeName:
		if value.Kind() != reflect.Pointer || !value.IsNil() {
			return "is not a type"
		}
		t := value.Type().Elem()
		if i, ok := o.Type().Underlying().(*types.Interface); ok && i.NumMethods() != t.NumMethod() {
			return "has the methods of " + t.String() + ", not of " + i.String()
		}
		if s, ok := o.Type().Underlying().(*types.Struct); ok && (t.Kind() != reflect.Struct || s.NumFields() != t.NumField()) {
			return "is " + t.String() + ", not " + s.String()
		}
	}
	return ""
}

func TestPackagesAreTheCallers(t *testing.T) {
	symbols.Packages()["fmt/fmt"]["Println"] = reflect.ValueOf(1)
	if got := symbols.Packages()["fmt/fmt"]["Println"].Kind(); got != reflect.Func {
		t.Errorf("the caller can change the result of later calls: fmt.Println is a %s", got)
	}
}

func TestNoYaegi(t *testing.T) {
	for key := range symbols.Packages() {
		if strings.Contains(key, "yaegi") {
			t.Errorf("cells can import %s", key)
		}
	}
}

func BenchmarkPackages(b *testing.B) {
	for b.Loop() {
		symbols.Packages()
	}
}
