package ptxsim

// Entry is the head of an entry of a module.
type Entry struct {
	Name    string
	Params  []EntryParam
	Dynamic bool // whether the module has shared memory whose size the launch determines
	// MaxThreads is the maximum number of threads of a block, and Threads the required numbers along x, y and z; 0 for none.
	MaxThreads int
	Threads    [3]int
}

// EntryParam is a parameter of an entry.
type EntryParam struct {
	Param
	Type string // such as u64; b8 for an array, which is a struct
}

// Entries reads the heads of the entries of a module, whose bodies may contain instructions that the simulator does not run. It
// fails with a *ParseError.
func Entries(ptx string) (all []Entry, err error) {
	defer catch(&err)
	tree := parseModule(ptx)
	dynamic := false
	for _, v := range tree.variables {
		dynamic = dynamic || v.space == "shared" && v.extern
	}
	for _, name := range tree.order {
		f := tree.functions[name]
		if !f.entry || f.body == nil {
			continue
		}
		e := Entry{Name: name, Dynamic: dynamic, MaxThreads: f.maxThreads, Threads: f.reqThreads}
		size := 0
		for i := range f.params {
			v := &f.params[i]
			size = roundUp(size, v.align)
			e.Params = append(e.Params, EntryParam{Param{v.name, size, v.bytes(), v.align}, v.typ.name})
			size += v.bytes()
		}
		all = append(all, e)
	}
	return all, nil
}
