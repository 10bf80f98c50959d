package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"slices"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/quernlab/quern/interp/symbols"
)

// target is an interface with the places where values are converted to it.
type target struct {
	methods []*types.Func // sorted by name
	places  []string      // functions that convert values to it
	reason  string        // why a cell cannot implement it; "" if it can
}

// find returns the interfaces of the standard library, without those that have no methods.
func find() ([]*target, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax, // all packages are checked once, so that types of different packages are identical
		Env:  append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0"),
	}, "std")
	if err != nil {
		return nil, err
	}
	var targets typeutil.Map
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
		for _, file := range p.Syntax {
			for _, d := range file.Decls {
				place := p.PkgPath
				if f, ok := d.(*ast.FuncDecl); ok {
					place = p.TypesInfo.Defs[f.Name].(*types.Func).FullName()
				}
				ast.Inspect(d, func(n ast.Node) bool {
					for _, t := range converted(p.TypesInfo, n) {
						add(&targets, t, place)
					}
					return true
				})
			}
		}
	}
	var list []*target
	targets.Iterate(func(_ types.Type, value any) { list = append(list, value.(*target)) })
	slices.SortFunc(list, func(a, b *target) int {
		return cmp.Or(cmp.Compare(a.places[0], b.places[0]), cmp.Compare(a.interfaceText(), b.interfaceText()))
	})
	return list, nil
}

// converted returns the types to which n converts a value.
func converted(info *types.Info, n ast.Node) (list []types.Type) {
	switch n := n.(type) {
	case *ast.TypeAssertExpr:
		if n.Type != nil { // not x.(type)
			list = append(list, info.TypeOf(n.Type))
		}
	case *ast.TypeSwitchStmt:
		for _, clause := range n.Body.List {
			for _, e := range clause.(*ast.CaseClause).List {
				list = append(list, info.TypeOf(e))
			}
		}
	case *ast.CallExpr:
		f, _ := typeutil.Callee(info, n).(*types.Func)
		if f == nil {
			break
		}
		switch f.FullName() {
		case "errors.As":
			list = append(list, info.TypeOf(n.Args[1]).Underlying().(*types.Pointer).Elem())
		case "reflect.TypeOf":
			if p, ok := info.TypeOf(n.Args[0]).(*types.Pointer); ok {
				list = append(list, p.Elem())
			}
		}
	case *ast.Ident:
		switch f := info.Uses[n]; {
		case f == nil || f.Pkg() == nil:
		case f.Pkg().Path() == "errors" && f.Name() == "AsType", f.Pkg().Path() == "reflect" && (f.Name() == "TypeFor" || f.Name() == "TypeAssert"):
			list = append(list, info.Instances[n].TypeArgs.At(0))
		}
	}
	return list
}

// add adds t to the targets if it is an interface with methods.
func add(targets *typeutil.Map, t types.Type, place string) {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return // another package chooses the type
	}
	i, ok := t.Underlying().(*types.Interface)
	if !ok || i.NumMethods() == 0 {
		return
	}
	key := types.NewInterfaceType(slices.Collect(i.Methods()), nil)
	found, _ := targets.At(key).(*target)
	if found == nil {
		found = &target{methods: slices.Collect(i.Methods()), reason: unusable(i)}
		slices.SortFunc(found.methods, func(a, b *types.Func) int { return cmp.Compare(a.Name(), b.Name()) })
		targets.Set(key, found)
	}
	found.places = append(found.places, place)
	slices.Sort(found.places)
}

// unusable returns why a cell cannot implement the interface, "" if it can.
func unusable(i *types.Interface) (reason string) {
	for m := range i.Methods() {
		if !m.Exported() {
			return "has the unexported method " + m.Name()
		}
		walk(m.Type(), func(t types.Type) {
			switch t := t.(type) {
			case *types.TypeParam:
				reason = "has the type parameter " + t.Obj().Name()
			case *types.Named, *types.Alias:
				o := t.(interface{ Obj() *types.TypeName }).Obj()
				if o.Pkg() == nil {
					break // error
				}
				if _, err := symbols.Importer(nil).Import(o.Pkg().Path()); err != nil {
					reason = fmt.Sprintf("%s mentions a type of package %s", m.Name(), o.Pkg().Path())
				} else if !o.Exported() {
					reason = fmt.Sprintf("%s mentions the unexported type %s.%s", m.Name(), o.Pkg().Path(), o.Name())
				}
			}
		})
	}
	return reason
}

// walk calls visit for the types that the text of t mentions.
func walk(t types.Type, visit func(types.Type)) {
	visit(t)
	switch t := t.(type) {
	case *types.Alias:
		walkAll(t.TypeArgs(), visit)
	case *types.Named:
		walkAll(t.TypeArgs(), visit)
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels and maps
		if m, ok := t.(*types.Map); ok {
			walk(m.Key(), visit)
		}
		walk(t.Elem(), visit)
	case *types.Signature:
		for v := range t.Params().Variables() {
			walk(v.Type(), visit)
		}
		for v := range t.Results().Variables() {
			walk(v.Type(), visit)
		}
	case *types.Struct:
		for f := range t.Fields() {
			walk(f.Type(), visit)
		}
	case *types.Interface:
		for m := range t.Methods() {
			walk(m.Type(), visit)
		}
	}
}

func walkAll(types *types.TypeList, visit func(types.Type)) {
	for t := range types.Types() {
		walk(t, visit)
	}
}
