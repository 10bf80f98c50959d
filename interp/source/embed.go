package source

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/embedded"
)

// embedDirective begins the comments that name the files of the variable below them.
const embedDirective = "//go:embed"

// An embedding is a variable with the files of its //go:embed lines.
type embedding struct {
	name  string
	files embedded.Files
}

// embeddings returns the variables of a file that embed files of the directory of the package.
func embeddings(dir, name string, text []byte) ([]embedding, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	patterns := map[*ast.ValueSpec][]string{}
	var order []*ast.ValueSpec
	for _, group := range file.Comments {
		for _, c := range group.List {
			rest, ok := strings.CutPrefix(c.Text, embedDirective)
			if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
				continue
			}
			words, err := splitPatterns(rest)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", fset.Position(c.Pos()), err)
			}
			spec := specBelow(file, c.End())
			if spec == nil {
				return nil, fmt.Errorf("%s: misplaced go:embed directive: it must stand above a variable", fset.Position(c.Pos()))
			}
			if len(spec.Names) != 1 || len(spec.Values) > 0 {
				return nil, fmt.Errorf("%s: go:embed needs one variable without an initial value", fset.Position(spec.Pos()))
			}
			if patterns[spec] == nil {
				order = append(order, spec)
			}
			patterns[spec] = append(patterns[spec], words...)
		}
	}
	var list []embedding
	for _, spec := range order {
		files, err := embedded.Find(dir, patterns[spec])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", fset.Position(spec.Pos()), err)
		}
		list = append(list, embedding{spec.Names[0].Name, files})
	}
	return list, nil
}

// specBelow returns the variables of the first declaration below a position; nil if it declares
// something else.
func specBelow(file *ast.File, pos token.Pos) *ast.ValueSpec {
	for _, d := range file.Decls {
		if d.End() <= pos {
			continue
		}
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			return nil
		}
		for _, s := range g.Specs {
			if s.Pos() > pos {
				return s.(*ast.ValueSpec)
			}
		}
	}
	return nil
}

// splitPatterns splits the patterns of a line at spaces; patterns may be in quotes.
func splitPatterns(text string) (patterns []string, err error) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		word := text
		if text[0] == '"' || text[0] == '`' {
			if word, err = strconv.QuotedPrefix(text); err != nil {
				return nil, fmt.Errorf("invalid quoted string in %s: %s", embedDirective, text)
			}
			text = text[len(word):]
			if word, err = strconv.Unquote(word); err != nil {
				return nil, err
			}
		} else {
			if i := strings.IndexAny(text, " \t"); i >= 0 {
				word = text[:i]
			}
			text = text[len(word):]
		}
		patterns = append(patterns, word)
	}
	if len(patterns) == 0 {
		return nil, fmt.Errorf("usage: %s pattern...", embedDirective)
	}
	return patterns, nil
}
