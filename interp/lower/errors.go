package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"runtime/debug"

	"github.com/quernlab/quern/interp/vm/compile"
)

// UnsupportedError reports a legal Go construct that cannot be lowered.
type UnsupportedError struct {
	Construct string         // a noun phrase
	Hint      string         // what to write instead; may be empty
	Position  token.Position // of the construct in the cell
}

func (e *UnsupportedError) Error() string {
	text := fmt.Sprintf("%s: %s is not supported in a cell", e.Position, e.Construct)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// InternalError reports a bug of this package.
type InternalError struct {
	Reason   string
	Position token.Position // of the function that was being compiled
	Stack    string
}

func (e *InternalError) Error() string {
	return fmt.Sprintf("%s: lowering failed: %s", e.Position, e.Reason)
}

// unsupported ends the lowering of the cell with an UnsupportedError.
func (e *emitter) unsupported(at ast.Node, construct, hint string) {
	panic(&UnsupportedError{Construct: construct, Hint: hint, Position: e.positionOf(at)})
}

// failure turns the panic value of a lowering function into an error.
func (e *emitter) failure(r any) error {
	switch r := r.(type) {
	case *UnsupportedError:
		return r
	case *compile.UnsupportedError:
		return &UnsupportedError{Construct: r.Construct, Hint: r.Hint, Position: e.positionOf(r.Node)}
	case *compile.Stopped:
		return r.Err
	}
	return &InternalError{Reason: fmt.Sprint(r), Position: e.Fset.Position(e.machineAt()), Stack: string(debug.Stack())}
}

// machineAt returns the position of the function that package compile compiles.
func (e *emitter) machineAt() token.Pos {
	if e.machine == nil {
		return token.NoPos
	}
	return e.machine.At()
}
