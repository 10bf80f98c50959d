package ptxsim

import (
	"math"
	"slices"
)

// operation is an instruction during compilation. Its methods read the modifiers from left
// to right and the operands by index. They panic with a *ParseError.
type operation struct {
	*statement
	b    *builder
	read int // number of modifiers read so far
	// memory describes the access of the instruction.
	memory *memoryAccess
}

func (o *operation) failure(format string, args ...any) *ParseError {
	return o.b.module.failure(o.line, format, args...)
}

// take reads the next modifier if it is one of the given words.
func (o *operation) take(words ...string) string {
	if o.read < len(o.mods) && slices.Contains(words, o.mods[o.read]) {
		o.read++
		return o.mods[o.read-1]
	}
	return ""
}

// has reads the next modifier if it is the given word.
func (o *operation) has(word string) bool { return o.take(word) != "" }

// need reads the next modifier, which must be one of the given words.
func (o *operation) need(words ...string) string {
	w := o.take(words...)
	if w == "" {
		panic(o.failure("expected one of %v as modifier %d", words, o.read+1))
	}
	return w
}

// typ reads a type, one of the given ones if there are any.
func (o *operation) typ(names ...string) valueType {
	if o.read < len(o.mods) {
		if t, ok := valueTypes[o.mods[o.read]]; ok && (len(names) == 0 || slices.Contains(names, t.name)) {
			o.read++
			return t
		}
		panic(o.failure("type .%s is not supported", o.mods[o.read]))
	}
	panic(o.failure("the type is missing"))
}

// end checks that all modifiers were read, and the number of operands.
func (o *operation) end(operands ...int) {
	if o.read < len(o.mods) {
		panic(o.failure("modifier .%s is not supported", o.mods[o.read]))
	}
	if !slices.Contains(operands, len(o.args)) {
		panic(o.failure("%d operands, not %v", len(o.args), operands))
	}
}

// source returns the register of an operand. Its width must be that of the type.
func (o *operation) source(i int, t valueType) int { return o.sourceOf(&o.args[i], t, false) }

// widerSource is like source, but the register may be wider than the type.
func (o *operation) widerSource(i int, t valueType) int { return o.sourceOf(&o.args[i], t, true) }

func (o *operation) sourceOf(arg *operand, t valueType, wider bool) int {
	switch arg.kind {
	case operandInteger:
		if t.class == float || t.class == bfloat16 {
			panic(o.failure("an integer constant cannot be a value of type .%s", t.name))
		}
		return o.b.constant(arg.bits & t.mask())
	case operandFloat:
		return o.b.constant(o.floatConstant(arg, t))
	case operandName:
		return o.named(arg, t, wider)
	}
	panic(o.failure("a register or a constant is expected"))
}

func (o *operation) floatConstant(arg *operand, t valueType) uint64 {
	switch {
	case arg.width == t.bits && (t.class == float || t.class == untyped || t.class == tensorFloat):
		return arg.bits
	case arg.width == 0 && t.name == "f64":
		return arg.bits
	case arg.width == 0 && t.name == "f32":
		return uint64(math.Float32bits(float32(math.Float64frombits(arg.bits))))
	}
	panic(o.failure("a floating-point constant cannot be a value of type .%s", t.name))
}

func (o *operation) named(arg *operand, t valueType, wider bool) int {
	s := o.b.lookup(arg.name)
	if s == nil {
		if slot, ok := o.b.specialSlot(arg.name); ok {
			if w := specialRegisters[arg.name].bits; w != t.bits && !(wider && w > t.bits) {
				panic(o.failure("%s has %d bits, not %d", arg.name, w, t.bits))
			}
			return slot
		}
		panic(o.failure("%s is not declared", arg.name))
	}
	if s.space != "reg" {
		return o.addressOf(s, arg)
	}
	if len(s.slots) != 1 || s.typ.class == predicate {
		panic(o.failure("%s is not a register for a value of type .%s", arg.name, t.name))
	}
	if arg.offset != 0 {
		panic(o.failure("a register with an offset is only allowed in an address"))
	}
	if s.typ.bits != t.bits && !(wider && s.typ.bits > t.bits) {
		panic(o.failure("register %s has %d bits, the type .%s %d", arg.name, s.typ.bits, t.name, t.bits))
	}
	return s.slots[0]
}

// addressOf returns a register with the address of a variable in its own space.
func (o *operation) addressOf(s *symbol, arg *operand) int {
	switch s.space {
	case "shared":
		return o.b.sharedAddress(s, arg.offset)
	case "local":
		return o.b.constant(uint64(int64(s.offset) + arg.offset))
	case "entry":
		return o.b.constant(uint64(entryBase + int64(s.offset) + arg.offset))
	case "global", "const":
		return o.b.address(s.global, arg.offset)
	}
	panic(o.failure("%s has no address", arg.name))
}

// destination returns the register of the first operand. Its width must be that of the
// type.
func (o *operation) destination(t valueType) int {
	slot, _ := o.destinationOf(&o.args[0], t, false)
	return slot
}

// widerDestination is like destination, but the register may be wider than the type; it
// also returns the register's width.
func (o *operation) widerDestination(i int, t valueType) (slot, bits int) {
	return o.destinationOf(&o.args[i], t, true)
}

func (o *operation) destinationOf(arg *operand, t valueType, wider bool) (slot, bits int) {
	if arg.kind == operandSink {
		return o.b.register(t), t.bits
	}
	if arg.kind != operandName {
		panic(o.failure("the destination is not a register"))
	}
	s := o.b.lookup(arg.name)
	if s == nil || s.space != "reg" || len(s.slots) != 1 || s.typ.class == predicate {
		panic(o.failure("%s is not a register for a value of type .%s", arg.name, t.name))
	}
	if s.typ.bits != t.bits && !(wider && s.typ.bits > t.bits) {
		panic(o.failure("register %s has %d bits, the type .%s %d", arg.name, s.typ.bits, t.name, t.bits))
	}
	o.b.written[s.slots[0]] = true
	return s.slots[0], s.typ.bits
}

// predicateOf returns the index of a predicate, and whether it is negated.
func (o *operation) predicateOf(arg *operand) (index int, not bool) {
	if arg.kind == operandNot {
		index, not = o.predicateOf(&arg.items[0])
		return index, !not
	}
	if arg.kind == operandInteger { // a constant predicate
		return o.b.constantPredicate(), arg.bits == 0
	}
	s := o.b.lookup(arg.name)
	if arg.kind != operandName || s == nil || s.space != "reg" || s.typ.class != predicate {
		panic(o.failure("a predicate is expected"))
	}
	return s.slots[0], false
}

// constantPredicate returns a predicate that is true in all lanes.
func (b *builder) constantPredicate() int {
	if b.kernel.truth == 0 {
		b.kernel.truth = b.register(valueTypes["pred"]) + 1
	}
	return b.kernel.truth - 1
}

func (o *operation) predicate(i int) (index int, not bool) { return o.predicateOf(&o.args[i]) }

// predicateDestination returns the index of a predicate to write; for a sink, one that is
// never read.
func (o *operation) predicateDestination(arg *operand) int {
	if arg.kind == operandSink {
		return o.b.register(valueTypes["pred"])
	}
	index, not := o.predicateOf(arg)
	if not {
		panic(o.failure("the destination must not be negated"))
	}
	return index
}

// vector returns the n operands of {a, b, …}, or the one operand.
func (o *operation) vector(i, n int) []operand {
	arg := &o.args[i]
	items := []operand{*arg}
	if arg.kind == operandVector {
		items = arg.items
	} else if arg.kind == operandName {
		if s := o.b.lookup(arg.name); s != nil && s.space == "reg" && len(s.slots) > 1 {
			panic(o.failure("vector register %s is not supported: name its elements", arg.name))
		}
	}
	if len(items) != n {
		panic(o.failure("%d elements, not %d", len(items), n))
	}
	return items
}

// sources returns the registers of a vector operand.
func (o *operation) sources(i, n int, t valueType) []int {
	slots := make([]int, n)
	for j, item := range o.vector(i, n) {
		slots[j] = o.sourceOf(&item, t, false)
	}
	return slots
}

// destinations returns the registers of the first operand, a vector.
func (o *operation) destinations(n int, t valueType) []int {
	slots := make([]int, n)
	for j, item := range o.vector(0, n) {
		slots[j], _ = o.destinationOf(&item, t, false)
	}
	return slots
}

// statement compiles an instruction.
func (b *builder) statement(s *statement) {
	o := &operation{statement: s, b: b}
	in := instruction{line: s.line, guard: -1, join: -1}
	if s.guard != "" {
		var not bool
		in.guard, not = o.predicateOf(&operand{kind: operandName, name: s.guard})
		in.guardNot = s.guardNot != not
	}
	if special, ok := controls[s.opcode]; ok {
		special(o, &in)
		return
	}
	compile, ok := operations[s.opcode]
	if !ok {
		panic(o.failure("instruction %s is not supported", s.opcode))
	}
	in.run = compile(o)
	in.memory = o.memory
	in.flops, in.warpFLOPs = flopsOf(s)
	b.emit(in)
}

// operations compile instructions by their opcodes.
var operations map[string]func(*operation) step

func init() {
	operations = map[string]func(*operation) step{}
	for _, table := range []map[string]func(*operation) step{
		integerOperations, bitOperations, floatOperations, approximateOperations, compareOperations, moveOperations,
		convertOperations, memoryOperations, atomicOperations, warpOperations, matrixOperations, asyncOperations, warpgroupOperations, quietOperations,
	} {
		for name, compile := range table {
			operations[name] = compile
		}
	}
}
