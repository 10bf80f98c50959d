package main

// A call can end with another goroutine running. The function then starts again at the region after the call, with variables
// that are zero. So each region is in the table at the start of the function, and engines assume that each jump backward,
// which goes through that table, may lead to each region: they copy all variables that any region reads. A region that reads
// a variable of an earlier one cannot be the start, so its entry is removed unless a jump backward leads there.

// variables is a set of local variables.
type variables uint64

func variable(index int64) variables {
	if index <= 1 || index > 63 { // PC_B and the stack pointer have a value at the start
		return 0
	}
	return 1 << index
}

// An exit is where control may leave a region.
type exit struct {
	to      int
	written variables // by the region before the exit
}

// header returns the start of the function up to the start of region 0.
func (f *function) header() []byte {
	f.flow()
	out := f.start
	for range len(f.regions) + 1 {
		out = append(out, opBlock, noResult)
	}
	out = append(out, opLocalGet, 0)
	out = unsigned(append(out, opBrTable), uint64(len(f.targets)-1))
	for _, to := range f.targets {
		if r := f.regions[to]; to > 0 && r.reads != 0 && !r.back && !r.resumed {
			out = append(out, 0) // to the unreachable
		} else {
			out = unsigned(out, uint64(to+1))
		}
	}
	return append(out, opEnd, opUnreachable, opEnd)
}

// flow adds to what each region reads what the regions after it read.
func (f *function) flow() {
	for changed := true; changed; {
		changed = false
		for i := len(f.regions) - 1; i >= 0; i-- {
			r := &f.regions[i]
			before := r.reads
			for _, e := range r.exits {
				r.reads |= f.regions[e.to].reads &^ e.written
			}
			changed = changed || r.reads != before
		}
	}
}
