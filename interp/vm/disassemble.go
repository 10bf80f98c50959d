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

// Listing lists the functions of the unit.
func (u *Unit) Listing() (list []Listed) {
	for _, f := range u.functions {
		x := Listed{Name: f.name, Instructions: f.listed()}
		for _, callee := range f.callees {
			if name, _, _ := strings.Cut(callee.name, "ʹ"); name != "" && !slices.Contains(x.Calls, name) {
				x.Calls = append(x.Calls, name)
			}
		}
		for _, n := range f.natives {
			if strings.Contains(n.name, ".") && !strings.Contains(n.name, " ") && !strings.HasPrefix(n.name, "quern/session.") && !slices.Contains(x.Calls, n.name) {
				x.Calls = append(x.Calls, n.name)
			}
		}
		list = append(list, x)
	}
	return list
}

func (f *Function) listed() (list []ListedInstruction) {
	for i, in := range f.code {
		if in.op == opInvalid {
			continue // after the last instruction
		}
		text := fmt.Sprintf("%3d %s", i, opNames[in.op])
		separator := " "
		for j, o := range opOperands[in.op] {
			if operand := f.operand(in, i, j, o); operand != "" {
				text += separator + operand
				separator = ", "
			}
		}
		list = append(list, ListedInstruction{text, f.positions[i]})
	}
	return list
}

// Disassemble lists the instructions of all functions of the unit, each after its name.
func (u *Unit) Disassemble() string {
	var b strings.Builder
	for _, f := range u.functions {
		fmt.Fprintf(&b, "%s:\n%s", f.name, f.Disassemble())
	}
	return b.String()
}

// operand formats operand j of instruction i, whose kind is o.
func (f *Function) operand(in instruction, i, j int, o rune) string {
	value := []int{int(in.a), int(in.b), int(in.c), int(in.k), int(in.j)}[j]
	switch o {
	case 'n':
		return fmt.Sprintf("n%d", value/8)
	case 's':
		return fmt.Sprintf("s%d", value/int(slotSize))
	case 'N':
		return fmt.Sprintf("frame n%d", value/8)
	case 'S':
		return fmt.Sprintf("s%d", value/int(slotSize))
	case 'k':
		return fmt.Sprint(value)
	case 'j':
		return fmt.Sprintf("-> %d", i+value/int(instructionSize))
	case 'f':
		return f.callees[value].name
	case 'y':
		return f.types[value].typ.String()
	case 'g':
		return f.globals[value].name
	case 'x':
		switch in.op {
		case opCallValue:
			return ""
		case opCallMethod:
			return f.callSites[value].name
		}
		return f.natives[value].name
	}
	return ""
}
