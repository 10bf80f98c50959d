package main

// The comparisons of 64-bit integers.
const (
	opI64Eq  = 0x51
	opI64Ne  = 0x52
	opI64LtS = 0x53
	opI64LtU = 0x54
	opI64GtS = 0x55
	opI64GtU = 0x56
	opI64LeS = 0x57
	opI64LeU = 0x58
	opI64GeS = 0x59
	opI64GeU = 0x5a
)

const (
	fewest  = 6    // comparisons of a tree that becomes a table
	largest = 1024 // the number of entries of a table
)

// readTest returns the test at the end of a region, from its last instructions, or nil.
func readTest(code []instruction, size, number int) *test {
	n := len(code)
	if n < 4 || code[n-1].op != opBrIf {
		return nil
	}
	t := &test{yes: number + 1 + int(code[n-1].value), no: number + 1}
	size -= len(code[n-1].code)
	n--
	if code[n-1].op == opI32Eqz {
		t.yes, t.no = t.no, t.yes
		size--
		n--
	}
	if n < 3 {
		return nil
	}
	get, constant, compare := code[n-3], code[n-2], code[n-1]
	if get.op != opLocalGet || constant.op != opI64Const || compare.op < opI64Eq || compare.op > opI64GeU {
		return nil
	}
	t.at = size - len(get.code) - len(constant.code) - 1
	t.variable, t.constant, t.compare = get.value, constant.value, compare.op
	return t
}

// next returns the region after a test of a value.
func (t *test) next(value int64) int {
	if t.holds(value) {
		return t.yes
	}
	return t.no
}

func (t *test) holds(value int64) bool {
	switch t.compare {
	case opI64Eq:
		return value == t.constant
	case opI64Ne:
		return value != t.constant
	case opI64LtS:
		return value < t.constant
	case opI64LtU:
		return uint64(value) < uint64(t.constant)
	case opI64GtS:
		return value > t.constant
	case opI64GtU:
		return uint64(value) > uint64(t.constant)
	case opI64LeS:
		return value <= t.constant
	case opI64LeU:
		return uint64(value) <= uint64(t.constant)
	case opI64GeS:
		return value >= t.constant
	default:
		return uint64(value) >= uint64(t.constant)
	}
}

// tables inserts a branch table before the first test of each tree of tests of one variable. The tests remain for values
// that are not in the table.
func (f *function) tables() {
	seen := make([]bool, len(f.regions)) // the regions of earlier trees
	for i := range f.regions {
		root := &f.regions[i]
		if root.test == nil || seen[i] {
			continue
		}
		constants := f.tree(i, seen)
		if len(constants) < fewest {
			continue
		}
		entries := int64(0)
		for _, c := range constants {
			if c >= 0 && c < largest-1 {
				entries = max(entries, c+2)
			}
		}
		if entries < fewest {
			continue
		}
		at, x := root.test.at, uint64(root.test.variable)
		code := append([]byte{}, root.code[:at]...)
		code = unsigned(append(code, opLocalGet), x)
		code = signed(append(code, opI64Const), entries)
		code = append(code, opI64LtU, opIf, noResult)
		code = append(unsigned(append(code, opLocalGet), x), opI32WrapI64)
		code = unsigned(append(code, opBrTable), uint64(entries-1))
		for value := range entries {
			// The label counts the if.
			code = unsigned(code, uint64(f.leaf(i, value)-i))
		}
		code = append(code, opEnd)
		root.code = append(code, root.code[at:]...)
	}
}

// tree returns the constants of the tests that follow a test without other code between them, and marks their regions.
func (f *function) tree(root int, seen []bool) []int64 {
	variable := f.regions[root].test.variable
	var constants []int64
	waiting := []int{root}
	for len(waiting) > 0 {
		i := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		if i >= len(f.regions) || seen[i] || !f.continues(root, i, variable) {
			continue
		}
		t := f.regions[i].test
		seen[i] = true
		constants = append(constants, t.constant)
		waiting = append(waiting, t.yes, t.no)
	}
	return constants
}

// continues says whether a region belongs to the tree of a root: it only tests the variable.
func (f *function) continues(root, i int, variable int64) bool {
	t := f.regions[i].test
	return t != nil && t.variable == variable && (i == root || t.at == 0)
}

// leaf returns the region that the tests of a root lead to.
func (f *function) leaf(root int, value int64) int {
	i, variable := root, f.regions[root].test.variable
	for i < len(f.regions) && f.continues(root, i, variable) {
		i = f.regions[i].test.next(value)
	}
	return i
}
