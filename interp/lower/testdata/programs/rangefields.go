package main

import "fmt"

type Op uint8

const (
	A Op = iota
	B
	C
)

type insn struct {
	op  Op
	arg int
}
type block struct {
	insns []insn
	ops   []Op
	byOp  map[Op]insn
	next  *block
}

func kinds(b *block) (n int) {
	for _, in := range b.insns {
		if in.op >= B {
			n++
		}
		defer func() { recover() }()
	}
	for range func(yield func() bool) { yield() } {
		for _, in := range b.insns {
			if in.op >= B || B < in.op {
				n += 10
				defer recover()
			}
		}
		for _, op := range b.ops {
			if op >= B {
				n += 100
			}
			op++
			op = op + A
		}
		for k, v := range b.byOp {
			if k > A && v.op == C {
				n += 1000
			}
		}
		if in, ok := b.byOp[B]; ok && in.op == C {
			n += 10000
		}
		last := b.insns[len(b.insns)-1]
		p := &b.insns[0]
		if last.op != p.op && p.op < last.op && p.op == A {
			n += 100000
		}
	}
	return n
}

func main() {
	b := &block{insns: []insn{{A, 1}, {B, 2}, {C, 3}}, ops: []Op{A, B, C}, byOp: map[Op]insn{B: {C, 1}}}
	fmt.Println(kinds(b))
}
