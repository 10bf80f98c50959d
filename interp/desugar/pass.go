package desugar

import (
	"go/ast"

	"github.com/quernlab/quern/interp/facts"
)

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
