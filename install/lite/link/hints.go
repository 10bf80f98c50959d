package main

import "slices"

// Engines place code that is seldom needed apart, and need not keep variables in registers for it, if a section says so; see
// the proposal "Branch Hinting" of WebAssembly. Other engines ignore the section. In the loop of the VM, it lets
// Chromium keep more of the loop's variables in registers: nil checks, write barriers and bounds checks contain calls.
const hintSection = "metadata.code.branch_hint"

const leastTable = 100 // the number of entries in the table of an interpreter's loop

// hints returns the content of a section with hints for functions that choose from many cases, or nothing.
func hints(imports []byte, bodies [][]byte) []byte {
	functions, first := 0, 0
	r := reader{imports}
	if len(imports) > 0 {
		for range r.length() {
			r.name()
			r.name()
			if r.byte() != kindFunction {
				return nil // the second part of a program
			}
			r.length()
			first++
		}
	}
	var content []byte
	for i, body := range bodies {
		if list := bodyHints(body); list != nil {
			functions++
			content = append(unsigned(content, uint64(first+i)), list...)
		}
	}
	if functions == 0 {
		return nil
	}
	return append(append(vector(nil, []byte(hintSection)), unsigned(nil, uint64(functions))...), content...)
}

// bodyHints returns the hints of a function: a condition with a call is unlikely, and the one of a table likely.
func bodyHints(body []byte) []byte {
	type block struct {
		at           int // the place in the body, or -1 if the block is no condition
		calls, table bool
	}
	var blocks []block // in the order of their starts
	var open []int     // indices of those that have not ended
	many := false
	r := reader{body}
	r.locals()
	for len(r.rest) > 0 {
		at := len(body) - len(r.rest)
		switch in := r.next(); in.op {
		case opBlock, opLoop, opIf:
			if in.op != opIf {
				at = -1
			}
			open, blocks = append(open, len(blocks)), append(blocks, block{at: at})
		case opCall, opCallIndirect:
			for _, b := range open {
				blocks[b].calls = true
			}
		case opBrTable:
			table := reader{in.code[1:]}
			if n := len(open); n > 0 && blocks[open[n-1]].at >= 0 {
				blocks[open[n-1]].table = true
				many = many || table.length() >= leastTable
			}
		case opEnd:
			open = open[:max(0, len(open)-1)] // the last one is that of the function
		}
	}
	if !many {
		return nil
	}
	blocks = slices.DeleteFunc(blocks, func(b block) bool { return b.at < 0 || !b.calls && !b.table })
	list := unsigned(nil, uint64(len(blocks)))
	for _, b := range blocks {
		likely := byte(0)
		if b.table {
			likely = 1
		}
		list = append(unsigned(list, uint64(b.at)), 1, likely)
	}
	return list
}
