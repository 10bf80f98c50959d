package source

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// bodilessFunctions are functions of a package that are declared without a body, because they are written in
// assembly or linked to a function of the Go runtime (//go:linkname), and variables that are
// linked to one of another package.
type bodilessFunctions struct {
	path     string   // of the package
	name     string   // of the package
	assembly bool     // the package has files in assembly
	imports  []string // of the functions that replace them
	text     []string // of these functions
	missing  map[string]string
	err      error
}

// linkDirective matches a directive that links a name to one of another package.
var linkDirective = regexp.MustCompile(`(?m)^//go:linkname[ \t]+(\S+)[ \t]+(\S+\.\S+)[ \t]*\r?$`)

// bodilessSuffix ends the name of a function that is replaced, which nothing uses.
const bodilessSuffix = "ʹbodiless"

// find finds the declarations in a file. Those for which there is a replacement get another name; they may have it already.
func (b *bodilessFunctions) find(file *ast.File, text []byte, fset *token.FileSet) {
	b.name = file.Name.Name
	links := map[string]string{}
	if bytes.Contains(text, []byte("//go:linkname")) { // matching a regular expression takes half as long as parsing the file
		for _, m := range linkDirective.FindAllSubmatch(text, -1) {
			links[string(m[1])] = string(m[2])
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				continue
			}
			d.Name.Name = strings.TrimSuffix(d.Name.Name, bodilessSuffix)
			if b.replaced(d, links[d.Name.Name], fset) {
				d.Name.Name += bodilessSuffix
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				v, ok := s.(*ast.ValueSpec)
				for i := 0; ok && d.Tok == token.VAR && len(v.Values) == 0 && i < len(v.Names); i++ {
					if target := links[v.Names[i].Name]; target != "" {
						b.miss(v.Names[i].Name, "the variable %s is "+target+", which interpreted code cannot use")
					}
				}
			}
		}
	}
}

// miss notes that a declaration cannot be interpreted; %s in the reason is its name.
func (b *bodilessFunctions) miss(name, reason string) {
	if b.missing == nil {
		b.missing = map[string]string{}
	}
	b.missing[name] = fmt.Sprintf(reason, name) + CompileInstead(b.path)
}

// CompileInstead returns what to do with a package that cannot be interpreted but can be compiled.
func CompileInstead(path string) string {
	return fmt.Sprintf("; with Go installed, %%get -compiled %s builds a worker with it", path)
}

// replaced reports whether there is a replacement for a function, which is linked to target unless that is "".
func (b *bodilessFunctions) replaced(d *ast.FuncDecl, target string, fset *token.FileSet) bool {
	name := d.Name.Name
	key := target
	if target == "" {
		key = b.path + "." + name
	}
	switch r, ok := replacements[key]; {
	case ok && d.Recv == nil:
		b.imports = append(b.imports, r.imports...)
		b.text = append(b.text, "func "+strings.ReplaceAll(r.text, "NAME", name))
		return true
	case target != "":
		b.miss(name, "the function %s is "+target+", which interpreted code cannot call")
	case b.assembly:
		b.miss(name, "the function %s is written in assembly, and the package has no version of it in Go")
	case b.err == nil:
		b.err = fmt.Errorf("%s: the function %s has no body in Go", fset.Position(d.Pos()), name)
	}
	return false
}

// replace returns a file with the functions that replace those without a body; nil if there are none.
func (b *bodilessFunctions) replace(fset *token.FileSet) (*ast.File, error) {
	if b.err != nil || len(b.text) == 0 {
		return nil, b.err
	}
	slices.Sort(b.imports)
	slices.Sort(b.text)
	text := "package " + b.name + "\n"
	for _, i := range slices.Compact(b.imports) {
		text += fmt.Sprintf("import %q\n", i)
	}
	file, err := parser.ParseFile(fset, b.path+"/linked", text+strings.Join(b.text, "\n"), parser.SkipObjectResolution)
	if err == nil {
		file.GoVersion = ownLanguage
	}
	return file, err
}
