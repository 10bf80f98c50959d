package device

import (
	"fmt"
	"go/token"
	"slices"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

func (w *writer) statements(list []program.Stmt) error {
	for _, s := range list {
		if err := w.statement(s); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) statement(s program.Stmt) error {
	switch s := s.(type) {
	case *program.Instr:
		w.position(s.Pos)
		return w.instr(s)
	case *program.Block:
		end := w.label()
		w.blocks[s] = end
		if err := w.statements(s.Body); err != nil {
			return err
		}
		fmt.Fprintf(&w.text, "L%d:\n", end)
	case *program.Loop:
		begin := w.label()
		fmt.Fprintf(&w.text, "L%d:\n", begin)
		if err := w.statements(s.Body); err != nil {
			return err
		}
		fmt.Fprintf(&w.text, "\tbra L%d;\n", begin)
	case *program.If:
		return w.branch(s)
	case *program.Leave:
		if s.Block == w.program.Body {
			fmt.Fprintf(&w.text, "\tret;\n")
		} else {
			fmt.Fprintf(&w.text, "\tbra L%d;\n", w.blocks[s.Block])
		}
	}
	return nil
}

func (w *writer) branch(s *program.If) error {
	p := w.op("p", "setp.eq.u32", w.operand(s.Cond), "0")
	otherwise, end := w.label(), w.label()
	fmt.Fprintf(&w.text, "\t@%s bra L%d;\n", p, otherwise)
	if err := w.statements(s.Then); err != nil {
		return err
	}
	if len(s.Else) == 0 {
		fmt.Fprintf(&w.text, "L%d:\n", otherwise)
		return nil
	}
	fmt.Fprintf(&w.text, "\tbra L%d;\nL%d:\n", end, otherwise)
	if err := w.statements(s.Else); err != nil {
		return err
	}
	fmt.Fprintf(&w.text, "L%d:\n", end)
	return nil
}

// position writes a .loc if the position is not that of the instruction before.
func (w *writer) position(p token.Position) {
	i := slices.Index(w.files, p.Filename)
	if i < 0 {
		i = len(w.files)
		w.files = append(w.files, p.Filename)
	}
	if at := fmt.Sprintf("\t.loc %d %d %d\n", i+1, p.Line, p.Column); at != w.at {
		w.at = at
		w.text.WriteString(at)
	}
}
