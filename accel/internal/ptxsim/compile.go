package ptxsim

import (
	"strconv"
	"strings"
)

// Bounds on what expanding calls may come to.
const (
	maxInstructions = 1 << 17
	maxCallDepth    = 32
	maxSharedBytes  = 1 << 20
	maxLocalBytes   = 1 << 20
)

// step runs one instruction on the lanes of the mask, of which there is one at
// least. It panics with a *Fault.
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

// instruction is a compiled one. The index in Kernel.code is its address.
type instruction struct {
	run      step
	line     int
	guard    int // index of a predicate, -1 for none
	guardNot bool
	control  controlKind
	uniform  bool // all lanes must branch the same way
	targets  []int
	index    int // register of a branchIndexed
	join     int // where the lanes of a branch meet again, -1 at the exit
	bar      barrierOperands
}

// symbol is what a name stands for in a scope.
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
	at   int // -1 while not met
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

// fixed is a register that holds the same value in all lanes for a whole run.
type fixed struct {
	slot  int
	value uint64
}

// placed is a register that holds the address of a module's variable.
type placed struct {
	slot   int
	name   string
	offset int64
}

// special is a register that the machine fills.
type special struct {
	slot int
	name string
}

// jump is a branch whose labels are not yet resolved.
type jump struct {
	at     int
	labels []*label
}

// builder compiles one entry.
type builder struct {
	module  *module
	kernel  *Kernel
	scope   *scope
	root    *scope
	fixed   map[uint64]int
	placed  map[placed]int
	special map[string]int
	dynamic map[int64]int // offset in dynamic shared memory -> register
	widths  []int         // of registers, in bits
	written []bool
	jumps   []jump
	returns []*label // innermost call last
	calls   []string
}

func compileKernel(m *module, f *function) (*Kernel, error) {
	b := &builder{
		module: m,
		kernel: &Kernel{name: f.name, module: m, function: f, lines: m.lines},
		fixed:  map[uint64]int{}, placed: map[placed]int{}, special: map[string]int{}, dynamic: map[int64]int{},
	}
	b.kernel.sharedEnd = sharedBase
	b.root = &scope{names: map[string]*symbol{}}
	b.scope = b.root
	for i := range m.variables {
		if err := b.declare(&m.variables[i], true); err != nil {
			return nil, err
		}
	}
	if err := b.entryParams(f); err != nil {
		return nil, err
	}
	if err := b.body(f.body); err != nil {
		return nil, err
	}
	b.emit(instruction{control: exit, guard: -1, line: f.line})
	for _, j := range b.jumps {
		for _, l := range j.labels {
			if l.at < 0 {
				return nil, m.failure(l.line, "label is not defined")
			}
			b.kernel.code[j.at].targets = append(b.kernel.code[j.at].targets, l.at)
		}
	}
	if err := b.layoutShared(); err != nil {
		return nil, err
	}
	joins(b.kernel.code)
	b.template()
	return b.kernel, nil
}

func (b *builder) entryParams(f *function) error {
	b.scope = &scope{parent: b.root, names: map[string]*symbol{}}
	size := 0
	for i := range f.params {
		v := &f.params[i]
		if v.open {
			return b.module.failure(v.line, "parameter %s has no size", v.name)
		}
		size = roundUp(size, v.align)
		b.kernel.params = append(b.kernel.params, Param{v.name, size, v.bytes(), v.align})
		b.scope.names[v.name] = &symbol{space: "entry", typ: v.typ, offset: size}
		size += v.bytes()
	}
	most := 4352
	if b.module.version >= 81 {
		most = 32764
	}
	if b.kernel.paramBytes = size; size > most {
		return b.module.failure(f.line, "%d bytes of parameters are more than the %d of PTX %d.%d", size, most, b.module.version/10, b.module.version%10)
	}
	return nil
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// body compiles statements in a scope of their own.
func (b *builder) body(list []statement) error {
	b.scope = &scope{parent: b.scope, names: map[string]*symbol{}}
	defer func(outer *scope) { b.scope = outer }(b.scope.parent)
	for i := range list {
		if s := &list[i]; s.label != "" {
			if b.scope.names[s.label] != nil {
				return b.module.failure(s.line, "label %s is defined twice", s.label)
			}
			b.scope.names[s.label] = &symbol{space: "label", label: &label{-1, s.line}, targets: s.targets}
		}
	}
	for i := range list {
		s := &list[i]
		var err error
		switch {
		case s.label != "":
			b.scope.names[s.label].label.at = len(b.kernel.code)
		case s.scope != nil:
			err = b.body(s.scope)
		case s.declares != nil:
			for j := range s.declares {
				if err = b.declare(&s.declares[j], false); err != nil {
					break
				}
			}
		case s.opcode != "":
			err = b.statement(s)
		}
		if err == nil && len(b.kernel.code) > maxInstructions {
			err = b.module.failure(s.line, "more than %d instructions after expanding calls", maxInstructions)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// declare puts a variable's name into the scope.
func (b *builder) declare(v *variable, outside bool) error {
	if b.scope.names[v.name] != nil {
		return b.module.failure(v.line, "%s is declared twice", v.name)
	}
	if v.open && !(v.space == "shared" && v.extern) && v.initial == nil {
		return b.module.failure(v.line, "%s has no size", v.name)
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
		s.offset = -1 // laid out where it is first used
		s.family = v
	case "global", "const":
		if !outside {
			return b.module.failure(v.line, ".%s inside a function is not supported", v.space)
		}
		if v.extern {
			return b.module.failure(v.line, ".extern .%s is not supported: there is no linker", v.space)
		}
		s.global = v.name
	case "local", "param":
		if outside {
			return b.module.failure(v.line, ".%s outside of functions is not supported", v.space)
		}
		s.space = "local"
		s.offset = roundUp(b.kernel.local, v.align)
		if b.kernel.local = s.offset + v.bytes(); b.kernel.local > maxLocalBytes {
			return b.module.failure(v.line, "more than %d bytes of local memory", maxLocalBytes)
		}
	}
	b.scope.names[v.name] = s
	return nil
}

// register makes a register, or a predicate, and gives its index.
func (b *builder) register(t valueType) int {
	if t.class == predicate {
		b.kernel.predicates++
		return b.kernel.predicates - 1
	}
	b.widths = append(b.widths, t.bits)
	b.written = append(b.written, false)
	return len(b.widths) - 1
}

// lookup finds a name; a member of a family such as %r<9> is made when first
// used.
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

// constant gives a register that always holds the value.
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

// address gives a register that holds where a module's variable lies.
func (b *builder) address(name string, offset int64) int {
	key := placed{name: name, offset: offset}
	slot, ok := b.placed[key]
	if !ok {
		slot = b.register(valueTypes["b64"])
		b.written[slot] = true
		b.placed[key] = slot
		b.kernel.placed = append(b.kernel.placed, placed{slot, name, offset})
	}
	return slot
}

// machine gives the register of a special register.
func (b *builder) machine(name string) (slot int, ok bool) {
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

// sharedBase keeps address 0 free, so that a null pointer faults.
const sharedBase = 1024

// sharedGap lies between shared variables, so that overruns fault.
const sharedGap = 64

// sharedAddress gives a register with an address in a shared variable.
func (b *builder) sharedAddress(s *symbol, offset int64) int {
	v, k := s.family, b.kernel
	if v.extern {
		k.dynamicAlign = max(k.dynamicAlign, v.align)
		slot, ok := b.dynamic[offset]
		if !ok {
			slot = b.register(valueTypes["b64"])
			b.written[slot] = true
			b.dynamic[offset] = slot
		}
		return slot
	}
	if s.offset < 0 {
		s.offset = roundUp(k.sharedEnd, v.align)
		k.static = append(k.static, span{uint64(s.offset), uint64(s.offset + v.bytes())})
		k.staticBytes = roundUp(k.staticBytes, v.align) + v.bytes()
		k.sharedEnd = s.offset + v.bytes() + sharedGap
	}
	return b.constant(uint64(int64(s.offset) + offset))
}

// layoutShared puts dynamic shared memory behind the static one: at an odd
// multiple of its alignment, so that code that counts on a larger one faults.
func (b *builder) layoutShared() error {
	k := b.kernel
	if k.staticBytes > maxSharedBytes {
		return b.module.failure(k.function.line, "%d bytes of shared memory are more than the supported %d", k.staticBytes, maxSharedBytes)
	}
	align := max(k.dynamicAlign, 16)
	k.dynamicStart = roundUp(k.sharedEnd, align)
	if k.dynamicStart/align%2 == 0 {
		k.dynamicStart += align
	}
	for offset, slot := range b.dynamic {
		k.fixed = append(k.fixed, fixed{slot, uint64(int64(k.dynamicStart) + offset)})
	}
	return nil
}

// template makes what the registers hold at the start of a block. A register
// that the code reads before it writes it, which compilers leave where the
// value does not matter, holds a pattern that does no good.
func (b *builder) template() {
	k := b.kernel
	k.start = make([]lanes, len(b.widths))
	for slot, width := range b.widths {
		fill(&k.start[slot], 0x7fc0_dead_7fc0_dead&lowBits(width))
	}
	for _, f := range k.fixed {
		fill(&k.start[f.slot], f.value)
	}
}

func fill(l *lanes, v uint64) {
	for i := range l {
		l[i] = v
	}
}
