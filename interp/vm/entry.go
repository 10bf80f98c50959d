package vm

import (
	"reflect"
	"runtime"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/shared"
)

// An entry is a method of a cell that compiled code calls: the inverse of an Adapter. Compiled code passes the arguments in registers of
// the CPU. A Go function whose parameter is a struct gets the fields of that struct in the same registers as it would get as many
// parameters, and results are returned in the same way. So a function with a parameter of type struct{ p unsafe.Pointer; n uintptr }
// can be called as if it were one with a string, or with a pointer and an int.
//
// Other than an Adapter, such a function cannot take pointers as integers: the garbage collector has to see them while the arguments
// are on their way. Nor can it take more words than there are, because the rest would not be pointers. So there is one function
// for each sequence of pointers and integers, and only the most frequent sequences have one. The others are called through package
// reflect, which takes ten times as long.
type entry struct {
	vm                  *VM
	call                rt.MethodCall
	parameters, results []Shape // of the signature in compiled code; the first parameter is the data word of the receiver
	in, out             []move
	known               shared.Pointer[Function] // the last method for which fits was true
}

// move says where a word of the arguments or results is.
type move struct {
	result          // in the frame
	memory  uintptr // the offset in the struct
	pointer bool
}

// words returns the sequence of words of values with these shapes, a letter for each, and where they are; ok is false if some values
// are not passed in words of their own.
func words(shapes []Shape, at []uint16) (letters string, moves []move, ok bool) {
	for i, s := range shapes {
		r := resultOf(s, at[i])
		value, known := wordsOf[r.class]
		if !known {
			return "", nil, false
		}
		for n := range len(value) {
			moves = append(moves, move{r, uintptr(len(letters)+n) * 8, value[n] == 'P'})
			r.at += wordStep
		}
		letters += value
	}
	return letters, moves, !onStack || !shareWords(shapes)
}

// wordsOf has the words of a value of a class: P for a pointer, I for an integer, F for a float64.
var wordsOf = map[abiClass]string{
	classInteger: "I", classFloat: "F", classString: "PI", classPointer: "P", classSlice: "PII", classInterface: "PP",
}

// Entry returns a function value that compiled code calls as one with the signature of c, after a parameter of type unsafe.Pointer for
// the receiver. It is nil if there is none for that signature.
func (vm *VM) Entry(c rt.MethodCall) unsafe.Pointer {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" && !onStack {
		return nil
	}
	e := &entry{vm: vm, call: c, parameters: []Shape{{File: Reference, Width: "P", Type: reflect.TypeFor[unsafe.Pointer]()}}}
	for t := range c.Signature().Ins() {
		e.parameters = append(e.parameters, Shape{Type: t})
	}
	for t := range c.Signature().Outs() {
		e.results = append(e.results, Shape{Type: t})
	}
	for _, list := range [][]Shape{e.parameters, e.results} {
		for i := range list {
			s, err := ShapeOf(list[i].Type)
			if err != nil {
				return nil
			}
			list[i] = s
		}
	}
	in, moves, ok := words(e.parameters[1:], FrameRegisters(e.parameters)[1:])
	if !ok {
		return nil
	}
	e.in = moves
	out, moves, ok := words(e.results, FrameRegisters(e.results))
	if !ok {
		return nil
	}
	e.out = moves
	return e.function(in, out)
}

// The types of arguments and results by their words.
type (
	noWords = struct{}
	wordsI  = struct{ A uintptr }
	wordsII = struct{ A, B uintptr }
	wordsP  = struct{ A unsafe.Pointer }
	wordsPI = struct {
		A unsafe.Pointer
		B uintptr
	}
	wordsPII = struct {
		A    unsafe.Pointer
		B, C uintptr
	}
	wordsPIII = struct {
		A       unsafe.Pointer
		B, C, D uintptr
	}
	wordsPP  = struct{ A, B unsafe.Pointer }
	wordsPPI = struct {
		A, B unsafe.Pointer
		C    uintptr
	}
	wordsPPP  = struct{ A, B, C unsafe.Pointer }
	wordsPPPP = struct{ A, B, C, D unsafe.Pointer }
	wordsIPP  = struct {
		A    uintptr
		B, C unsafe.Pointer
	}
	wordsPIPI = struct {
		A unsafe.Pointer
		B uintptr
		C unsafe.Pointer
		D uintptr
	}
	wordsPIPP = struct {
		A    unsafe.Pointer
		B    uintptr
		C, D unsafe.Pointer
	}
	wordsPIPII = struct {
		A    unsafe.Pointer
		B    uintptr
		C    unsafe.Pointer
		D, E uintptr
	}
	wordsPIIPP = struct {
		A    unsafe.Pointer
		B, C uintptr
		D, E unsafe.Pointer
	}
	wordsPPPII = struct {
		A, B, C unsafe.Pointer
		D, E    uintptr
	}
	wordsF  = struct{ A float64 }
	wordsFF = struct{ A, B float64 }
)

// function returns the function value for these words.
func (e *entry) function(in, out string) unsafe.Pointer {
	switch in {
	case "":
		return returning[noWords](e, out)
	case "I":
		return returning[wordsI](e, out)
	case "II":
		return returning[wordsII](e, out)
	case "P":
		return returning[wordsP](e, out)
	case "PI":
		return returning[wordsPI](e, out)
	case "PII":
		return returning[wordsPII](e, out)
	case "PIII":
		return returning[wordsPIII](e, out)
	case "PP":
		return returning[wordsPP](e, out)
	case "PPI":
		return returning[wordsPPI](e, out)
	case "PPP":
		return returning[wordsPPP](e, out)
	case "PPPP":
		return returning[wordsPPPP](e, out)
	case "PIPI":
		return returning[wordsPIPI](e, out)
	case "PIPII":
		return returning[wordsPIPII](e, out)
	case "PPPII":
		return returning[wordsPPPII](e, out)
	case "F":
		return returning[wordsF](e, out)
	case "FF":
		return returning[wordsFF](e, out)
	}
	return nil
}

// returning is function for arguments of type A.
func returning[A any](e *entry, out string) unsafe.Pointer {
	switch out {
	case "":
		return functionOf[A, noWords](e)
	case "I":
		return functionOf[A, wordsI](e)
	case "II":
		return functionOf[A, wordsII](e)
	case "P":
		return functionOf[A, wordsP](e)
	case "PI":
		return functionOf[A, wordsPI](e)
	case "PII":
		return functionOf[A, wordsPII](e)
	case "PP":
		return functionOf[A, wordsPP](e)
	case "PPP":
		return functionOf[A, wordsPPP](e)
	case "PPPP":
		return functionOf[A, wordsPPPP](e)
	case "IPP":
		return functionOf[A, wordsIPP](e)
	case "PIPP":
		return functionOf[A, wordsPIPP](e)
	case "PIIPP":
		return functionOf[A, wordsPIIPP](e)
	case "F":
		return functionOf[A, wordsF](e)
	}
	return nil
}

func functionOf[A, R any](e *entry) unsafe.Pointer {
	f := func(receiver unsafe.Pointer, in A) (out R) {
		e.run(receiver, unsafe.Pointer(&in), unsafe.Pointer(&out))
		return out
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(&f))
}

// run runs the method. receiver is the data word of an interface value, in has the words of the arguments, and out gets those of the
// results.
func (e *entry) run(receiver, in, out unsafe.Pointer) {
	defer rt.RaiseAgain()
	code, word := e.call.Target(receiver)
	m, ok := code.(*method)
	if !ok || !e.fits(m.entry) {
		e.reflected(receiver, in, out)
		return
	}
	e.vm.enter(m.entry, func(nb, sb unsafe.Pointer) {
		*PointerAt(sb, uint16(SlotOffset)) = word
		e.store(nb, sb, in)
	}, func(nb, sb unsafe.Pointer) { e.load(nb, sb, out) }, nil)
}

// store stores the words of the arguments in the registers of a frame.
func (e *entry) store(nb, sb, in unsafe.Pointer) {
	for i := range e.in {
		m := &e.in[i]
		from := unsafe.Add(in, m.memory)
		if m.pointer {
			*(*unsafe.Pointer)(m.at.address(nb, sb)) = *(*unsafe.Pointer)(from)
		} else {
			store(nb, sb, m.result, *(*uintptr)(from))
		}
	}
}

// load loads the words of the results from the registers of a frame.
func (e *entry) load(nb, sb, out unsafe.Pointer) {
	for i := range e.out {
		m := &e.out[i]
		to := unsafe.Add(out, m.memory)
		if m.pointer {
			*(*unsafe.Pointer)(to) = *(*unsafe.Pointer)(m.at.address(nb, sb))
		} else {
			*(*uintptr)(to) = word(nb, sb, m.at)
		}
	}
}

// fits reports whether the method fn takes its arguments and returns its results in the same registers as the entry. Interfaces have to be
// the same: a value of an interface of a cell may have another first word in compiled code.
func (e *entry) fits(fn *Function) bool {
	if e.known.Load() == fn {
		return true
	}
	same := func(a, b []Shape) bool {
		for i := range a {
			if a[i].File != b[i].File || a[i].Width != b[i].Width || a[i].Type.Kind() != b[i].Type.Kind() || a[i].Type.Kind() == reflect.Interface && a[i].Type != b[i].Type {
				return false
			}
		}
		return true
	}
	if len(fn.Parameters) != len(e.parameters) || len(fn.Results) != len(e.results) || fn.Parameters[0].File == Scalar ||
		!same(e.parameters[1:], fn.Parameters[1:]) || !same(e.results, fn.Results) {
		return false
	}
	e.known.Store(fn)
	return true
}

// reflected is run for a method that the VM does not run, such as one of an embedded field of a compiled type, and for one with other
// registers.
func (e *entry) reflected(receiver, in, out unsafe.Pointer) {
	scalars, slots := make([]int64, len(e.parameters)+len(e.results)), make([]slot, len(e.parameters)+len(e.results))
	nb, sb := unsafe.Pointer(&scalars[0]), unsafe.Pointer(&slots[0])
	e.store(nb, sb, in)
	arguments := make([]reflect.Value, len(e.parameters)-1)
	for i, at := range FrameRegisters(e.parameters)[1:] {
		arguments[i] = e.parameters[i+1].Get(nb, sb, at)
	}
	results := e.call.Call(receiver, arguments)
	for i, at := range FrameRegisters(e.results) {
		e.results[i].Put(nb, sb, at, results[i])
	}
	e.load(nb, sb, out)
}
