package ir

import (
	"fmt"
	"strings"
)

// String lists slots and steps, for tests and debugging:
//
//	0 Linear+ReLU  x0[4 3] x1[8 3] x2[8] -> t5[4 8]
//	1 loop[4 8]    t5[4 8] t7[4 8] -> o9[4 8]: MulScalar(0) Add(1 2)=0
//
// x is an external, o an output, t a temporary; the strides of a layout are shown if it is
// not row-major. The numbers of a fused kernel are arguments: its inputs first, then the results of
// earlier instructions; =k is stored to output k.
func (p *Program) String() string {
	var b strings.Builder
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "%d %s", i, s.name())
		for _, o := range s.In {
			b.WriteString(" " + p.operand(o))
		}
		b.WriteString(" ->")
		for _, o := range s.Out {
			b.WriteString(" " + p.operand(o))
		}
		for k, in := range s.Loop {
			sep := " "
			if k == 0 {
				sep = ": "
			}
			b.WriteString(sep + in.String())
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "arena %d bytes\n", p.Arena)
	return b.String()
}

func (s Step) name() string {
	switch {
	case len(s.Parts) > 0:
		return fmt.Sprintf("loop of %d", len(s.Parts))
	case s.Op == nil:
		return "loop" + FormatShape(s.Shape)
	}
	return strings.Join(s.opNames(), "+")
}

// opNames returns the names of the ops that a step with an Op computes.
func (s Step) opNames() []string {
	switch {
	case s.Epilogue != nil || s.Summed > 0:
		names := []string{s.Op.Name()}
		if s.Epilogue != nil {
			names = append(names, s.Epilogue.Name())
		}
		if s.Summed > 0 {
			names = append(names, Sum{}.Name())
		}
		return names
	case s.withLoss():
		return []string{CrossEntropy{}.Name(), s.Op.Name()}
	case s.Around != nil:
		return s.Around.names(s.Op)
	}
	return []string{s.Op.Name()}
}

// String returns the op with its arguments and, if it is stored, the output.
func (i Instr) String() string {
	args := strings.Trim(fmt.Sprint(i.Args), "[]")
	if i.Out < 0 {
		return fmt.Sprintf("%s(%s)", i.Op.Name(), args)
	}
	return fmt.Sprintf("%s(%s)=%d", i.Op.Name(), args, i.Out)
}

func (p *Program) operand(o Operand) string {
	kind := "xot"[p.Slots[o.Slot].Kind]
	s := fmt.Sprintf("%c%d%s", kind, o.Slot, FormatShape(o.Shape))
	if !o.Contiguous() {
		s += fmt.Sprintf("/%s", FormatShape(o.Stride))
	}
	if o.Offset != 0 {
		s += fmt.Sprintf("+%d", o.Offset)
	}
	if o.DType != Float32 {
		s += ":" + o.DType.String()
	}
	return s
}
