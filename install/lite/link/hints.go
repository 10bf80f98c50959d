package main

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
	type condition struct {
		at           int // the place in the body, or -1 for another block
		calls, table bool
	}
	var open []condition
	found := map[int]byte{}
	var places []int
	many := false
	r := reader{body}
	r.locals()
	for len(r.rest) > 0 {
		at := len(body) - len(r.rest)
		in := r.next()
		switch in.op {
		case opBlock, opLoop:
			open = append(open, condition{at: -1})
		case opIf:
			open = append(open, condition{at: at})
			places = append(places, at)
		case opCall, opCallIndirect:
			for i := range open {
				open[i].calls = true
			}
		case opBrTable:
			table := reader{in.code[1:]}
			if n := len(open); n > 0 && open[n-1].at >= 0 {
				open[n-1].table = true
				many = many || table.length() >= leastTable
			}
		case opEnd:
			n := len(open) - 1
			if n < 0 {
				break // of the function
			}
			if c := open[n]; c.at >= 0 && (c.calls || c.table) {
				found[c.at] = 0
				if c.table {
					found[c.at] = 1
				}
			}
			open = open[:n]
		}
	}
	if !many {
		return nil
	}
	list := unsigned(nil, uint64(len(found)))
	for _, at := range places {
		if value, ok := found[at]; ok {
			list = append(unsigned(list, uint64(at)), 1, value)
		}
	}
	return list
}
