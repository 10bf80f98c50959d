package vm

import (
	"fmt"
	"strings"
)

// Disassemble lists the instructions of a function. Scalar registers are n0, n1, ..., slots s0, s1, ...; a
// jump shows the index of its target.
func (f *Function) Disassemble() string {
	var b strings.Builder
	for i, in := range f.code {
		if in.op == opInvalid {
			continue // after the last instruction
		}
		fmt.Fprintf(&b, "%3d %s", i, opNames[in.op])
		separator := " "
		for j, o := range opOperands[in.op] {
			if text := f.operand(in, i, j, o); text != "" {
				b.WriteString(separator + text)
				separator = ", "
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
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
