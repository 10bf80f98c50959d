package lower

// Generic functions and types of compiled packages have no compiled form. This file checks their sources, as separate
// packages whose paths begin with sourcePrefix. They are lowered like those of a cell.

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/origin"
	"github.com/quernlab/quern/interp/vm/compile"
)

const sourcePrefix = "quern/generic/"

func isSource(pkg *types.Package) bool { return strings.HasPrefix(pkg.Path(), sourcePrefix) }

// source is the checked source of the generic part of a compiled package.
type source struct {
	pkg   *types.Package
	funcs map[string]*ast.FuncDecl
}

// sourceOf returns the source of the generic functions and types of pkg, or nil if there is none.
func (e *emitter) sourceOf(pkg *types.Package) *source {
	path := strings.TrimPrefix(pkg.Path(), sourcePrefix)
	if src, ok := e.sources[path]; ok {
		return src
	}
	if e.Generic == nil {
		return nil
	}
	texts, ok := e.Generic(path)
	if !ok {
		return nil
	}
	src := &source{funcs: map[string]*ast.FuncDecl{}}
	var files []*ast.File
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		file, err := parser.ParseFile(e.Fset, "generic/"+path+"/"+name, texts[name], parser.SkipObjectResolution)
		if err != nil {
			panic(err)
		}
		files = append(files, file)
	}
	var failed []error
	config := types.Config{Importer: e.Importer, Error: func(err error) { failed = append(failed, err) }}
	order := e.Info.InitOrder
	src.pkg = types.NewPackage(sourcePrefix+path, pkg.Name())
	_ = types.NewChecker(&config, e.Fset, src.pkg, e.Info).Files(files)
	e.Info.InitOrder = order
	if len(failed) > 0 {
		panic(fmt.Errorf("the generic source of %s: %w", path, errors.Join(failed...)))
	}
	for _, file := range files {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Name.Name == "_" || decl.Name.Name == "init" {
				continue
			}
			if sig := e.Info.Defs[decl.Name].Type().(*types.Signature); sig.Recv() != nil {
				typ := receiver(sig).Obj()
				if e.methods[typ] == nil {
					e.methods[typ] = &methods{byName: map[string]*ast.FuncDecl{}}
				}
				e.methods[typ].add(decl)
			} else {
				src.funcs[decl.Name.Name] = decl
			}
		}
	}
	e.sources[path] = src // never rolled back: it does not depend on the cell
	return src
}

// sourceType returns the type in the source for the compiled generic type t, with the same type arguments.
func (e *emitter) sourceType(t *types.Named) *types.Named {
	if n := e.findSourceType(t); n != nil {
		return n
	}
	panic(&UnsupportedError{Construct: "the generic type " + t.Obj().Pkg().Path() + "." + t.Obj().Name(),
		Hint: absent, Position: e.Fset.Position(t.Obj().Pos())})
}

// findSourceType is sourceType for an instance of any generic type. It returns nil if there is no source.
func (e *emitter) findSourceType(t *types.Named) *types.Named {
	if pkg := t.Obj().Pkg(); isSource(pkg) || origin.Interpreted(pkg) {
		return t
	}
	src := e.sourceOf(t.Obj().Pkg())
	if src == nil {
		return nil
	}
	o := src.pkg.Scope().Lookup(t.Obj().Name())
	if o == nil {
		return nil
	}
	instance, err := types.Instantiate(nil, o.Type(), typeList(t.TypeArgs()), false)
	if err != nil {
		panic(err)
	}
	return instance.(*types.Named)
}

// sourceFunction returns the declaration of a function of a generic source that is not generic itself.
func (e *emitter) sourceFunction(o *types.Func) compile.Declaration {
	decl := e.sourceOf(o.Pkg()).funcs[o.Name()]
	if e.names[o] == "" {
		set(e.Program, e.names, types.Object(o), e.fresh(o.Pkg().Name()+"ʹ"+o.Name()))
	}
	return compile.Declaration{Key: o, Name: e.names[o], Signature: o.Signature(), Body: decl.Body}
}

// absent is the reason why cells cannot use a generic function or type of the standard library.
const absent = "its source is not part of the kernel"
