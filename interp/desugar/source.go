package desugar

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"

	"github.com/quernlab/quern/interp/facts"
)

// Source is checked code.
type Source struct {
	Info *types.Info
	// Note records the type, and the value, of an expression that is not in the source; Use and Define record that an
	// identifier denotes or declares a variable.
	Note   func(e ast.Expr, tv types.TypeAndValue)
	Use    func(id *ast.Ident, v *types.Var)
	Define func(id *ast.Ident, v *types.Var)
	// Interpreted reports whether functions of a package are interpreted, so that they may change any variable.
	Interpreted func(*types.Package) bool
	// Records reports whether a statement is to remain as it is, because its assignments to errors are recorded.
	Records func(ast.Stmt) bool
}

// IsAdded reports whether a pass has added a variable. No call changes such a variable.
func IsAdded(v *types.Var) bool { return v.Pkg() == nil }

// variable creates a variable for the value of e.
func (s *Source) variable(e ast.Expr) (*ast.Ident, *types.Var) {
	return s.variableOf(e.Pos(), types.Default(s.Info.TypeOf(e)))
}

func (s *Source) variableOf(pos token.Pos, t types.Type) (*ast.Ident, *types.Var) {
	const name = "early"
	v := types.NewVar(pos, nil, name, t)
	id := &ast.Ident{NamePos: pos, Name: name}
	s.Define(id, v)
	return id, v
}

// use returns an identifier for the value of a variable.
func (s *Source) use(pos token.Pos, v *types.Var) *ast.Ident {
	id := &ast.Ident{NamePos: pos, Name: v.Name()}
	s.Use(id, v)
	return id
}

// define returns the definition of a variable.
func define(id *ast.Ident, value ast.Expr) ast.Stmt {
	return &ast.AssignStmt{Lhs: []ast.Expr{id}, TokPos: id.Pos(), Tok: token.DEFINE, Rhs: []ast.Expr{value}}
}

// boolean returns the constant true or false.
func (s *Source) boolean(pos token.Pos, value bool) ast.Expr {
	id := &ast.Ident{NamePos: pos, Name: strconv.FormatBool(value)}
	s.Note(id, types.TypeAndValue{Type: types.Typ[types.Bool], Value: constant.MakeBool(value)})
	return id
}

// A pass changes the statements of a function, with those in nested blocks and function literals.
type pass struct {
	name  string
	run   func(s *Source, known *facts.Function, body []ast.Stmt) []ast.Stmt
	after []string // passes that must run before it
}

var passes = []pass{
	{name: "order", run: inOrder},
	// The tag of a switch moves to a statement of its own, where order would not see it.
	{name: "switch", run: switches, after: []string{"order"}},
}

// Run applies all passes to the statements of a function and returns the new ones.
func (s *Source) Run(known *facts.Function, body []ast.Stmt) []ast.Stmt {
	for _, p := range passes {
		body = p.run(s, known, body)
	}
	return body
}
