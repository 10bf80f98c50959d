package compile

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// A GPU has no registers with an index: an array of a thread is in its local memory, unless all indices are constant. Short loops are therefore
// unrolled, and then arrays with constant indices become variables.

// maxUnrolled is the number of iterations of all loops around a statement that are unrolled.
const maxUnrolled = 16

// unrolls reports whether a range over n elements is unrolled: its body is compiled for each index, which is a constant there.
func (c *compiler) unrolls(s *ast.RangeStmt, n program.Operand) bool {
	if !n.IsConst() || int64(n.Bits) < 1 || n.Bits*uint64(c.unrolled) > maxUnrolled || s.Tok != token.DEFINE && s.Key != nil {
		return false
	}
	var key types.Object
	if id, ok := s.Key.(*ast.Ident); ok {
		key = c.info.Defs[id]
	}
	fits := true
	changes := func(e ast.Expr) {
		if id, ok := ast.Unparen(e).(*ast.Ident); ok && key != nil && c.info.Uses[id] == key {
			fits = false
		}
	}
	ast.Inspect(s.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				changes(e)
			}
		case *ast.IncDecStmt:
			changes(n.X)
		case *ast.RangeStmt:
			changes(n.Key)
			changes(n.Value)
		case *ast.LabeledStmt:
			fits = false
		case *ast.CallExpr:
			// A function may declare a shared array, which would become several.
			if f, ok := c.callee(n).(*types.Func); ok && (f.Pkg() == nil || f.Pkg().Path() != "math" && f.Pkg().Path() != KernelPath || f.Name() == "Shared") {
				fits = false
			}
		}
		return fits
	})
	return fits
}

// promote makes the elements of arrays of a thread variables, if all indices are constant.
func promote(p *program.Program) {
	constant := map[*program.Memory]bool{}
	for _, m := range p.Memories {
		constant[m] = m.Space == program.Local
	}
	p.Each(func(i *program.Instr) {
		if m := i.Mem; m != nil && (i.Op != program.Load && i.Op != program.Store || !i.Args[0].IsConst() || i.Args[0].Bits >= uint64(m.Len)) {
			constant[m] = false
		}
	})
	elements := map[*program.Memory][]*program.Var{}
	var memories []*program.Memory
	for _, m := range p.Memories {
		if !constant[m] {
			m.ID = len(memories)
			memories = append(memories, m)
			continue
		}
		for range m.Len {
			v := &program.Var{Type: m.Elem, ID: len(p.Vars)}
			p.Vars = append(p.Vars, v)
			elements[m] = append(elements[m], v)
		}
	}
	p.Memories = memories
	p.Each(func(i *program.Instr) {
		m := i.Mem
		if m == nil || !constant[m] {
			return
		}
		v := elements[m][i.Args[0].Bits]
		if i.Op == program.Load {
			i.Args = []program.Operand{{Var: v, Type: m.Elem}}
		} else {
			i.Dst, i.Args = v, i.Args[1:]
		}
		i.Op, i.Mem, i.Text = program.Move, nil, ""
	})
}
