package main

import "slices"

// Go's compiler translates a jump into an assignment of the number of the target to the first local variable, PC_B, and a
// branch to the start of a loop around the whole function, where a branch table finds the target. A function is
//
//	block                          ; if it calls functions
//	  loop
//	    block … block              ; one for each region
//	      local.get 0, br_table …
//	    end                        ; the start of region 0
//	    …
//	    end                        ; the start of region 1
//	    …
//	  end
//	end
//
// A jump forward needs neither variable nor table, since the end of the block of its target is still ahead: it is one
// branch. And a switch, for which Go has no tables in WebAssembly but a tree of comparisons, can be a branch table.

// A function is the code of a function with jumps.
type function struct {
	start   []byte // up to the blocks of the regions
	targets []int  // the region of each number of PC_B; the last is that of all further numbers
	regions []region
	rest    []byte // from the end of the loop
}

// A region is the code between the ends of two blocks.
type region struct {
	code    []byte
	test    *test     // with which the code ends, or nil
	reads   variables // that earlier regions write
	exits   []exit
	back    bool // whether a jump backward leads here
	resumed bool // whether the region before ends with a call
}

// A test is the end of a region that compares a local variable with a constant and jumps forward, or goes on in the next
// region.
type test struct {
	at       int // its start in the code of the region
	variable int64
	compare  byte // the instruction, without the meaning of a following i32.eqz
	constant int64
	yes, no  int // the next regions
}

// optimizeJumps returns a body whose jumps forward are branches and whose switches are tables, or the body itself if it has
// no jumps.
func optimizeJumps(body []byte) []byte {
	f, ok := readFunction(body)
	if !ok {
		return body
	}
	f.tables()
	out := f.header()
	for _, region := range f.regions {
		out = append(append(out, region.code...), opEnd)
	}
	return append(out, f.rest...)
}

// readFunction reads the body of a function with jumps, and replaces those forward.
func readFunction(body []byte) (*function, bool) {
	r := reader{body}
	r.locals()
	f := &function{}
	if !f.entry(&r, body) {
		return nil, false
	}
	ahead := r
	for i := range f.regions {
		f.region(&ahead, i)
	}
	// Now the targets of jumps backward are known, which the code depends on.
	for i := range f.regions {
		f.regions[i] = region{back: f.regions[i].back}
	}
	for i := range f.regions {
		f.region(&r, i)
	}
	f.rest = r.rest
	return f, true
}

// entry takes the start of the function with a body, and says whether it is one with jumps.
func (f *function) entry(r *reader, body []byte) bool {
	in := r.next()
	if in.op == opGlobalGet { // the stack pointer, into a local variable
		r.next()
		in = r.next()
	}
	if in.op == opBlock {
		in = r.next()
	}
	if in.op != opLoop {
		return false
	}
	f.start = slices.Clone(body[:len(body)-len(r.rest)])
	blocks := 0
	for in = r.next(); in.op == opBlock; in = r.next() {
		blocks++
	}
	if in.op != opLocalGet || in.value != 0 || r.rest[0] != opBrTable {
		return false
	}
	table := reader{r.next().code[1:]}
	for range table.length() + 1 {
		f.targets = append(f.targets, table.length())
	}
	f.regions = make([]region, blocks)
	return r.next().op == opEnd
}

// region takes a region with the end of its block, or of the loop after the last.
func (f *function) region(r *reader, number int) {
	to := &f.regions[number]
	var copied []instruction
	var written variables
	depth, ended := 0, false
	for {
		in, forward := f.forward(r, number, depth)
		if !forward {
			in = r.next()
		}
		if in.op == opEnd && depth == 0 {
			break
		}
		switch in.op {
		case opBlock, opLoop, opIf:
			depth++
		case opEnd:
			depth--
		case opLocalGet:
			if !ended {
				to.reads |= variable(in.value) &^ written
			}
		case opLocalSet, opLocalTee:
			if depth == 0 {
				written |= variable(in.value)
			}
		case opBr, opBrIf:
			region := number + 1 + int(in.value) - depth
			if n := len(copied); region == len(f.regions) && in.op == opBr && n >= 2 && copied[n-1].op == opLocalSet && copied[n-1].value == 0 {
				region = f.target(copied[n-2].value)
				f.regions[region].back = f.regions[region].back || region <= number
			}
			if region < len(f.regions) && !ended {
				to.exits = append(to.exits, exit{region, written})
			}
			ended = ended || in.op == opBr && depth == 0
		case opReturn, opUnreachable:
			ended = ended || depth == 0
		}
		to.code = append(to.code, in.code...)
		copied = append(copied, in)
	}
	to.test = readTest(copied, len(to.code), number)
	if number+1 == len(f.regions) || ended {
		return
	}
	next := &f.regions[number+1]
	if n := len(copied); n > 0 && copied[n-1].op == opBrIf && number+1+int(copied[n-1].value) > len(f.regions) {
		// A call: no variable keeps its value.
		next.resumed = true
		return
	}
	to.exits = append(to.exits, exit{number + 1, written})
	if next.back {
		to.test = nil
		// With the table as the only way to the region, its variables stay where they are.
		to.code = signed(append(to.code, opI32Const), int64(slices.Index(f.targets, number+1)))
		to.code = unsigned(append(to.code, opLocalSet, 0, opBr), uint64(len(f.regions)-1-number))
	}
}

// target returns the region of a number of PC_B.
func (f *function) target(number int64) int {
	return f.targets[min(int(number), len(f.targets)-1)]
}

// forward takes a jump forward, with or without a condition, and returns the branch that replaces it. Otherwise it takes
// nothing.
func (f *function) forward(r *reader, number, depth int) (instruction, bool) {
	ahead, op, inner := *r, byte(opBr), 0
	if ahead.rest[0] == opIf {
		ahead.next()
		op, inner = opBrIf, 1
	}
	if ahead.rest[0] != opI32Const {
		return instruction{}, false
	}
	target := ahead.next().value
	if ahead.rest[0] != opLocalSet || ahead.next().value != 0 || ahead.rest[0] != opBr {
		return instruction{}, false
	}
	loop := depth + inner + len(f.regions) - 1 - number
	to := f.target(target)
	if int(ahead.next().value) != loop || to <= number || f.regions[to].back {
		return instruction{}, false
	}
	if inner == 1 && ahead.next().op != opEnd {
		return instruction{}, false
	}
	*r = ahead
	label := depth + to - number - 1
	return instruction{op, int64(label), unsigned([]byte{op}, uint64(label))}, true
}
