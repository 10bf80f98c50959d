package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
)

const (
	typeI32     = 0x7f
	typeFuncref = 0x70
	typeFunc    = 0x60

	kindFunction = 0
	kindTable    = 1
	kindMemory   = 2
	kindGlobal   = 3
)

// split divides a program: the functions for which first is true stay in the module, the others move to a second one, which
// it returns as a file, with a name for it. The first call of one of those calls a function with that name, imported from
// rest, which instantiates the second module with the exports of the first as the module first, and sets the exported variable
// loaded.
func split(m *module, first func(int) bool) (rest []byte, name string, err error) {
	p, err := readProgram(m)
	if err != nil {
		return nil, "", err
	}
	second := make([]bool, len(m.bodies))
	for i, body := range m.bodies {
		second[i] = p.slots[i] != 0 && !first(i) && !p.callsImports(body)
	}
	called := p.called(second)
	rest = p.second(second, called).write()
	name = fmt.Sprintf("%x", sha256.Sum256(rest))[:16]
	p.first(second, called, name)
	return rest, name, nil
}

// A program is what split has to know of a module. Indices of functions count the imported ones first.
type program struct {
	*module
	imports   int       // the number of imported functions
	functions []int     // the types of the others
	types     [][]byte  // the parameters of types
	slots     []int     // the index of each of the others in the table, or zero
	globals   [][2]byte // the type of each variable, and whether it can be changed
}

func readProgram(m *module) (*program, error) {
	p := &program{module: m, slots: make([]int, len(m.bodies))}
	types := reader{m.section(sectionType)}
	for range types.length() {
		types.byte()
		p.types = append(p.types, types.bytes(types.length()))
		types.bytes(types.length())
	}
	imports := reader{m.section(sectionImport)}
	for range imports.length() {
		imports.name()
		imports.name()
		if imports.byte() != kindFunction {
			return nil, errors.New("the program imports something that is no function")
		}
		imports.length()
		p.imports++
	}
	functions := reader{m.section(sectionFunction)}
	for range functions.length() {
		p.functions = append(p.functions, functions.length())
	}
	elements := reader{m.section(sectionElement)}
	if elements.length() != 1 || elements.length() != 0 || elements.byte() != opI32Const {
		return nil, errors.New("the program has more than one list of functions for its table")
	}
	slot := int(elements.signed())
	elements.byte() // end
	for i := range elements.length() {
		if function := elements.length() - p.imports; function >= 0 {
			p.slots[function] = slot + i
		}
	}
	globals := reader{m.section(sectionGlobal)}
	for range globals.length() {
		p.globals = append(p.globals, [2]byte{globals.byte(), globals.byte()})
		for globals.next().op != opEnd {
		}
	}
	return p, nil
}

func (p *program) callsImports(body []byte) bool {
	for function := range calls(body) {
		if function < p.imports {
			return true
		}
	}
	return false
}

// calls returns the functions that a body calls directly.
func calls(body []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		r := reader{body}
		r.locals()
		for len(r.rest) > 0 {
			if in := r.next(); in.op == opCall && !yield(int(in.value)) {
				return
			}
		}
	}
}

// first replaces the functions of the second module, and adds what that needs. See called.
func (p *program) first(second []bool, called []int, name string) {
	loadType := len(p.types)
	types := reader{p.section(sectionType)}
	p.set(sectionType, append(append(unsigned(nil, uint64(types.length()+1)), types.rest...), typeFunc, 0, 0))

	imports := reader{p.section(sectionImport)}
	content := append(unsigned(nil, uint64(imports.length()+1)), imports.rest...)
	content = vector(vector(content, []byte("rest")), []byte(name))
	p.set(sectionImport, unsigned(append(content, kindFunction), uint64(loadType)))

	// The new import moves the functions that are not imported.
	moved := func(function int) int {
		if function >= p.imports {
			return function + 1
		}
		return function
	}
	loaded := len(p.globals)
	globals := reader{p.section(sectionGlobal)}
	content = append(unsigned(nil, uint64(globals.length()+1)), globals.rest...)
	p.set(sectionGlobal, append(content, typeI32, 1, opI32Const, 0, opEnd))

	var exported []byte
	count := 0
	add := func(name string, kind byte, index int) {
		exported = export(exported, name, kind, index)
		count++
	}
	exports := reader{p.section(sectionExport)}
	for range exports.length() {
		name, kind, index := exports.name(), exports.byte(), exports.length()
		if kind == kindFunction {
			index = moved(index)
		}
		add(name, kind, index)
	}
	add("loaded", kindGlobal, loaded)
	add("table", kindTable, 0)
	for i := range p.globals {
		add(fmt.Sprint("g", i), kindGlobal, i)
	}
	for _, function := range called {
		add(fmt.Sprint("f", function), kindFunction, moved(function))
	}
	p.set(sectionExport, append(unsigned(nil, uint64(count)), exported...))

	elements := reader{p.section(sectionElement)}
	content = append([]byte{}, elements.bytes(3)...)
	content = append(signed(content, elements.signed()), elements.byte())
	n := elements.length()
	content = unsigned(content, uint64(n))
	for range n {
		content = unsigned(content, uint64(moved(elements.length())))
	}
	p.set(sectionElement, content)

	for i, body := range p.bodies {
		if !second[i] {
			p.bodies[i] = renumber(body, moved)
			continue
		}
		stub := unsigned([]byte{0, opGlobalGet}, uint64(loaded))
		stub = append(stub, opI32Eqz, opIf, noResult)
		stub = append(unsigned(append(stub, opCall), uint64(p.imports)), opEnd)
		for parameter := range p.types[p.functions[i]] {
			stub = unsigned(append(stub, opLocalGet), uint64(parameter))
		}
		stub = signed(append(stub, opI32Const), int64(p.slots[i]))
		stub = unsigned(append(stub, opCallIndirect), uint64(p.functions[i]))
		p.bodies[i] = append(stub, 0, opEnd)
	}
}

// called returns the functions of the first module that functions of the second call.
func (p *program) called(second []bool) []int {
	seen := make([]bool, p.imports+len(p.bodies))
	for i, body := range p.bodies {
		if second[i] {
			for function := range calls(body) {
				seen[function] = !second[function-p.imports]
			}
		}
	}
	var functions []int
	for function, called := range seen {
		if called {
			functions = append(functions, function)
		}
	}
	return functions
}

// second returns the module of the functions that move. See called.
func (p *program) second(second []bool, called []int) *module {
	other := &module{}
	index := map[int]int{} // of functions in the new module
	imports := unsigned(nil, uint64(2+len(p.globals)+len(called)))
	add := func(name string, description ...byte) {
		imports = append(vector(vector(imports, []byte("first")), []byte(name)), description...)
	}
	add("mem", kindMemory, 0, 0)
	add("table", kindTable, typeFuncref, 0, 0)
	for i, global := range p.globals {
		add(fmt.Sprint("g", i), kindGlobal, global[0], global[1])
	}
	for _, function := range called {
		add(fmt.Sprint("f", function), unsigned([]byte{kindFunction}, uint64(p.functions[function-p.imports]))...)
		index[function] = len(index)
	}
	var functions []byte
	var moved []int
	for i := range p.bodies {
		if second[i] {
			index[p.imports+i] = len(index)
			moved = append(moved, i)
			functions = unsigned(functions, uint64(p.functions[i]))
		}
	}
	// The functions of a segment have consecutive places in the table.
	var segments [][]int
	slices.SortFunc(moved, func(a, b int) int { return p.slots[a] - p.slots[b] })
	for k, i := range moved {
		if k == 0 || p.slots[i] != p.slots[moved[k-1]]+1 {
			segments = append(segments, nil)
		}
		last := len(segments) - 1
		segments[last] = append(segments[last], i)
	}
	elements := unsigned(nil, uint64(len(segments)))
	for _, segment := range segments {
		elements = append(signed(append(elements, 0, opI32Const), int64(p.slots[segment[0]])), opEnd)
		elements = unsigned(elements, uint64(len(segment)))
		for _, i := range segment {
			elements = unsigned(elements, uint64(index[p.imports+i]))
		}
	}
	for i, body := range p.bodies {
		if second[i] {
			other.bodies = append(other.bodies, renumber(body, func(function int) int { return index[function] }))
		}
	}
	other.sections = []section{
		{sectionType, p.section(sectionType)},
		{sectionImport, imports},
		{sectionFunction, append(unsigned(nil, uint64(len(moved))), functions...)},
		{sectionElement, elements},
		{id: sectionCode},
	}
	return other
}

// renumber returns a body whose calls have other numbers of functions.
func renumber(body []byte, number func(int) int) []byte {
	r := reader{body}
	out := append(make([]byte, 0, len(body)+len(body)/8), r.locals()...)
	for len(r.rest) > 0 {
		in := r.next()
		if in.op == opCall {
			out = unsigned(append(out, opCall), uint64(number(int(in.value))))
		} else {
			out = append(out, in.code...)
		}
	}
	return out
}
