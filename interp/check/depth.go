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
	// maxBlocks limits statements: the code for go/parser has up to blockScopes scopes for a block, and
	// one for an else if.
	maxBlocks   = 250
	blockScopes = 4
	maxElseIfs  = maxBlocks * blockScopes
	// maxBrackets limits the nesting depth of brackets.
	maxBrackets = 1000
	// maxOperators limits the operators, selectors, calls and type elements in one
	// expression, including those in brackets around it.
	maxOperators = 10_000
)

// tooDeep returns the first token at which brackets, operators or else ifs exceed a limit. msg is ""
// if there is none.
func tooDeep(list []lexeme) (offset int, msg string) {
	operators := []int{0} // for the expression at each bracket level
	elses := []int{0}     // for the statement at each bracket level
	sum := 0
	for _, t := range list {
		top := len(operators) - 1
		switch t.tok {
		case token.IDENT, token.INT, token.FLOAT, token.IMAG, token.CHAR, token.STRING:
			continue
		case token.SEMICOLON, token.COMMA, token.CASE, token.DEFAULT, token.ELSE:
			sum -= operators[top]
			operators[top] = 0
			if t.tok != token.ELSE {
				elses[top] = 0
			} else if elses[top]++; elses[top] > maxElseIfs {
				return t.offset, longChain
			}
			continue
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if top > 0 {
				sum -= operators[top]
				operators, elses = operators[:top], elses[:top]
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
			operators, elses = append(operators, 0), append(elses, 0)
			if top+1 > maxBrackets {
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

var longChain = fmt.Sprintf("a chain of else if is too long: the limit is %d, less %d for each block around it: "+
	"write it as a switch", maxElseIfs, blockScopes)

// deepest returns the error of a file whose blocks are nested too deeply, or nil.
func deepest(fset *token.FileSet, file *ast.File) *Error {
	blocks, elseIfs := 0, 0
	var enclosing []ast.Node
	var e *Error
	count := func(n ast.Node, by int) {
		switch n := n.(type) {
		case *ast.BlockStmt:
			blocks += by
		case *ast.IfStmt:
			if _, chain := n.Else.(*ast.IfStmt); chain {
				elseIfs += by
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			last := len(enclosing) - 1
			count(enclosing[last], -1)
			enclosing = enclosing[:last]
			return false
		}
		if e != nil {
			return false
		}
		count(n, 1)
		enclosing = append(enclosing, n)
		// The outermost block is that of a function.
		if (blocks-1)*blockScopes+elseIfs > maxBlocks*blockScopes {
			msg := longChain
			if elseIfs == 0 {
				msg = fmt.Sprintf("blocks are nested more than %d deep, which is the limit: move the inner ones to a function", maxBlocks)
			}
			e = &Error{Pos: cellPosition(fset, n.Pos()), pos: n.Pos(), Msg: msg}
		}
		return true
	})
	return e
}
