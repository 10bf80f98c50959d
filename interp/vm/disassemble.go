package vm

import (
	"fmt"
	"slices"
	"strings"
)

// Disassemble lists the instructions of a function. Scalar registers are n0, n1, ..., slots s0, s1, ...; a
// jump shows the index of its target.
func (f *Function) Disassemble() string {
	var b strings.Builder
	for _, in := range f.listed() {
		b.WriteString(in.Text + "\n")
	}
	return b.String()
}

// Listed is a compiled function in a form that people can read.
type Listed struct {
	Name         string   // in lowered code; empty for a function that has none
	Calls        []string // the functions of the VM and of compiled packages that it calls by name, each once
	Instructions []ListedInstruction
}

// ListedInstruction is an instruction as in Function.Disassemble, with its position as Source.Position gave it.
type ListedInstruction struct {
	Text     string
	Position int
}

// Listing returns the function in a form that people can read.
func (f *Function) Listing() Listed {
	x := Listed{Name: f.Name, Instructions: f.listed()}
	for _, callee := range f.Callees {
		if name, _, _ := strings.Cut(callee.Name, "ʹ"); name != "" && !slices.Contains(x.Calls, name) {
			x.Calls = append(x.Calls, name)
		}
	}
	for _, n := range f.Natives {
		if strings.Contains(n.Name, ".") && !strings.Contains(n.Name, " ") && !strings.HasPrefix(n.Name, "quern/session.") && !slices.Contains(x.Calls, n.Name) {
			x.Calls = append(x.Calls, n.Name)
		}
	}
	return x
}

func (f *Function) listed() (list []ListedInstruction) {
	for i, in := range f.Code {
		if in.Op == OpInvalid {
			continue // after the last instruction
		}
		text := fmt.Sprintf("%3d %s", i, OpNames[in.Op])
		separator := " "
		for j, o := range opOperands[in.Op] {
			if operand := f.operand(in, i, j, o); operand != "" {
				text += separator + operand
				separator = ", "
			}
		}
		list = append(list, ListedInstruction{text, f.Positions[i]})
	}
	return list
}

// operand formats operand j of instruction i, whose kind is o.
func (f *Function) operand(in Instruction, i, j int, o rune) string {
	value := []int{int(in.A), int(in.B), int(in.C), int(in.K), int(in.J)}[j]
	switch o {
	case 'n':
		return fmt.Sprintf("n%d", value/8)
	case 's':
		return fmt.Sprintf("s%d", value/int(SlotSize))
	case 'N':
		return fmt.Sprintf("frame n%d", value/8)
	case 'S':
		return fmt.Sprintf("s%d", value/int(SlotSize))
	case 'k':
		return fmt.Sprint(value)
	case 'j':
		return fmt.Sprintf("-> %d", i+value/int(InstructionSize))
	case 'f':
		return f.Callees[value].Name
	case 'y':
		return f.Types[value].typ.String()
	case 'g':
		return f.Globals[value].Name
	case 'x':
		switch in.Op {
		case OpCallValue:
			return ""
		case OpCallMethod:
			return f.CallSites[value].Name
		}
		return f.Natives[value].Name
	}
	return ""
}
