package interp_test

import "testing"

// A fallthrough may have labels.
func TestLabeledFallthrough(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, `func one(x int, skip bool) (out string) {
	switch x {
	case 1:
		if skip {
			goto next
		}
		out += "a"
		break
	next:
		fallthrough
	case 2:
		out += "b"
	default:
		out += "d"
	}
	return out + "."
}
one(1, false), one(1, true), one(2, true), one(3, true)`, `= "a.", "b.", "b.", "d."`)
	n.must(t, `func two(x any, skip bool) (out string) {
	switch x {
	default:
		out += "d"
		if skip {
			goto next
		}
		break
	next:
		fallthrough
	case 1:
		out += "a"
		if len(out) > 5 {
			break
		}
		if skip {
			goto last
		}
	last:
		fallthrough
	case 2:
		out += "b"
	}
	return out + "."
}
two(1, false), two(1, true), two("", true), two(2, true), two(3, false)`, `= "ab.", "ab.", "dab.", "b.", "d."`)
}
