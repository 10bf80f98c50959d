package compile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"testing"

	"github.com/quernlab/quern/interp/desugar"
	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/lower/layout"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/symbols"
	"github.com/quernlab/quern/interp/vm"
)

var packages = symbols.Packages()

// program is a checked and compiled source.
type program struct {
	unit   *Unit
	values map[string]reflect.Value // pointers to the variables of the session
	keys   map[string]any           // of the functions
}

func interpreted(n *types.Named) bool { return n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "main" }

// compile compiles the functions of a source without its package clause.
func compile(t testing.TB, source string) *program {
	t.Helper()
	return compileFor(t, vm.Config{}, source)
}

// compileFor compiles them for a VM with this configuration and a registry.
func compileFor(t testing.TB, machine vm.Config, source string) *program {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "x.go", "package main\n"+source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{},
	}
	config := types.Config{Importer: symbols.Importer(fset)}
	pkg, err := config.Check("main", fset, []*ast.File{file}, info)
	if err != nil {
		t.Fatal(err)
	}
	p := &program{values: map[string]reflect.Value{}, keys: map[string]any{}}
	builder := &layout.Builder{Interpreted: interpreted, Packages: packages}
	machine.Registry = rt.New(rt.Config{Interpreted: interpreted, Packages: packages})
	p.unit = Begin(vm.New(machine), &Config{Packages: packages, Interpreted: interpreted, Type: builder.Reflect}, &Source{
		Info:     info,
		Position: func(n ast.Node) int { return fset.Position(n.Pos()).Line - 1 },
		Global: func(v *types.Var) string {
			if v.Parent() == pkg.Scope() {
				return v.Name()
			}
			return ""
		},
	})
	desugared := &desugar.Source{
		Info:   info,
		Note:   func(e ast.Expr, tv types.TypeAndValue) { info.Types[e] = tv },
		Define: func(id *ast.Ident, v *types.Var) { info.Defs[id] = v },
		Use: func(id *ast.Ident, v *types.Var) {
			info.Uses[id], info.Types[id] = v, types.TypeAndValue{Type: v.Type()}
		},
		Interpreted: func(p *types.Package) bool { return p == pkg },
		Records:     func(ast.Stmt) bool { return false },
	}
	var list []Declaration
	for _, d := range file.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		o := info.Defs[decl.Name].(*types.Func)
		name := o.Name()
		if recv := o.Signature().Recv(); recv != nil {
			name = types.TypeString(recv.Type(), func(*types.Package) string { return "" }) + "." + name
		}
		if decl.Body != nil {
			decl.Body.List = desugared.Run(facts.Of(info, nil, o.Signature(), decl.Body), decl.Body.List)
		}
		list = append(list, Declaration{Key: o, Name: name, Signature: o.Signature(), Body: decl.Body})
		p.keys[name] = o
	}
	for _, name := range pkg.Scope().Names() {
		if v, ok := pkg.Scope().Lookup(name).(*types.Var); ok {
			typ, err := builder.Reflect(v.Type())
			if err != nil {
				t.Fatal(err)
			}
			p.values[name] = reflect.New(typ)
		}
	}
	p.unit.Compile(list)
	value := func(name string) (reflect.Value, error) { return p.values[name], nil }
	if err := p.unit.Link(value); err != nil {
		t.Fatal(err)
	}
	return p
}

// call calls a function.
func (p *program) call(t testing.TB, name string, arguments ...any) any {
	t.Helper()
	f := p.unit.Value(p.keys[name])
	in := make([]reflect.Value, len(arguments))
	for i, a := range arguments {
		in[i] = reflect.ValueOf(a)
	}
	out := f.Call(in)
	if len(out) == 0 {
		return nil
	}
	return out[0].Interface()
}
