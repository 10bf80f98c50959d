package describe

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"

	"github.com/quernlab/quern/interp/symbols/internal/archive"
)

// longest is the maximal length in bytes of the first paragraph for a symbol of another module; a longer one is
// shortened to its first sentence, so that the archives stay small. longestOwn is the maximal length of the whole
// documentation of one of our symbols.
const (
	longest    = 400
	longestOwn = 3000
)

// Docs extracts the documentation of the exported names of a package from its source.
func Docs(p Listed) (archive.Docs, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range append(p.GoFiles, p.CgoFiles...) {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("documentation of %s: %w", p.ImportPath, err)
		}
		files = append(files, f)
	}
	pkg, err := doc.NewFromFiles(fset, files, p.ImportPath)
	if err != nil {
		return nil, fmt.Errorf("documentation of %s: %w", p.ImportPath, err)
	}
	d := collector{pkg: pkg, docs: make(archive.Docs), whole: strings.HasPrefix(p.ImportPath, "github.com/quernlab/quern/")}
	d.add("", pkg.Doc)
	d.values(pkg.Consts)
	d.values(pkg.Vars)
	d.functions("", pkg.Funcs)
	for _, t := range pkg.Types {
		d.add(t.Name, t.Doc)
		d.values(t.Consts)
		d.values(t.Vars)
		d.functions("", t.Funcs)
		d.functions(t.Name+".", t.Methods)
		d.members(t)
	}
	return d.docs, nil
}

type collector struct {
	pkg   *doc.Package
	docs  archive.Docs
	whole bool // keep whole comments
}

// add keeps a comment, or only its first paragraph.
func (d collector) add(name, comment string) {
	text := d.pkg.Synopsis(comment)
	all := paragraphs(d.pkg, comment)
	if len(all) > 0 && len(all[0]) <= longest {
		text = all[0]
	}
	if d.whole {
		if whole := strings.Join(all, "\n\n"); len(whole) <= longestOwn {
			text = whole
		}
	}
	if text != "" {
		d.docs[name] = text
	}
}

// paragraphs returns the paragraphs of a comment without markup. The lines of a paragraph are joined, those of a list
// or of code are not.
func paragraphs(pkg *doc.Package, comment string) (all []string) {
	for paragraph := range strings.SplitSeq(strings.TrimRight(string(pkg.Text(comment)), "\n"), "\n\n") {
		switch {
		case paragraph == "":
			continue
		case strings.HasPrefix(paragraph, "\t"):
			paragraph = strings.ReplaceAll(paragraph, "\t", "    ")
		case !strings.HasPrefix(paragraph, " "): // a list is indented
			paragraph = strings.Join(strings.Fields(paragraph), " ")
		}
		all = append(all, paragraph)
	}
	return all
}

// values adds the documentation of constants and variables: their own comment, or the comment of their
// group.
func (d collector) values(groups []*doc.Value) {
	for _, group := range groups {
		for _, spec := range group.Decl.Specs {
			spec, ok := spec.(*ast.ValueSpec)
			if !ok {
				continue
			}
			comment := firstOf(spec.Doc.Text(), spec.Comment.Text())
			if comment == "" && len(group.Names) <= 3 {
				comment = group.Doc
			}
			for _, name := range spec.Names {
				if name.IsExported() {
					d.add(name.Name, comment)
				}
			}
		}
	}
}

func (d collector) functions(prefix string, functions []*doc.Func) {
	for _, f := range functions {
		if d.whole && f.Level > 0 { // a method of an embedded type that is not exported; it is looked up by that
			d.add(strings.TrimPrefix(f.Orig, "*")+"."+f.Name, f.Doc)
			continue
		}
		d.add(prefix+f.Name, f.Doc)
	}
}

// members adds the documentation of the fields of a struct and the methods of an interface.
func (d collector) members(t *doc.Type) {
	for _, spec := range t.Decl.Specs {
		spec, ok := spec.(*ast.TypeSpec)
		if !ok || spec.Name.Name != t.Name {
			continue
		}
		var fields *ast.FieldList
		switch x := spec.Type.(type) {
		case *ast.StructType:
			fields = x.Fields
		case *ast.InterfaceType:
			fields = x.Methods
		default:
			continue
		}
		for _, field := range fields.List {
			for _, name := range field.Names {
				if name.IsExported() {
					d.add(t.Name+"."+name.Name, firstOf(field.Doc.Text(), field.Comment.Text()))
				}
			}
		}
	}
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
