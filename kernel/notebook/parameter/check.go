package parameter

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
)

// TypeError reports a parameter whose value does not have the type of the variable in the
// cell tagged "parameters".
type TypeError struct {
	Name, Literal string
	Type          string // type of the variable
	Reason        string // what the type checker reports
}

func (e *TypeError) Error() string {
	text := fmt.Sprintf("parameter %s: %s", e.Name, e.Reason)
	if e.Type == "string" {
		text += fmt.Sprintf("; quote it to set a string: --param '%s=%q'", e.Name, e.Literal)
	}
	return text
}

// check compares the type of a parameter with the type in a cell. If the cell alone does
// not determine it, the compiler of the session checks it, which knows the other cells.
func (p Parameter) check(cell string) error {
	const opening = "package p\nfunc _() {\n"
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", opening+cell+"\n"+p.Name+" = "+p.Literal+"\n}\n", parser.SkipObjectResolution)
	if err != nil {
		return nil // function declarations or magic commands
	}
	line := strings.Count(opening+cell, "\n") + 2
	var reasons []string
	config := types.Config{Importer: nothing{}, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && files.Position(e.Pos).Line == line {
			reasons = append(reasons, e.Msg)
		}
	}}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	_, _ = config.Check("p", files, []*ast.File{file}, &info) // errors in other lines are reported when the cell runs
	if len(reasons) == 0 || strings.HasPrefix(reasons[0], "undefined: ") {
		return nil
	}
	for name, object := range info.Uses {
		if name.Name != p.Name || files.Position(name.Pos()).Line != line {
			continue
		}
		if t := types.TypeString(object.Type(), nil); !strings.Contains(t, "invalid type") {
			return &TypeError{p.Name, p.Literal, t, reasons[0]}
		}
	}
	return nil
}

// nothing is an importer without packages: types from imports are unknown.
type nothing struct{}

func (nothing) Import(path string) (*types.Package, error) {
	return nil, fmt.Errorf("package %s is not imported here", path)
}
