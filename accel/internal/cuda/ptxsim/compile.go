package ptxsim

import (
	"strconv"
	"strings"
)

// Limits of the expansion of calls.
const (
	maxInstructions = 1 << 17
	maxCallDepth    = 32
	maxSharedBytes  = 1 << 20
	maxLocalBytes   = 1 << 20
)

// step runs one instruction on the lanes of the mask, which has at least one lane. It
// panics with a *Fault.
type step func(w *warp, mask uint32)

type controlKind uint8

const (
	plain controlKind = iota
	branch
	branchIndexed
	exit
	barrier
	trap
)

// instruction is a compiled instruction. Its index in Kernel.code is its address.
type instruction struct {
	run       step
	line      int
	guard     int // index of the guard predicate, -1 for none
	guardNot  bool
	control   controlKind
	uniform   bool // all lanes must take the same branch (.uni)
	targets   []int
	index     int // register of a branchIndexed
	join      int // where the lanes of a branch reconverge, -1 at the exit
	bar       barrierOperands
	flops     int           // of a lane
	warpFLOPs int           // of all lanes together
	memory    *memoryAccess // of ld, st, atom and red; nil for any other
}

// symbol is the meaning of a name in a scope.
type symbol struct {
	space   string // reg, or that of a variable
	typ     valueType
	slots   []int // registers; more than one for a vector
	family  *variable
	offset  int // of a shared, local or param variable
	global  string
	label   *label
	targets []string
}

type label struct {
	at   int // -1 before the label is reached
	line int
}

type scope struct {
	parent *scope
	names  map[string]*symbol
}

func (s *scope) find(name string) *symbol {
	for ; s != nil; s = s.parent {
		if found := s.names[name]; found != nil {
			return found
		}
	}
	return nil
}

// fixed is a register with a constant value in all lanes.
type fixed struct {
	slot  int
	value uint64
}

// variableAddress is a register that holds the address of a module's variable.
type variableAddress struct {
	slot   int
	name   string
	offset int64
}

// special is a special register, which the simulator fills.
type special struct {
	slot int
	name string
}

// jump is a branch with unresolved labels.
type jump struct {
	at     int
	labels []*label
}

// builder compiles one entry.
type builder struct {
	module          *module
	kernel          *Kernel
	scope           *scope
	root            *scope
	fixed           map[uint64]int
	variableAddress map[variableAddress]int
	special         map[string]int
	dynamic         map[int64]int // offset in dynamic shared memory -> register
	widths          []int         // of registers, in bits
	written         []bool
	jumps           []jump
	returns         []*label // innermost call last
	calls           []string
}

// compileKernel compiles an entry. As all functions below it, it panics with a *ParseError, which Parse returns.
func compileKernel(m *module, f *function) *Kernel {
	b := &builder{
		module: m,
		kernel: &Kernel{name: f.name, module: m, function: f, lines: m.lines},
		fixed:  map[uint64]int{}, variableAddress: map[variableAddress]int{}, special: map[string]int{}, dynamic: map[int64]int{},
	}
	b.kernel.sharedEnd = sharedBase
	b.root = &scope{names: map[string]*symbol{}}
	b.scope = b.root
	for i := range m.variables {
		b.declare(&m.variables[i], true)
	}
	b.entryParams(f)
	b.body(f.body)
	b.emit(instruction{control: exit, guard: -1, line: f.line})
	for _, j := range b.jumps {
		for _, l := range j.labels {
			if l.at < 0 {
				panic(m.failure(l.line, "label is not defined"))
			}
			b.kernel.code[j.at].targets = append(b.kernel.code[j.at].targets, l.at)
		}
	}
	b.layoutShared()
	joins(b.kernel.code)
	b.template()
	return b.kernel
}

func (b *builder) entryParams(f *function) {
	b.scope = &scope{parent: b.root, names: map[string]*symbol{}}
	size := 0
	for i := range f.params {
		v := &f.params[i]
		if v.open {
			panic(b.module.failure(v.line, "parameter %s has no size", v.name))
		}
		size = roundUp(size, v.align)
		b.kernel.params = append(b.kernel.params, Param{v.name, size, v.bytes(), v.align})
		b.scope.names[v.name] = &symbol{space: "entry", typ: v.typ, offset: size}
		size += v.bytes()
	}
	maxBytes := 4352
	if b.module.version >= 81 {
		maxBytes = 32764
	}
	if b.kernel.paramBytes = size; size > maxBytes {
		panic(b.module.failure(f.line, "%d bytes of parameters are more than the %d of PTX %d.%d", size, maxBytes, b.module.version/10, b.module.version%10))
	}
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// body compiles statements in a new scope.
func (b *builder) body(list []statement) {
	b.scope = &scope{parent: b.scope, names: map[string]*symbol{}}
	defer func(outer *scope) { b.scope = outer }(b.scope.parent)
	for i := range list {
		if s := &list[i]; s.label != "" {
			if b.scope.names[s.label] != nil {
				panic(b.module.failure(s.line, "label %s is defined twice", s.label))
			}
			b.scope.names[s.label] = &symbol{space: "label", label: &label{-1, s.line}, targets: s.targets}
		}
	}
	for i := range list {
		s := &list[i]
		switch {
		case s.label != "":
			b.scope.names[s.label].label.at = len(b.kernel.code)
		case s.scope != nil:
			b.body(s.scope)
		case s.declares != nil:
			for j := range s.declares {
				b.declare(&s.declares[j], false)
			}
		case s.opcode != "":
			b.statement(s)
		}
		if len(b.kernel.code) > maxInstructions {
			panic(b.module.failure(s.line, "more than %d instructions after expanding calls", maxInstructions))
		}
	}
}

// declare adds a variable to the scope.
func (b *builder) declare(v *variable, outside bool) {
	if b.scope.names[v.name] != nil {
		panic(b.module.failure(v.line, "%s is declared twice", v.name))
	}
	if v.open && !(v.space == "shared" && v.extern) && v.initial == nil {
		panic(b.module.failure(v.line, "%s has no size", v.name))
	}
	s := &symbol{space: v.space, typ: v.typ}
	switch v.space {
	case "reg":
		if v.repeat > 0 {
			s.family = v
			break
		}
		for range v.vector {
			s.slots = append(s.slots, b.register(v.typ))
		}
	case "shared":
		s.offset = -1 // allocated at its first use
		s.family = v
	case "global", "const":
		if !outside {
			panic(b.module.failure(v.line, ".%s inside a function is not supported", v.space))
		}
		if v.extern {
			panic(b.module.failure(v.line, ".extern .%s is not supported: there is no linker", v.space))
		}
		s.global = v.name
	case "local", "param":
		if outside {
			panic(b.module.failure(v.line, ".%s outside of functions is not supported", v.space))
		}
		s.space = "local"
		s.offset = roundUp(b.kernel.local, v.align)
		if b.kernel.local = s.offset + v.bytes(); b.kernel.local > maxLocalBytes {
			panic(b.module.failure(v.line, "more than %d bytes of local memory", maxLocalBytes))
		}
	}
	b.scope.names[v.name] = s
}

// register adds a register or a predicate and returns its index.
func (b *builder) register(t valueType) int {
	if t.class == predicate {
		b.kernel.predicates++
		return b.kernel.predicates - 1
	}
	b.widths = append(b.widths, t.bits)
	b.written = append(b.written, false)
	return len(b.widths) - 1
}

// lookup finds a name. A member of a family such as %r<9> is added when it is first used.
func (b *builder) lookup(name string) *symbol {
	if s := b.scope.find(name); s != nil {
		return s
	}
	stem := strings.TrimRight(name, "0123456789")
	if stem == name {
		return nil
	}
	for sc := b.scope; sc != nil; sc = sc.parent {
		s := sc.names[stem]
		if s == nil {
			continue
		}
		if s.space != "reg" || s.family == nil {
			return nil
		}
		n, err := strconv.Atoi(name[len(stem):])
		if err != nil || n >= s.family.repeat || strconv.Itoa(n) != name[len(stem):] {
			return nil
		}
		member := &symbol{space: "reg", typ: s.typ}
		for range s.family.vector {
			member.slots = append(member.slots, b.register(s.typ))
		}
		sc.names[name] = member
		return member
	}
	return nil
}

func (b *builder) emit(in instruction) { b.kernel.code = append(b.kernel.code, in) }

// constant returns a register with a constant value.
func (b *builder) constant(v uint64) int {
	slot, ok := b.fixed[v]
	if !ok {
		slot = b.register(valueTypes["b64"])
		b.written[slot] = true
		b.fixed[v] = slot
		b.kernel.fixed = append(b.kernel.fixed, fixed{slot, v})
	}
	return slot
}

// address returns a register with the address of a module's variable.
func (b *builder) address(name string, offset int64) int {
	key := variableAddress{name: name, offset: offset}
	slot, ok := b.variableAddress[key]
	if !ok {
		slot = b.register(valueTypes["b64"])
		b.written[slot] = true
		b.variableAddress[key] = slot
		b.kernel.variableAddress = append(b.kernel.variableAddress, variableAddress{slot, name, offset})
	}
	return slot
}

// specialSlot returns the register that holds a special register.
func (b *builder) specialSlot(name string) (slot int, ok bool) {
	if slot, ok = b.special[name]; ok {
		return slot, true
	}
	if _, known := specialRegisters[name]; !known {
		return 0, false
	}
	slot = b.register(valueTypes["b64"])
	b.written[slot] = true
	b.special[name] = slot
	b.kernel.special = append(b.kernel.special, special{slot, name})
	return slot, true
}
