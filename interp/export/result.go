package export

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// What a cell shows, and how it fails.

// outcome classifies the last statement of a cell.
type outcome int

const (
	noResult       outcome = iota
	notShown               // an expression whose value is not shown
	value                  // an expression whose value is shown
	values                 // a list of expressions, or a call with several results
	madeError              // an expression such as errors.New(...), shown unless it is nil
	errorOnly              // a call whose only result is an error
	valuesAndError         // a call with several results, the last of which is an error
	countAndError          // a call that returns a byte count, which is not shown, and an error
)

// last returns the last statement of a cell, or nil.
func (c *cell) last() *piece {
	for i := len(c.pieces) - 1; i >= 0; i-- {
		if c.pieces[i].stmt != nil {
			return c.pieces[i]
		}
	}
	return nil
}

// result classifies the last statement.
func (c *cell) result() outcome {
	last := c.last()
	if last == nil {
		return noResult
	}
	s, ok := last.stmt.(*ast.ExprStmt)
	switch {
	case last.values:
		return values
	case !ok:
		return noResult
	case len(c.checked.Result) == 0:
		if t := c.lastType(); t != nil && !isTuple(t) {
			return notShown
		}
		return noResult
	}
	t := c.checked.Info.Types[c.checked.Result[0]].Type
	_, isCall := ast.Unparen(s.X).(*ast.CallExpr)
	fails := isCall && c.checked.IsCall() && c.checked.EndsInError()
	made := false
	if call, ok := ast.Unparen(c.checked.Result[0]).(*ast.CallExpr); ok {
		made = c.checked.MakesError(call)
	}
	switch {
	case fails && made && !isTuple(t):
		return madeError
	case fails && c.checked.IsCount():
		return countAndError
	case fails && !made && isTuple(t):
		return valuesAndError
	case fails && !made:
		return errorOnly
	case isTuple(t):
		return values
	}
	return value
}

// lastType returns the type of a last expression that is not shown; nil if it has none.
func (c *cell) lastType() types.Type {
	if len(c.checked.Body) == 0 {
		return nil
	}
	var e ast.Expr
	switch s := c.checked.Body[len(c.checked.Body)-1].(type) {
	case *ast.ExprStmt:
		e = s.X
	case *ast.AssignStmt:
		e = s.Rhs[0]
	default:
		return nil
	}
	if tv := c.checked.Info.Types[e]; !tv.IsVoid() {
		return tv.Type
	}
	return nil
}

func isTuple(t types.Type) bool {
	_, ok := t.(*types.Tuple)
	return ok
}

// form is how a value is shown.
type form int

const (
	displayed form = iota // by package display
	printed               // by fmt.Println
	quoted                // by fmt.Printf("%q\n")
)

// form returns the simplest form that shows values of a type as a session does.
func (p *program) form(t types.Type) form {
	if p.methodOf(t, "MIMEBundle") || p.methodOf(t, "Report") {
		return displayed
	}
	if types.Identical(t, types.Universe.Lookup("error").Type()) {
		if p.mayDisplay() {
			return displayed
		}
		return printed
	}
	if types.IsInterface(t) {
		return displayed
	}
	if p.methodOf(t, "String") || p.methodOf(t, "Error") {
		return printed
	}
	if b, ok := t.Underlying().(*types.Basic); ok {
		switch {
		case b.Info()&types.IsString != 0 && types.NewMethodSet(t).Len() == 0:
			return quoted
		case b.Info()&(types.IsNumeric|types.IsBoolean) != 0:
			return printed
		}
	}
	return displayed
}

// methodOf reports whether values of a type have a method with this name.
func (p *program) methodOf(t types.Type, name string) bool {
	return types.NewMethodSet(t).Lookup(p.pkg, name) != nil
}

// mayDisplay reports whether the program may contain values with a method MIMEBundle or Report.
func (p *program) mayDisplay() bool {
	if p.taken["MIMEBundle"] || p.taken["Report"] {
		return true
	}
	for _, c := range p.cells {
		for _, f := range c.references {
			if name, ok := f.object.(*types.PkgName); ok && strings.HasPrefix(name.Imported().Path(), modulePath) {
				return true
			}
		}
	}
	return false
}

// show returns the statement that shows the expressions in text.
func (p *program) show(c *cell, text string) string {
	f := displayed
	if c.result() == value {
		f = p.form(c.checked.Info.Types[c.checked.Result[0]].Type)
	}
	switch f {
	case printed:
		return fmt.Sprintf("%s.Println(%s)", p.imports.safe("fmt", "fmt"), text)
	case quoted:
		return fmt.Sprintf("%s.Printf(\"%%q\\n\", %s)", p.imports.safe("fmt", "fmt"), text)
	}
	return fmt.Sprintf("%s.Result(%s)", p.imports.safe(modulePath+"display", "display"), text)
}

// modulePath is the path of our module, with a slash.
const modulePath = "github.com/quernlab/quern/"

// finish returns the statement for a last expression if nothing has to run between its evaluation and its
// display.
func (p *program) finish(c *cell, text string) string {
	switch c.result() {
	case notShown:
		return "_ = " + text
	case value, values:
		return p.show(c, text)
	case madeError:
		name := p.fresh("made")
		return fmt.Sprintf("if %s := %s; %s != nil {\n%s\n}", name, text, name, p.show(c, name))
	case errorOnly:
		return fmt.Sprintf("%s(%s)", p.must(c), text)
	case countAndError:
		return fmt.Sprintf("%s(%s)", p.needs.noError(p, p.must(c)), text)
	case valuesAndError:
		return p.show(c, fmt.Sprintf("%s(%s)...", p.needs.noError(p, p.must(c)), text))
	}
	return text
}

// later is finish for a last expression whose values are kept in a variable while other code runs: before
// evaluates it, after shows it. With inner set, before is in an inner function, which may end without a
// value.
func (p *program) later(c *cell, text, variable string, inner bool) (before, after string) {
	if c.result() == notShown || c.result() == noResult {
		return p.finish(c, text), ""
	}
	assign, condition := ":=", ""
	if inner {
		assign, condition = "=", variable+" != nil"
	}
	before = fmt.Sprintf("%s %s %s(%s)", variable, assign, p.needs.values(p), text)
	display := p.imports.safe(modulePath+"display", "display")
	switch c.result() {
	case value, values:
		after = fmt.Sprintf("%s.Result(%s...)", display, variable)
	case madeError:
		after = fmt.Sprintf("%s.Result(%s...)", display, variable)
		if condition != "" {
			condition += " && "
		}
		condition += variable + "[0] != nil"
	case errorOnly, countAndError:
		after = fmt.Sprintf("%s(%s...)", p.needs.noError(p, p.must(c)), variable)
	case valuesAndError:
		after = fmt.Sprintf("%s.Result(%s(%s...)...)", display, p.needs.noError(p, p.must(c)), variable)
	}
	if condition != "" {
		after = fmt.Sprintf("if %s {\n%s\n}", condition, after)
	}
	return before, after
}
