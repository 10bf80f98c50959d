package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
	"unicode"

	"github.com/quernlab/quern/interp/facts"
)

// TestDocumented checks that every package has a comment, and every exported name of the
// packages that can be imported from outside has one in the form of Go doc comments.
// Methods and fields of the packages of kernel and interp may have none: most methods implement an interface.
func TestDocumented(t *testing.T) {
	t.Parallel()
	packages := map[string]bool{}
	for _, f := range files(t, parser.ParseComments) {
		if ast.IsGenerated(f.syntax) {
			continue
		}
		packages[f.folder] = packages[f.folder] || f.syntax.Doc != nil
		if f.syntax.Name.Name == "main" || strings.Contains(f.path, "internal/") {
			continue
		}
		own := within(f.folder, "interp") || within(f.folder, "kernel")
		for _, declaration := range f.syntax.Decls {
			if d, ok := declaration.(*ast.FuncDecl); ok && own && d.Recv != nil && d.Doc == nil {
				continue
			}
			for _, name := range undocumented(declaration) {
				t.Errorf("%s: %s is exported and has no comment that begins with its name", f.position(name), name.Name)
			}
			if own {
				continue
			}
			for _, name := range undocumentedMethods(declaration) {
				t.Errorf("%s: the method %s has no comment, and that of its interface does not name it", f.position(name), name.Name)
			}
			for _, name := range undocumentedFields(declaration) {
				t.Errorf("%s: the field %s has no comment, and that of its struct does not name it", f.position(name), name.Name)
			}
		}
	}
	for folder, has := range packages {
		if !has {
			t.Errorf("%s: package %s has no comment", folder, path.Base(folder))
		}
	}
}

// undocumented returns the exported names of a declaration whose comment is missing or
// does not begin with the name. A group of constants or variables may have one comment.
func undocumented(declaration ast.Decl) (names []*ast.Ident) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || hasExportedReceiver(d)) && !wellKnown(d) && !begins(d.Doc, d.Name.Name) {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && !begins(s.Doc, s.Name.Name) && !begins(d.Doc, s.Name.Name) {
					names = append(names, s.Name)
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() && s.Doc == nil && s.Comment == nil && (d.Doc == nil || d.Tok == token.VAR && !d.Lparen.IsValid() && !begins(d.Doc, name.Name)) {
						names = append(names, name)
					}
				}
			}
		}
	}
	return names
}

// undocumentedMethods returns the exported methods of exported interfaces that have no comment
// and that the comment of the interface does not name.
func undocumentedMethods(declaration ast.Decl) (names []*ast.Ident) {
	return undocumentedMembers(declaration, func(t ast.Expr) *ast.FieldList {
		if i, ok := t.(*ast.InterfaceType); ok {
			return i.Methods
		}
		return nil
	})
}

// undocumentedFields returns the exported fields of exported structs that have no comment and
// that the comment of the struct does not name.
func undocumentedFields(declaration ast.Decl) (names []*ast.Ident) {
	return undocumentedMembers(declaration, func(t ast.Expr) *ast.FieldList {
		if s, ok := t.(*ast.StructType); ok {
			return s.Fields
		}
		return nil
	})
}

func undocumentedMembers(declaration ast.Decl, members func(ast.Expr) *ast.FieldList) (names []*ast.Ident) {
	d, ok := declaration.(*ast.GenDecl)
	if !ok {
		return nil
	}
	for _, spec := range d.Specs {
		s, ok := spec.(*ast.TypeSpec)
		if !ok || !s.Name.IsExported() {
			continue
		}
		list := members(s.Type)
		if list == nil {
			continue
		}
		doc := words(s.Doc.Text() + d.Doc.Text())
		for _, member := range list.List {
			for _, name := range member.Names {
				if name.IsExported() && member.Doc == nil && member.Comment == nil && !doc[name.Name] {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

func words(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		set[word] = true
	}
	return set
}

// wellKnown are methods of standard interfaces, which need no comment if they do what is
// expected.
func wellKnown(d *ast.FuncDecl) bool {
	if d.Recv == nil || d.Doc != nil {
		return false
	}
	switch d.Name.Name {
	case "Error", "String", "Unwrap", "Len", "Less", "Swap", "Read", "Write", "Close":
		return true
	}
	return false
}

// begins reports whether a comment begins with name, which may follow an article.
func begins(doc *ast.CommentGroup, name string) bool {
	words := strings.Fields(doc.Text())
	if len(words) > 1 && (words[0] == "A" || words[0] == "An" || words[0] == "The") {
		words = words[1:]
	}
	return len(words) > 0 && (strings.TrimRight(words[0], ",:") == name || words[0] == "Deprecated:")
}

func hasExportedReceiver(d *ast.FuncDecl) bool {
	name, _ := facts.ReceiverBase(d)
	return ast.IsExported(name)
}
