package check

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
)

// Limits of nesting in a cell.
//
// go/parser fails at 1000 nested scopes, of which an if statement has two, and its error does
// not help the user. Recursion into expressions takes stack for each level, and text that is
// copied at each level takes quadratic time.
const (
	// maxBlocks limits statements: lowered code has up to three scopes for a block.
	maxBlocks = 250
	// maxBrackets limits the nesting depth of brackets.
	maxBrackets = 1000
	// maxOperators limits the operators, selectors, calls and type elements in one
	// expression, including those in brackets around it.
	maxOperators = 10_000
)

// tooDeep returns the first token at which brackets or operators exceed a limit. msg is "" if
// there is none.
func tooDeep(list []lexeme) (offset int, msg string) {
	operators := []int{0} // for the expression at each bracket level
	sum := 0
	for _, t := range list {
		top := len(operators) - 1
		switch t.tok {
		case token.IDENT, token.INT, token.FLOAT, token.IMAG, token.CHAR, token.STRING:
			continue
		case token.SEMICOLON, token.COMMA, token.CASE, token.DEFAULT:
			sum -= operators[top]
			operators[top] = 0
			continue
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if top > 0 {
				sum -= operators[top]
				operators = operators[:top]
			}
			continue
		}
		operators[top]++
		if sum++; sum > maxOperators {
			return t.offset, fmt.Sprintf("an expression has more than %d operators, selectors and calls, which is the limit: "+
				"compute it in several steps with variables, or in a loop", maxOperators)
		}
		switch t.tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			if operators = append(operators, 0); len(operators) > maxBrackets+1 {
				return t.offset, fmt.Sprintf("brackets are nested more than %d deep, which is the limit: "+
					"move the inner part to a variable or a function", maxBrackets)
			}
		}
	}
	return 0, ""
}

// deepBlock is deepest for a file that failed to parse, perhaps because of its depth.
func deepBlock(text string) *Error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	return deepest(fset, file)
}

// deepest returns the error of a file whose blocks are nested too deeply, or nil. Each else
// if counts as a block.
func deepest(fset *token.FileSet, file *ast.File) *Error {
	depth := 0
	var counted []bool // whether the enclosing nodes count
	var e *Error
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			if last := len(counted) - 1; counted[last] {
				depth--
			}
			counted = counted[:len(counted)-1]
			return false
		}
		if e != nil {
			return false
		}
		counts := false
		switch n := n.(type) {
		case *ast.BlockStmt:
			counts = true
		case *ast.IfStmt:
			_, counts = n.Else.(*ast.IfStmt)
		}
		if counts {
			if depth++; depth > maxBlocks+1 { // the outermost block is that of a function
				e = &Error{Pos: cellPosition(fset, n.Pos()), pos: n.Pos(), Msg: fmt.Sprintf("blocks are nested more than %d deep, which is the limit: "+
					"move the inner ones to a function, or write a long chain of else if as a switch", maxBlocks)}
			}
		}
		counted = append(counted, counts)
		return true
	})
	return e
}
