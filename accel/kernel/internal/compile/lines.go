package compile

import (
	"go/parser"
	"go/token"
	"strings"
)

// Line is a line of a file; the names and numbers are those of line directives.
type Line struct {
	File string
	Line int
}

// Lines returns the text of the lines of a Go file.
func Lines(source string) map[Line]string {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, fileName, source, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	lines := map[Line]string{}
	f := fset.File(file.FileStart)
	for n, text := range strings.Split(source, "\n") {
		if n >= f.LineCount() {
			break
		}
		at := f.LineStart(n + 1)
		if strings.HasPrefix(text, "/*line ") {
			if i := strings.Index(text, "*/"); i >= 0 {
				at, text = at+token.Pos(i+2), text[i+2:]
			}
		}
		p := fset.Position(at)
		lines[Line{p.Filename, p.Line}] = strings.TrimRight(text, " \t\r")
	}
	return lines
}
