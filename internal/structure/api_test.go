package structure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/quernlab/quern/internal/golden"
)

// publicTrees are the folders whose packages notebooks and programs import.
var publicTrees = []string{"accel", "display", "gpu", "plots", "widgets"}

// TestAPI compares the exported names of the public packages with testdata/api.txt, one a line as in the
// folder api of Go, so that a change of the API is visible in the commit that makes it.
func TestAPI(t *testing.T) {
	t.Parallel()
	packages, err := publicPackages()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, p := range packages {
		for _, n := range exported(p) {
			lines = append(lines, n.line)
		}
	}
	slices.Sort(lines)
	golden.Check(t, "api.txt", []byte(strings.Join(lines, "\n")+"\n"))
	if t.Failed() {
		t.Log("the public API differs from testdata/api.txt. If that is intended, run\n" +
			"\tgo test ./internal/structure -run API -update\n" +
			"review the difference, commit it with your change, and add a line for users to CHANGELOG.md. Else make the new names internal")
	}
}

// publicPackages returns the type-checked packages of publicTrees, without main packages and internal ones. They are
// checked from their sources for linux/amd64, so the result is the same on all systems.
var publicPackages = sync.OnceValues(func() ([]*types.Package, error) {
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Name,GoFiles,ImportMap,Standard,DepOnly")
	for _, tree := range publicTrees {
		list.Args = append(list.Args, "./"+tree+"/...")
	}
	list.Dir = root
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	var complaint bytes.Buffer
	list.Stderr = &complaint
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", list, err, &complaint)
	}
	s := sources{fset: token.NewFileSet(), checked: map[string]*types.Package{"unsafe": types.Unsafe}}
	var public []*types.Package
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		switch err := d.Decode(&l); {
		case errors.Is(err, io.EOF):
			return public, nil
		case err != nil:
			return nil, err
		}
		p, err := s.check(l)
		if err != nil {
			return nil, err
		}
		if !l.DepOnly && l.Name != "main" && !internal(l.ImportPath) {
			public = append(public, p)
		}
	}
})

// internal reports whether packages outside of the module cannot import a package.
func internal(path string) bool { return strings.Contains(path, "/internal/") }

// listed is what the command go list prints about a package.
type listed struct {
	ImportPath, Dir, Name string
	GoFiles               []string
	ImportMap             map[string]string
	DepOnly               bool
}

// sources type-checks packages without the bodies of functions, each after those that it imports.
type sources struct {
	fset    *token.FileSet
	checked map[string]*types.Package
	imports map[string]string // of the package that is checked: replaced import paths
}

func (s *sources) check(l listed) (*types.Package, error) {
	if l.ImportPath == "unsafe" {
		return types.Unsafe, nil
	}
	var syntax []*ast.File
	for _, name := range l.GoFiles {
		f, err := parser.ParseFile(s.fset, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		syntax = append(syntax, f)
	}
	s.imports = l.ImportMap
	c := types.Config{Importer: s, IgnoreFuncBodies: true, FakeImportC: true, Sizes: types.SizesFor("gc", "amd64"), Error: func(error) {}}
	p, err := c.Check(l.ImportPath, s.fset, syntax, nil)
	if err != nil && strings.HasPrefix(l.ImportPath, modulePath) {
		return nil, err
	}
	s.checked[l.ImportPath] = p
	return p, nil
}

// Import returns a package that is already checked.
func (s *sources) Import(path string) (*types.Package, error) {
	if replaced, ok := s.imports[path]; ok {
		path = replaced
	}
	if p, ok := s.checked[path]; ok {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not checked yet", path)
}

// A name is an exported name of a package: a function, type, variable or constant, or a method or field of such a type.
type name struct {
	pkg    *types.Package
	object types.Object
	of     *types.TypeName // the type of a method or field, else nil
	line   string          // for api.txt
}

// exported returns the exported names of a package. Methods and fields that a type has from embedded types count as its own.
func exported(p *types.Package) (all []name) {
	q := func(other *types.Package) string {
		if other == p {
			return ""
		}
		return other.Name()
	}
	add := func(o types.Object, of *types.TypeName, format string, args ...any) {
		all = append(all, name{p, o, of, "pkg " + strings.TrimPrefix(p.Path(), modulePath) + ", " + fmt.Sprintf(format, args...)})
	}
	for _, n := range p.Scope().Names() {
		object := p.Scope().Lookup(n)
		if !object.Exported() {
			continue
		}
		switch o := object.(type) {
		case *types.Const:
			add(o, nil, "const %s %s", n, types.TypeString(o.Type(), q))
		case *types.Var:
			add(o, nil, "var %s %s", n, types.TypeString(o.Type(), q))
		case *types.Func:
			add(o, nil, "func %s%s", n, signature(o, q))
		case *types.TypeName:
			declared := n + parameters(o.Type(), q)
			if o.IsAlias() {
				declared += " = " + types.TypeString(types.Unalias(o.Type()), q)
			}
			add(o, nil, "type %s %s", declared, kind(o.Type(), q))
			if t, ok := types.Unalias(o.Type()).(*types.Named); ok && t.Obj().Pkg() != p && !internal(t.Obj().Pkg().Path()) {
				continue // the members are listed with that package
			}
			for _, m := range members(o.Type()) {
				switch m := m.(type) {
				case *types.Var:
					add(m, o, "type %s struct, %s %s", n, m.Name(), types.TypeString(m.Type(), q))
				case *types.Func:
					add(m, o, "method (%s) %s%s", n, m.Name(), signature(m, q))
				}
			}
		}
	}
	return all
}

// members returns the exported fields and methods of a type, also those of embedded types, in the order of their names.
func members(t types.Type) (all []types.Object) {
	named := map[string]types.Object{}
	if !types.IsInterface(t) {
		methods := types.NewMethodSet(types.NewPointer(t))
		for i := range methods.Len() {
			named[methods.At(i).Obj().Name()] = methods.At(i).Obj()
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Interface:
		for m := range u.Methods() {
			named[m.Name()] = m
		}
	case *types.Struct:
		fields(u, named)
	}
	for _, n := range slices.Sorted(maps.Keys(named)) {
		if ast.IsExported(n) {
			all = append(all, named[n])
		}
	}
	return all
}

// fields adds the fields of a struct, and those of embedded structs that no other name hides.
func fields(s *types.Struct, named map[string]types.Object) {
	for f := range s.Fields() {
		if _, hidden := named[f.Name()]; !hidden {
			named[f.Name()] = f
		}
	}
	for f := range s.Fields() {
		t := f.Type()
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		if inner, ok := t.Underlying().(*types.Struct); ok && f.Embedded() {
			fields(inner, named)
		}
	}
}

// signature returns the types of a function's parameters and results, without their names.
func signature(f *types.Func, q types.Qualifier) string {
	s := f.Signature()
	unnamed := types.NewSignatureType(nil, nil, nil, withoutNames(s.Params()), withoutNames(s.Results()), s.Variadic())
	return typeParameters(s.TypeParams(), q) + strings.TrimPrefix(types.TypeString(unnamed, q), "func")
}

func withoutNames(t *types.Tuple) *types.Tuple {
	var all []*types.Var
	for v := range t.Variables() {
		all = append(all, types.NewParam(token.NoPos, nil, "", v.Type()))
	}
	return types.NewTuple(all...)
}

func parameters(t types.Type, q types.Qualifier) string {
	if n, ok := t.(*types.Named); ok {
		return typeParameters(n.TypeParams(), q)
	}
	return ""
}

func typeParameters(list *types.TypeParamList, q types.Qualifier) string {
	var all []string
	for p := range list.TypeParams() {
		all = append(all, p.Obj().Name()+" "+types.TypeString(p.Constraint(), q))
	}
	if all == nil {
		return ""
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// kind returns what a type is: struct and interface, whose members have lines of their own, or its underlying type.
func kind(t types.Type, q types.Qualifier) string {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return "struct"
	case *types.Interface:
		return "interface"
	default:
		return types.TypeString(u, q)
	}
}
