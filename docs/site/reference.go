package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/quernlab/quern"

// documented are the folders whose packages cells and programs import.
var documented = []string{"accel", "check", "display", "plots", "widgets", "gpu"}

// addReference adds a page for each package, made from its doc comments and examples.
func (s *site) addReference() error {
	var index strings.Builder
	index.WriteString("# Packages\n\nGenerated from the source. In a cell, `name?` shows the same texts.\n\n| Package | |\n|---|---|\n")
	var folders []string
	for _, top := range documented {
		err := filepath.WalkDir(filepath.Join(s.root, top), func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if slices.Contains([]string{"internal", "testdata", "bench"}, d.Name()) {
				return fs.SkipDir
			}
			relative, err := filepath.Rel(s.root, name)
			folders = append(folders, filepath.ToSlash(relative))
			return err
		})
		if err != nil {
			return err
		}
	}
	packages := map[string]*goPackage{}
	for _, folder := range folders {
		p, err := readPackage(s.root, folder)
		if err != nil {
			return err
		}
		if p != nil {
			packages[folder] = p
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(packages)) {
		p := packages[folder]
		r := &reference{p: p, folder: folder, packages: packages}
		text, err := r.text()
		if err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
		s.add(folder, &page{to: "reference/" + folder + ".md", text: text, markdown: true})
		fmt.Fprintf(&index, "| [%s](../%s) | %s |\n", folder, folder, strings.ReplaceAll(p.pkg.Synopsis(p.pkg.Doc), "|", `\|`))
	}
	s.add("docs/reference.md", &page{to: "reference/index.md", text: []byte(index.String()), markdown: true})
	return nil
}

// A goPackage is the documentation of a package.
type goPackage struct {
	pkg       *doc.Package
	positions *token.FileSet
}

// readPackage reads the package in a folder for linux/amd64, where all of it exists. It
// returns nil for a program and a folder without Go files.
func readPackage(root, folder string) (*goPackage, error) {
	c := build.Default
	c.GOOS, c.GOARCH, c.CgoEnabled = "linux", "amd64", true
	dir := filepath.Join(root, filepath.FromSlash(folder))
	found, err := c.ImportDir(dir, 0)
	if _, none := err.(*build.NoGoError); none || err == nil && found.Name == "main" { //nolint:errorlint // ImportDir returns it as it is
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p := &goPackage{positions: token.NewFileSet()}
	var files []*ast.File
	for _, name := range slices.Concat(found.GoFiles, found.CgoFiles, found.TestGoFiles, found.XTestGoFiles) {
		f, err := parser.ParseFile(p.positions, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	p.pkg, err = doc.NewFromFiles(p.positions, files, module+"/"+folder)
	return p, err
}

// names returns the exported names of the package; that of a method follows its type and a dot.
func (p *goPackage) names() map[string]bool {
	names := map[string]bool{}
	for _, v := range slices.Concat(p.pkg.Consts, p.pkg.Vars) {
		addAll(names, v.Names...)
	}
	for _, f := range p.pkg.Funcs {
		addAll(names, f.Name)
	}
	for _, t := range p.pkg.Types {
		addAll(names, t.Name)
		for _, v := range slices.Concat(t.Consts, t.Vars) {
			addAll(names, v.Names...)
		}
		for _, f := range t.Funcs {
			addAll(names, f.Name)
		}
		for _, f := range t.Methods {
			addAll(names, baseType(f.Recv)+"."+f.Name)
		}
	}
	return names
}

// anchor returns where the page of the package describes what a link names. A field and a
// method of an interface are described with their type, and what is declared elsewhere at the
// top of the page.
func (p *goPackage) anchor(link *comment.DocLink) string {
	names := p.names()
	for _, name := range []string{strings.TrimPrefix(link.Recv+"."+link.Name, "."), link.Recv} {
		if names[name] {
			return "#" + name
		}
	}
	return "#"
}

func addAll(set map[string]bool, names ...string) {
	for _, name := range names {
		set[name] = true
	}
}

// A reference is the page of a package while it is written.
type reference struct {
	p        *goPackage
	folder   string
	packages map[string]*goPackage // all, by folder
	out      bytes.Buffer
	err      error
}

func (r *reference) text() ([]byte, error) {
	pkg := r.p.pkg
	fmt.Fprintf(&r.out, "# Package %s\n\n```go\nimport \"%s\"\n```\n\n", pkg.Name, pkg.ImportPath)
	r.comment(pkg.Doc)
	r.examples(pkg.Examples)
	r.values("Constants", pkg.Consts)
	r.values("Variables", pkg.Vars)
	if len(pkg.Funcs) > 0 {
		r.out.WriteString("## Functions\n\n")
		r.functions("###", pkg.Funcs)
	}
	if len(pkg.Types) > 0 {
		r.out.WriteString("## Types\n\n")
	}
	for _, t := range pkg.Types {
		fmt.Fprintf(&r.out, "### type %s {#%s}\n\n", t.Name, t.Name)
		r.declaration(t.Decl)
		r.comment(t.Doc)
		r.examples(t.Examples)
		r.group(slices.Concat(t.Consts, t.Vars))
		r.functions("####", t.Funcs)
		r.functions("####", t.Methods)
	}
	return r.out.Bytes(), r.err
}

func (r *reference) values(title string, values []*doc.Value) {
	if len(values) == 0 {
		return
	}
	fmt.Fprintf(&r.out, "## %s\n\n", title)
	r.group(values)
}

func (r *reference) group(values []*doc.Value) {
	for _, v := range values {
		for _, name := range v.Names {
			fmt.Fprintf(&r.out, "<a id=\"%s\"></a>", name)
		}
		r.out.WriteString("\n\n")
		r.declaration(v.Decl)
		r.comment(v.Doc)
	}
}

func (r *reference) functions(level string, functions []*doc.Func) {
	for _, f := range functions {
		if f.Recv == "" {
			fmt.Fprintf(&r.out, "%s func %s {#%s}\n\n", level, f.Name, f.Name)
		} else {
			fmt.Fprintf(&r.out, "%s func (%s) %s {#%s.%s}\n\n", level, escapeText(f.Recv), f.Name, baseType(f.Recv), f.Name)
		}
		r.declaration(f.Decl)
		r.comment(f.Doc)
		r.examples(f.Examples)
	}
}

// baseType returns T of *T and *T[E].
func baseType(receiver string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(receiver, "*"), "[")
	return name
}

func (r *reference) declaration(d ast.Decl) {
	if f, ok := d.(*ast.FuncDecl); ok {
		f.Body = nil
		f.Doc = nil
	}
	if g, ok := d.(*ast.GenDecl); ok {
		g.Doc = nil
	}
	r.out.WriteString("```go\n")
	r.print(d)
	r.out.WriteString("\n```\n\n")
}

func (r *reference) print(node any) {
	c := printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}
	if err := c.Fprint(&r.out, r.p.positions, node); err != nil && r.err == nil {
		r.err = err
	}
}

// comment writes a doc comment. Its links lead to the pages of the site or to pkg.go.dev.
func (r *reference) comment(text string) {
	if text == "" {
		return
	}
	p := r.p.pkg.Printer()
	p.HeadingLevel = 4
	p.HeadingID = func(*comment.Heading) string { return "" }
	p.DocLinkURL = r.linkTo
	markdown := p.Markdown(r.p.pkg.Parser().Parse(text))
	// Python-Markdown does not know this escape.
	r.out.Write(bytes.ReplaceAll(markdown, []byte(`\<`), []byte("&lt;")))
	r.out.WriteString("\n")
}

func (r *reference) linkTo(link *comment.DocLink) string {
	folder := strings.TrimPrefix(link.ImportPath, module+"/")
	if link.ImportPath == "" {
		folder = r.folder
	}
	anchor := ""
	if to := r.packages[folder]; to != nil {
		anchor = to.anchor(link)
	} else if link.Name != "" {
		anchor = "#" + strings.TrimPrefix(link.Recv+"."+link.Name, ".")
	}
	switch {
	case folder == r.folder:
		return anchor
	case r.packages[folder] != nil:
		up := strings.Repeat("../", strings.Count(r.folder, "/"))
		return up + folder + anchor
	case folder != link.ImportPath:
		return repository + "/tree/main/" + folder
	}
	return "https://pkg.go.dev/" + path.Clean(link.ImportPath) + anchor
}

func (r *reference) examples(examples []*doc.Example) {
	for _, e := range examples {
		title := "Example"
		if e.Suffix != "" {
			title += ": " + strings.ReplaceAll(e.Suffix, "_", " ")
		}
		fmt.Fprintf(&r.out, "<details class=\"example\" markdown=\"1\"><summary>%s</summary>\n\n", title)
		r.comment(e.Doc)
		fmt.Fprintf(&r.out, "```go\n%s\n```\n\n", r.body(e))
		if e.Output != "" {
			fmt.Fprintf(&r.out, "```text\n%s\n```\n\n", strings.TrimRight(e.Output, "\n"))
		}
		r.out.WriteString("</details>\n\n")
	}
}

// body returns the statements of an example, without braces and without the comment with its
// output, which is shown below.
func (r *reference) body(e *doc.Example) string {
	var b bytes.Buffer
	if err := format.Node(&b, r.p.positions, &printer.CommentedNode{Node: e.Code, Comments: e.Comments}); err != nil && r.err == nil {
		r.err = err
	}
	text := b.String()
	if _, block := e.Code.(*ast.BlockStmt); block {
		text = strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
		text = strings.ReplaceAll(strings.TrimSpace(text), "\n\t", "\n")
	}
	for _, comment := range []string{"// Output:", "// Unordered output:"} {
		if i := strings.LastIndex(text, comment); i >= 0 {
			text = text[:i]
		}
	}
	return strings.TrimSpace(text)
}

// escapeText escapes what Markdown would take as emphasis or a link.
func escapeText(s string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`).Replace(s)
}
