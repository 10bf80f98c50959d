package source

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/types"
	"strings"

	"github.com/quernlab/quern/interp/origin"
)

// initFunction is a function that calls the init functions of a package, for the checker.
const initFunction = "initsʹ"

// initPrefix begins the names that the init functions of a package get.
const initPrefix = "initʹ"

// check type-checks the files of a package in a version of the language, apart from the bodies of functions if they can be
// checked later.
func (l *Loader) check(importPath, language string, files []*ast.File, later bool) (*loadedPackage, error) {
	calls := nameInits(files)
	var postponed bodies
	if later {
		postponed = postpone(files)
		defer postponed.restore()
	}
	tables := shortenTables(files)
	p, err := l.checkFiles(importPath, language, files, calls, later)
	valid := err == nil
	for _, t := range tables {
		t.restore()
	}
	for _, t := range tables {
		valid = valid && t.finish(p)
	}
	if !valid && len(tables) > 0 {
		for _, t := range tables {
			t.restore()
		}
		tables = nil
		p, err = l.checkFiles(importPath, language, files, calls, later)
	}
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		p.tables[t.literal] = true
	}
	for _, f := range files {
		omitDead(f, p.info)
	}
	p.bodies = postponed
	p.note()
	return p, nil
}

// checkFiles type-checks files in a version of the language; calls are the statements that call their init functions. Later says
// that bodies of functions are not in files, so that imports may be unused.
func (l *Loader) checkFiles(importPath, language string, files []*ast.File, calls string, later bool) (*loadedPackage, error) {
	p := &loadedPackage{types: types.NewPackage(origin.ModulePath(importPath), files[0].Name.Name), info: newInfo(), files: files,
		waiting: map[types.Object]declaration{}, declared: map[types.Object]bool{}, dispatched: map[*types.Named]bool{}, tables: map[*ast.CompositeLit]bool{}}
	text := fmt.Sprintf("package %s\nfunc %s() {\n%s}\n", files[0].Name.Name, initFunction, calls)
	extra, err := parser.ParseFile(l.fset, importPath+"/init", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var failed []error
	config := types.Config{
		Importer: importer{l},
		Error: func(err error) {
			if !later || !isUnusedImport(err) {
				failed = append(failed, err)
			}
		},
		Sizes: types.SizesFor("gc", build.Default.GOARCH),
		// Files that the loader has added have a version of their own.
		GoVersion: language,
	}
	_ = types.NewChecker(&config, l.fset, p.types, p.info).Files(append(files, extra))
	if len(failed) > 0 {
		var inner *Error
		if errors.As(failed[0], &inner) {
			return nil, inner
		}
		text := origin.Describe(failed[0].Error())
		if strings.Contains(text, "requires go1.") {
			text += fmt.Sprintf(" (the go line of go.mod is %s)", strings.TrimPrefix(language, "go"))
		}
		return nil, errors.New(text)
	}
	p.inits = extra.Decls[0].(*ast.FuncDecl).Body.List
	return p, nil
}

func isUnusedImport(err error) bool {
	var e types.Error
	return errors.As(err, &e) && e.Soft && strings.Contains(e.Msg, "imported") && strings.HasSuffix(e.Msg, "and not used")
}

// note sets the declarations of a package.
func (p *loadedPackage) note() {
	add := func(o types.Object, d declaration) {
		d.index = len(p.waiting)
		p.waiting[o] = d
	}
	for _, f := range p.files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				add(p.info.Defs[d.Name], declaration{function: d})
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						add(p.info.Defs[s.Name], declaration{spec: s})
					}
				}
			}
		}
	}
	initializers := map[*types.Var]*types.Initializer{}
	for _, init := range p.info.InitOrder {
		for _, v := range init.Lhs {
			initializers[v] = init
		}
	}
	for _, name := range p.types.Scope().Names() {
		if v, ok := p.types.Scope().Lookup(name).(*types.Var); ok {
			add(v, declaration{variable: v, init: initializers[v]})
		}
	}
}

// nameInits gives each init function a name of its own and returns their calls.
func nameInits(files []*ast.File) string {
	var calls strings.Builder
	number := 0
	for _, f := range files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.Name == "init" {
				number++
				d.Name.Name = fmt.Sprint(initPrefix, number)
				fmt.Fprintf(&calls, "%s()\n", d.Name.Name)
			}
		}
	}
	return calls.String()
}

// importer is the loader as the importer of packages that it loads.
type importer struct{ *Loader }

func (i importer) Import(path string) (*types.Package, error) { return i.importPackage(path) }

func newInfo() *types.Info {
	return &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Instances:  map[*ast.Ident]types.Instance{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Implicits:  map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes:     map[ast.Node]*types.Scope{},
		// The language of each file.
		FileVersions: map[*ast.File]string{},
	}
}
