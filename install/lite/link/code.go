package main

import "fmt"

// The instructions that this program looks at.
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opI32Const     = 0x41
	opI64Const     = 0x42
	opI32Eqz       = 0x45
	opI32WrapI64   = 0xa7
	opPrefix       = 0xfc
)

const noResult = 0x40 // the type of a block

// An instruction is one of a function. value is that of a constant, or its index or label; other immediates are left out.
type instruction struct {
	op    byte
	value int64
	code  []byte // the whole instruction
}

// next takes an instruction.
func (r *reader) next() instruction {
	start := r.rest
	in := instruction{op: r.byte()}
	switch op := in.op; {
	case op == opBlock || op == opLoop || op == opIf:
		in.value = int64(r.byte())
	case op == opBr || op == opBrIf || op == opCall || op >= opLocalGet && op <= 0x26:
		in.value = int64(r.unsigned())
	case op == opBrTable:
		for range r.length() + 1 {
			r.unsigned()
		}
	case op == opCallIndirect || op >= 0x28 && op <= 0x3e: // of two numbers: type and table, alignment and offset
		r.unsigned()
		r.unsigned()
	case op == 0x3f || op == 0x40: // memory.size, memory.grow
		r.byte()
	case op == opI32Const || op == opI64Const:
		in.value = r.signed()
	case op == 0x43:
		r.bytes(4)
	case op == 0x44:
		r.bytes(8)
	case op == opPrefix:
		switch sub := r.unsigned(); {
		case sub <= 7: // conversions of floating-point numbers that saturate
		case sub == 10: // memory.copy
			r.bytes(2)
		case sub == 11: // memory.fill
			r.byte()
		default:
			panic(fmt.Sprintf("unknown instruction 0xfc %d", sub))
		}
	case op <= 0x01 || op == opElse || op == opEnd || op == opReturn || op == 0x1a || op == 0x1b || op >= opI32Eqz && op <= 0xc4:
	default:
		panic(fmt.Sprintf("unknown instruction %#x", op))
	}
	in.code = start[:len(start)-len(r.rest)]
	return in
}

// locals takes the declarations of local variables, with which a body starts.
func (r *reader) locals() []byte {
	start := r.rest
	for range r.length() {
		r.unsigned()
		r.byte()
	}
	return start[:len(start)-len(r.rest)]
}
