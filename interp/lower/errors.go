package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"runtime/debug"

	"github.com/quernlab/quern/interp/origin"
	"github.com/quernlab/quern/interp/vm"
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
	Position token.Position // of the statement that was being lowered
	Stack    string
}

func (e *InternalError) Error() string {
	return fmt.Sprintf("%s: lowering failed: %s", e.Position, e.Reason)
}

// unsupported ends the lowering of the cell with an UnsupportedError.
func (e *emitter) unsupported(at ast.Node, construct, hint string) {
	panic(&UnsupportedError{Construct: construct, Hint: hint, Position: e.positionOf(at)})
}

// atDeclaration sets the position for errors about types, which do not know where they are mentioned, to the declaration of an
// object of a cell or of a package of a module.
func (e *emitter) atDeclaration(o types.Object) {
	if o.Pkg() != nil && origin.Interpreted(o.Pkg()) && o.Pos().IsValid() {
		e.at = e.Fset.Position(o.Pos())
	}
}

// failure turns the panic value of a lowering function into an error.
func (e *emitter) failure(r any) error {
	switch r := r.(type) {
	case *UnsupportedError:
		return r
	case *vm.Stopped:
		return r.Err
	}
	return &InternalError{Reason: fmt.Sprint(r), Position: e.at, Stack: string(debug.Stack())}
}
