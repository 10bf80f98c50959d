package parameter

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// Parameter is a name and the Go literal of its value.
type Parameter struct{ Name, Literal string }

// Parse parses name=value. The value is a Go literal: a number, true or false, a string,
// a character, or a composite literal of these. Any other value is taken as a string. A
// composite literal that contains anything but data is an error and not a string, since a
// string cannot have been intended.
func Parse(text string) (Parameter, error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || !token.IsIdentifier(name) || name == "_" {
		return Parameter{}, fmt.Errorf("%q is not of the form name=value", text)
	}
	e, err := parser.ParseExpr(value)
	if err != nil {
		return Parameter{name, strconv.Quote(value)}, nil
	}
	var w writer
	w.value(e)
	if w.err == nil {
		return Parameter{name, w.String()}, nil
	}
	if code(e) {
		return Parameter{}, fmt.Errorf("the value of %s is not a literal: %w; to set it to this text as a string, write %s=%q", name, w.err, name, strconv.Quote(value))
	}
	return Parameter{name, strconv.Quote(value)}, nil
}

// code reports whether an expression is code that is unlikely to be meant as a string.
func code(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.CompositeLit, *ast.FuncLit:
			found = true
		}
		return !found
	})
	return found
}

// writer writes a literal. err is set at the first part that is not data.
type writer struct {
	strings.Builder
	err error
}

func (w *writer) refuse(what string) {
	if w.err == nil {
		w.err = errors.New("it contains " + what)
	}
}

// value writes a value.
func (w *writer) value(e ast.Expr) {
	switch e := e.(type) {
	case *ast.BasicLit:
		w.basic(e)
	case *ast.UnaryExpr:
		number, ok := e.X.(*ast.BasicLit)
		if !ok || number.Kind == token.STRING || e.Op != token.SUB && e.Op != token.ADD {
			w.refuse("the operator " + e.Op.String())
			return
		}
		w.WriteString(e.Op.String())
		w.basic(number)
	case *ast.Ident:
		if e.Name != "true" && e.Name != "false" {
			w.refuse("the name " + e.Name)
			return
		}
		w.WriteString(e.Name)
	case *ast.CompositeLit:
		if e.Type == nil {
			w.refuse("braces without a type")
			return
		}
		w.typ(e.Type)
		w.elements(e)
	default:
		w.refuse(kind(e))
	}
}

// basic writes a basic literal.
func (w *writer) basic(e *ast.BasicLit) {
	if e.Kind != token.STRING {
		w.WriteString(e.Value)
		return
	}
	text, err := strconv.Unquote(e.Value)
	if err != nil {
		w.refuse("the string " + e.Value)
		return
	}
	w.WriteString(strconv.Quote(text))
}

// elements writes the elements of a composite literal.
func (w *writer) elements(e *ast.CompositeLit) {
	w.WriteByte('{')
	for i, element := range e.Elts {
		if i > 0 {
			w.WriteString(", ")
		}
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			if field, ok := pair.Key.(*ast.Ident); ok && structure(e.Type) {
				w.WriteString(field.Name)
			} else {
				w.element(pair.Key)
			}
			w.WriteString(": ")
			element = pair.Value
		}
		w.element(element)
	}
	w.WriteByte('}')
}

// element writes an element, whose type may be omitted, or which may be nil.
func (w *writer) element(e ast.Expr) {
	switch e := e.(type) {
	case *ast.CompositeLit:
		if e.Type == nil {
			w.elements(e)
			return
		}
	case *ast.Ident:
		if e.Name == "nil" {
			w.WriteString("nil")
			return
		}
	}
	w.value(e)
}

// structure reports whether a type may be a struct, whose keys are field names. Braces
// without a type may belong to one.
func structure(e ast.Expr) bool {
	switch e.(type) {
	case *ast.ArrayType, *ast.MapType:
		return false
	}
	return true
}

// typ writes a type.
func (w *writer) typ(e ast.Expr) {
	switch e := e.(type) {
	case *ast.Ident:
		w.WriteString(e.Name)
	case *ast.SelectorExpr:
		if name, ok := e.X.(*ast.Ident); ok {
			w.WriteString(name.Name + "." + e.Sel.Name)
			return
		}
		w.refuse(kind(e))
	case *ast.ArrayType:
		w.WriteByte('[')
		switch n := e.Len.(type) {
		case nil:
		case *ast.Ellipsis:
			w.WriteString("...")
		case *ast.BasicLit:
			w.basic(n)
		default:
			w.refuse("an array whose length is not a number")
		}
		w.WriteByte(']')
		w.typ(e.Elt)
	case *ast.MapType:
		w.WriteString("map[")
		w.typ(e.Key)
		w.WriteByte(']')
		w.typ(e.Value)
	case *ast.InterfaceType:
		if len(e.Methods.List) > 0 {
			w.refuse("an interface with methods")
			return
		}
		w.WriteString("interface{}")
	default:
		w.refuse("the type of " + kind(e))
	}
}

// kind describes an expression that is not data.
func kind(e ast.Expr) string {
	switch e.(type) {
	case *ast.FuncLit, *ast.FuncType:
		return "a function"
	case *ast.CallExpr:
		return "a call or conversion"
	case *ast.SelectorExpr:
		return "a name of a package or a field"
	case *ast.ParenExpr:
		return "parentheses"
	case *ast.BinaryExpr:
		return "an operator"
	case *ast.StructType:
		return "a struct without a name"
	}
	return "code"
}
