package lower

// Generic functions and types of compiled packages have no compiled form. This file checks their sources, as separate
// packages whose paths begin with sourcePrefix. They are lowered like those of a cell.

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/origin"
	"github.com/quernlab/quern/interp/vm/compile"
)

const sourcePrefix = "quern/generic/"

func isSource(pkg *types.Package) bool { return strings.HasPrefix(pkg.Path(), sourcePrefix) }

// source is the source of the generic part of a compiled package. The bodies of functions are checked when they are needed: cells use few
// functions of package slices.
type source struct {
	pkg     *types.Package
	funcs   map[string]*ast.FuncDecl
	waiting map[*ast.FuncDecl]*ast.File // functions whose bodies have not been checked, with their files
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
	src := &source{pkg: types.NewPackage(sourcePrefix+path, pkg.Name()), funcs: map[string]*ast.FuncDecl{}, waiting: map[*ast.FuncDecl]*ast.File{}}
	bodies := map[*ast.FuncDecl]*ast.BlockStmt{}
	var files []*ast.File
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		file, err := parser.ParseFile(e.Fset, "generic/"+path+"/"+name, texts[name], parser.SkipObjectResolution)
		if err != nil {
			panic(err)
		}
		files = append(files, file)
		for _, d := range file.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Recv == nil {
				bodies[decl], decl.Body, src.waiting[decl] = decl.Body, nil, file
			}
		}
	}
	e.checkSource(src, files...)
	for decl, body := range bodies {
		decl.Body = body
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

// checkSource type-checks files of a source.
func (e *emitter) checkSource(src *source, files ...*ast.File) {
	var failed []error
	config := types.Config{Importer: e.Importer, Error: func(err error) {
		if problem := (types.Error{}); !errors.As(err, &problem) || !problem.Soft { // imports that only other bodies use
			failed = append(failed, err)
		}
	}}
	order := e.Info.InitOrder
	_ = types.NewChecker(&config, e.Fset, src.pkg, e.Info).Files(files)
	e.Info.InitOrder = order
	if len(failed) > 0 {
		panic(fmt.Errorf("the generic source of %s: %w", strings.TrimPrefix(src.pkg.Path(), sourcePrefix), errors.Join(failed...)))
	}
}

// function returns a function of a source with its body checked, or nil if there is none. The body is checked as that of a function
// without a name in the same package, whose object then has the facts about it.
func (e *emitter) function(src *source, name string) *ast.FuncDecl {
	decl := src.funcs[name]
	file := src.waiting[decl]
	if file == nil {
		return decl
	}
	delete(src.waiting, decl)
	checked := &ast.FuncDecl{Name: &ast.Ident{NamePos: decl.Name.NamePos, Name: "_"}, Type: decl.Type, Body: decl.Body}
	imports := slices.DeleteFunc(slices.Clone(file.Decls), func(d ast.Decl) bool {
		group, ok := d.(*ast.GenDecl)
		return !ok || group.Tok != token.IMPORT
	})
	e.checkSource(src, &ast.File{Package: file.Package, Name: file.Name, Decls: append(imports, checked), GoVersion: file.GoVersion})
	e.Info.Defs[decl.Name] = e.Info.Defs[checked.Name]
	return decl
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
	decl := e.function(e.sourceOf(o.Pkg()), o.Name())
	if e.names[o] == "" {
		set(e.Program, e.names, types.Object(o), e.fresh(o.Pkg().Name()+"ʹ"+o.Name()))
	}
	return compile.Declaration{Key: o, Name: e.names[o], Signature: e.Info.Defs[decl.Name].(*types.Func).Signature(), Body: decl.Body}
}

// absent is the reason why cells cannot use a generic function or type of the standard library.
const absent = "its source is not part of the kernel"
