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

// TypeError reports a parameter whose value does not fit the variable that the cell
// tagged "parameters" declares.
type TypeError struct {
	Name, Literal string
	Type          string // of the variable
	Reason        string // what the type checker reports
}

func (e *TypeError) Error() string {
	text := fmt.Sprintf("parameter %s: %s", e.Name, e.Reason)
	if e.Type == "string" {
		text += fmt.Sprintf("; quote it to set a text: --param '%s=%q'", e.Name, e.Literal)
	}
	return text
}

// check compares a parameter with the type that a cell gives it. What the cell alone
// does not say is left to the compiler of the session, which knows the other cells.
func (p Parameter) check(cell string) error {
	const opening = "package p\nfunc _() {\n"
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", opening+cell+"\n"+p.Name+" = "+p.Literal+"\n}\n", parser.SkipObjectResolution)
	if err != nil {
		return nil // functions, or magics
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
	_, _ = config.Check("p", files, []*ast.File{file}, &info) // errors of the other lines do not matter here
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

// nothing imports no package: the types of their values are unknown.
type nothing struct{}

func (nothing) Import(path string) (*types.Package, error) {
	return nil, fmt.Errorf("package %s is not looked at", path)
}
