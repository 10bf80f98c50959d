package ptxsim

import "slices"

// controls compile the control-flow instructions.
var controls map[string]func(*operation, *instruction)

func init() {
	controls = map[string]func(*operation, *instruction){
		"bra": compileBranch, "brx": compileIndexed, "ret": compileReturn, "exit": compileExit,
		"call": compileCall, "bar": compileBarrier, "barrier": compileBarrier, "trap": compileTrap,
	}
}

// labelOf returns the label that an operand names.
func (o *operation) labelOf(name string) *label {
	s := o.b.scope.find(name)
	if s == nil || s.label == nil || s.targets != nil {
		panic(o.failure("label %s is not defined", name))
	}
	return s.label
}

func compileBranch(o *operation, in *instruction) {
	in.control, in.uniform = branch, o.has("uni")
	o.end(1)
	o.b.jumps = append(o.b.jumps, jump{len(o.b.kernel.code), []*label{o.labelOf(o.args[0].name)}})
	o.b.emit(*in)
}

func compileIndexed(o *operation, in *instruction) {
	in.control = branchIndexed
	o.need("idx")
	in.uniform = o.has("uni")
	o.end(2)
	in.index = o.source(0, valueTypes["u32"])
	s := o.b.scope.find(o.args[1].name)
	if s == nil || s.targets == nil {
		panic(o.failure("%s is not a list of branch targets", o.args[1].name))
	}
	j := jump{at: len(o.b.kernel.code)}
	for _, name := range s.targets {
		j.labels = append(j.labels, o.labelOf(name))
	}
	o.b.jumps = append(o.b.jumps, j)
	o.b.emit(*in)
}

// compileReturn ends the thread, or continues after the call that was expanded.
func compileReturn(o *operation, in *instruction) {
	in.uniform = o.has("uni")
	o.end(0)
	in.control = exit
	if n := len(o.b.returns); n > 0 {
		in.control = branch
		o.b.jumps = append(o.b.jumps, jump{len(o.b.kernel.code), []*label{o.b.returns[n-1]}})
	}
	o.b.emit(*in)
}

func compileExit(o *operation, in *instruction) {
	in.control = exit
	o.end(0)
	o.b.emit(*in)
}

func compileTrap(o *operation, in *instruction) {
	in.control = trap
	o.end(0)
	o.b.emit(*in)
}

// compileCall expands the function's body. Its parameters and results are aliases of the
// caller's .param variables.
func compileCall(o *operation, in *instruction) {
	in.uniform = o.has("uni")
	o.end(0, 1, 2, 3, 4)
	args := o.args
	var results, params []operand
	if len(args) > 0 && args[0].kind == operandList {
		results, args = args[0].items, args[1:]
	}
	if len(args) == 0 || args[0].kind != operandName || len(args) > 2 {
		panic(o.failure("a call needs the name of a function"))
	}
	name := args[0].name
	if len(args) == 2 {
		if args[1].kind != operandList {
			panic(o.failure("call through a pointer is not supported"))
		}
		params = args[1].items
	}
	b := o.b
	f := b.module.functions[name]
	if _, known := provided[name]; known && f != nil && f.body == nil {
		o.callProvided(name, params, results, in)
		return
	}
	switch {
	case f == nil:
		panic(o.failure("call of %s, which is not defined (or a call through a pointer, which is not supported)", name))
	case f.body == nil:
		panic(o.failure("call of %s, which has no body in this module: there is no linker and no device library", name))
	case f.entry:
		panic(o.failure("call of %s, which is an entry", name))
	case len(f.params) != len(params) || len(f.results) != len(results):
		panic(o.failure("the arguments of the call do not match the parameters of %s", name))
	}
	if slices.Contains(b.calls, name) {
		panic(o.failure("recursion (%s) is not supported", name))
	}
	if len(b.calls) >= maxCallDepth {
		panic(o.failure("calls nest more than %d deep", maxCallDepth))
	}
	inner := &scope{parent: b.root, names: map[string]*symbol{}}
	bind := func(formal []variable, actual []operand) {
		for i := range formal {
			s := b.lookup(actual[i].name)
			if actual[i].kind != operandName || s == nil || s.space != "local" {
				panic(o.failure("only .param variables are supported as arguments of a call"))
			}
			inner.names[formal[i].name] = s
		}
	}
	bind(f.params, params)
	bind(f.results, results)
	after := &label{-1, o.line}
	if in.guard >= 0 { // lanes that do not call skip the body
		skip := *in
		skip.control, skip.guardNot = branch, !in.guardNot
		b.jumps = append(b.jumps, jump{len(b.kernel.code), []*label{after}})
		b.emit(skip)
	}
	outer := b.scope
	b.scope, b.returns, b.calls = inner, append(b.returns, after), append(b.calls, name)
	b.body(f.body)
	b.scope, b.returns, b.calls = outer, b.returns[:len(b.returns)-1], b.calls[:len(b.calls)-1]
	after.at = len(b.kernel.code)
}

// barrierOperands are the operands of bar and barrier.
type barrierOperands struct {
	arrive  bool // arrive without waiting
	id      int  // register
	threads int  // register, -1 for the whole block
	reduce  string
	result  int // predicate or register
	value   int // predicate
	not     bool
}

func compileBarrier(o *operation, in *instruction) {
	o.has("cta")
	in.control = barrier
	switch o.need("sync", "arrive", "red", "warp", "cluster") {
	case "warp":
		compileWarpBarrier(o, in)
		return
	case "cluster":
		panic(o.failure("barriers of clusters are not supported"))
	case "arrive":
		in.bar.arrive = true
	case "red":
		in.bar.reduce = o.need("popc", "and", "or")
	}
	o.has("aligned")
	args := o.args
	if in.bar.reduce != "" {
		if in.bar.reduce == "popc" {
			o.typ("u32")
		} else {
			o.typ("pred")
		}
		o.end(3, 4)
		if in.bar.reduce == "popc" {
			in.bar.result = o.destination(valueTypes["u32"])
		} else {
			in.bar.result = o.predicateDestination(&o.args[0])
		}
		in.bar.value, in.bar.not = o.predicate(len(args) - 1)
		args = args[1 : len(args)-1]
	} else {
		o.end(1, 2)
	}
	in.bar.id, in.bar.threads = o.sourceOf(&args[0], valueTypes["u32"], false), -1
	if len(args) == 2 {
		in.bar.threads = o.sourceOf(&args[1], valueTypes["u32"], false)
	} else if in.bar.arrive {
		panic(o.failure("arrive needs a number of threads"))
	}
	o.b.emit(*in)
}

// compileWarpBarrier compiles bar.warp.sync, which orders the lanes' accesses
// to memory.
func compileWarpBarrier(o *operation, in *instruction) {
	o.need("sync")
	o.end(1)
	members := o.source(0, valueTypes["b32"])
	in.control = plain
	in.run = byMembers(members, func(w *warp, _ uint32) { w.orderLanes() })
	o.b.emit(*in)
}
