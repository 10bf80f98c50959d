package compiled

// SortFunc sorts a slice in the order of compare, a func(a, b E) int for its elements, as slices.SortFunc does, and reports
// whether it has. The VM compiles a call of it to a loop that calls compare with the elements where they are. It reports false
// if compare is not a function of a cell, and so does this function.
func SortFunc(slice, compare any) bool { return false }

// SortStableFunc is SortFunc for slices.SortStableFunc.
func SortStableFunc(slice, compare any) bool { return false }
