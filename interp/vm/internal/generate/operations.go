package main

import (
	"fmt"
	"strings"
)

// An operation is one case of the instruction loop.
type operation struct {
	name string
	// operands has a letter for each of the fields a, b, c, k and j: n a scalar register, s a slot, N and S
	// the offsets of a frame, k a constant, j a jump distance, f a function, y a type, g a global variable,
	// x a native function, - unused.
	operands string
	// body is Go code with macros. I(a), U(a), F(a) and G(a) are the scalar register a as an int64, uint64,
	// float64 and float32. P(a), C(a), D(a), STR(a), HDR(a) and ANY(a) are the slot a as a pointer,
	// complex128, complex64, string, slice header and interface; Q(a) is the type word of the interface.
	// JUMP jumps by j, RETURN returns from the function, SAVE saves the instruction pointer for a panic, CHECK checks for an interrupt.
	// No local variable of run may be used after a call that returns, since the compiler would then store
	// these variables for each instruction: SUSPEND before the call and RESUME after it, or goto resume,
	// which continues with the next instruction, load them again.
	body string
	// rare operations are cases of a function of their own, where that does not matter, and which run calls
	// after SUSPEND, so that they need no SAVE. They neither jump nor call functions of the VM.
	rare bool
}

type list []operation

func (l *list) add(name, operands, body string) {
	l.addIf(false, name, operands, body)
}

func (l *list) addRare(name, operands, body string) {
	l.addIf(true, name, operands, body)
}

// addIf adds an operation that may be rare.
func (l *list) addIf(rare bool, name, operands, body string) {
	*l = append(*l, operation{name, operands, body, rare})
}

func operations() list {
	var l list
	l.moves()
	l.integers()
	l.floats()
	l.complexes()
	l.conversions()
	l.comparisons()
	l.branches()
	l.memory()
	l.elements()
	l.texts()
	l.control()
	return l
}

func (l *list) moves() {
	l.add("Mov", "nn", "I(a) = I(b)")
	l.add("Const", "n--k", "I(a) = int64(in.K)")
	l.add("Const64", "n--k", "I(a) = fn.Constants64[in.K]")
	l.add("MovP", "ss", "P(a) = P(b)")
	l.add("MovStr", "ss", "STR(a) = STR(b)")
	l.add("MovSl", "ss", "HDR(a) = HDR(b)")
	l.add("MovIf", "ss", "ANY(a) = ANY(b)")
	l.add("Nil", "s", "HDR(a) = SliceHeader{}\nQ(a) = nil")
	l.add("ConstStr", "s--k", "STR(a) = fn.Strings[in.K]")
	l.add("Len", "ns", "I(a) = int64(LEN(b))")
	l.add("Cap", "ns", "I(a) = int64(CAP(b))")
	l.add("Global", "s--g", "P(a) = fn.Globals[in.K].Address")
}

func (l *list) integers() {
	for _, o := range []struct{ name, op string }{
		{"Add", "+"}, {"Sub", "-"}, {"Mul", "*"}, {"And", "&"}, {"Or", "|"}, {"Xor", "^"}, {"AndNot", "&^"},
	} {
		l.add(o.name+"I", "nnn", "I(a) = I(b) "+o.op+" I(c)")
	}
	for _, o := range []struct{ name, op string }{{"Add", "+"}, {"Mul", "*"}, {"And", "&"}} {
		l.add(o.name+"K", "nn-k", "I(a) = I(b) "+o.op+" int64(in.K)")
	}
	for _, o := range []struct{ name, op string }{{"Div", "/"}, {"Rem", "%"}} {
		l.add(o.name+"I", "nnn", "SAVE\nI(a) = I(b) "+o.op+" I(c)")
		l.add(o.name+"U", "nnn", "SAVE\nU(a) = U(b) "+o.op+" U(c)")
		l.add(o.name+"K", "nn-k", "I(a) = I(b) "+o.op+" int64(in.K)")
	}
	l.add("ShlI", "nnn", "I(a) = I(b) << U(c)")
	l.add("ShrI", "nnn", "I(a) = I(b) >> U(c)")
	l.add("ShrU", "nnn", "U(a) = U(b) >> U(c)")
	l.add("ShlK", "nn-k", "I(a) = I(b) << uint32(in.K)")
	l.add("ShrK", "nn-k", "I(a) = I(b) >> uint32(in.K)")
	l.add("ShrUK", "nn-k", "U(a) = U(b) >> uint32(in.K)")
	l.add("CheckShift", "n", "if I(a) < 0 {\nSAVE\npanic(rt.NegativeShift())\n}")
	l.add("NegI", "nn", "I(a) = -I(b)")
	l.add("NotI", "nn", "I(a) = ^I(b)")
	l.add("NotB", "nn", "I(a) = I(b) ^ 1")
	for _, w := range []int{8, 16, 32} {
		l.add(fmt.Sprintf("Sign%d", w), "nn", fmt.Sprintf("I(a) = int64(int%d(I(b)))", w))
		l.add(fmt.Sprintf("Zero%d", w), "nn", fmt.Sprintf("I(a) = int64(uint%d(I(b)))", w))
	}
}

func (l *list) floats() {
	for _, o := range []struct{ name, op string }{{"Add", "+"}, {"Sub", "-"}, {"Mul", "*"}, {"Div", "/"}} {
		l.add(o.name+"F", "nnn", "F(a) = F(b) "+o.op+" F(c)")
		l.add(o.name+"G", "nnn", "U(a) = uint64(math.Float32bits(G(b) "+o.op+" G(c)))")
	}
	l.add("NegF", "nn", "F(a) = -F(b)")
	l.add("NegG", "nn", "U(a) = uint64(math.Float32bits(-G(b)))")
}

// complexes use the words of slots that are not pointers.
func (l *list) complexes() {
	l.addRare("MovC", "ss", "C(a) = C(b)")
	l.addRare("MovD", "ss", "D(a) = D(b)")
	l.addRare("ConstC", "s--k", "C(a) = fn.Complexes[in.K]")
	l.addRare("ConstD", "s--k", "D(a) = complex64(fn.Complexes[in.K])")
	for _, access := range []string{"C", "D"} {
		x, y := access+"(b)", access+"(c)"
		for _, o := range []struct{ name, op string }{{"Add", "+"}, {"Sub", "-"}, {"Mul", "*"}, {"Div", "/"}} {
			l.addRare(o.name+access, "sss", access+"(a) = "+x+" "+o.op+" "+y)
		}
		l.addRare("Neg"+access, "ss", access+"(a) = -"+x)
		l.addRare("Eq"+access, "nss", "I(a) = BoolToInt("+x+" == "+y+")")
		l.addRare("Ne"+access, "nss", "I(a) = BoolToInt("+x+" != "+y+")")
	}
	l.addRare("RealC", "ns", "F(a) = real(C(b))")
	l.addRare("ImagC", "ns", "F(a) = imag(C(b))")
	l.addRare("RealD", "ns", "U(a) = uint64(math.Float32bits(real(D(b))))")
	l.addRare("ImagD", "ns", "U(a) = uint64(math.Float32bits(imag(D(b))))")
	l.addRare("MakeC", "snn", "C(a) = complex(F(b), F(c))")
	l.addRare("MakeD", "snn", "D(a) = complex(G(b), G(c))")
	l.addRare("CD", "ss", "D(a) = complex64(C(b))")
	l.addRare("DC", "ss", "C(a) = complex128(D(b))")
}

func (l *list) conversions() {
	l.add("IF", "nn", "F(a) = float64(I(b))")
	l.addRare("UF", "nn", "F(a) = float64(U(b))")
	l.addRare("IG", "nn", "U(a) = uint64(math.Float32bits(float32(I(b))))")
	l.addRare("UG", "nn", "U(a) = uint64(math.Float32bits(float32(U(b))))")
	l.add("FG", "nn", "U(a) = uint64(math.Float32bits(float32(F(b))))")
	l.add("GF", "nn", "F(a) = float64(G(b))")
	for _, from := range []string{"F", "G"} {
		for _, w := range []int{8, 16, 32, 64} {
			rare := from != "F" || w != 64
			l.addIf(rare, fmt.Sprintf("%sI%d", from, w), "nn", fmt.Sprintf("I(a) = int64(int%d(%s(b)))", w, from))
			l.addRare(fmt.Sprintf("%sU%d", from, w), "nn", fmt.Sprintf("U(a) = uint64(uint%d(%s(b)))", w, from))
		}
	}
}

// relations are the comparisons for each kind of scalar. > and >= are < and <= with exchanged operands.
var relations = []struct{ name, access, op string }{
	{"EqI", "I", "=="}, {"NeI", "I", "!="}, {"LtI", "I", "<"}, {"LeI", "I", "<="},
	{"LtU", "U", "<"}, {"LeU", "U", "<="},
	{"EqF", "F", "=="}, {"NeF", "F", "!="}, {"LtF", "F", "<"}, {"LeF", "F", "<="},
	{"EqG", "G", "=="}, {"NeG", "G", "!="}, {"LtG", "G", "<"}, {"LeG", "G", "<="},
}

func (l *list) comparisons() {
	for _, r := range relations {
		l.add(r.name, "nnn", fmt.Sprintf("I(a) = BoolToInt(%s(b) %s %s(c))", r.access, r.op, r.access))
	}
	l.add("CmpI", "nnn", "I(a) = BoolToInt(I(c) < I(b)) - BoolToInt(I(b) < I(c))")
	l.add("EqP", "nss", "I(a) = BoolToInt(P(b) == P(c))")
	l.add("NilP", "ns", "I(a) = BoolToInt(P(b) == nil)")
	l.add("NilIf", "ns", "I(a) = BoolToInt(Q(b) == nil)")
	l.add("EqStr", "nss", `
		if LEN(b) != LEN(c) {
			I(a) = 0
			continue
		}
		SUSPEND
		equal := BoolToInt(STR(b) == STR(c))
		RESUME
		I(a) = equal`)
	l.addRare("LtStr", "nss", "I(a) = BoolToInt(STR(b) < STR(c))")
	l.addRare("LeStr", "nss", "I(a) = BoolToInt(STR(b) <= STR(c))")
}

// branches emits conditional jumps. The variants named Loop jump backward and check for an interrupt.
func (l *list) branches() {
	l.add("Jmp", "----j", "JUMP")
	l.add("Loop", "----j", "JUMP\nCHECK")
	l.add("If", "n---j", "if I(a) != 0 { JUMP }")
	l.add("IfNot", "n---j", "if I(a) == 0 { JUMP }")
	l.add("LoopIf", "n---j", "if I(a) != 0 { JUMP\nCHECK }")
	for _, r := range relations {
		if r.access == "G" {
			continue
		}
		condition := fmt.Sprintf("%s(a) %s %s(b)", r.access, r.op, r.access)
		l.add("If"+r.name, "nn--j", "if "+condition+" { JUMP }")
		l.add("Loop"+r.name, "nn--j", "if "+condition+" { JUMP\nCHECK }")
		if r.access == "F" && (r.op == "<" || r.op == "<=") {
			// Not the negated relation, because of NaN.
			l.add("IfNot"+r.name, "nn--j", "if !("+condition+") { JUMP }")
		}
	}
	for _, r := range []struct{ name, op string }{{"Eq", "=="}, {"Ne", "!="}, {"Lt", "<"}, {"Le", "<="}, {"Gt", ">"}, {"Ge", ">="}} {
		condition := "I(a) " + r.op + " int64(in.K)"
		l.add("If"+r.name+"K", "n--kj", "if "+condition+" { JUMP }")
		l.add("Loop"+r.name+"K", "n--kj", "if "+condition+" { JUMP\nCHECK }")
	}
	// a += k; if a < b
	l.add("LoopAddLt", "nn-kj", "v := I(a) + int64(in.K)\nI(a) = v\nif v < I(b) { JUMP\nCHECK }")
	l.add("LoopAddLe", "nn-kj", "v := I(a) + int64(in.K)\nI(a) = v\nif v <= I(b) { JUMP\nCHECK }")
	// the same with the length of a slice or string, with which most loops compare
	l.add("IfLtLen", "ns--j", "if I(a) < int64(LEN(b)) { JUMP }")
	l.add("IfGeLen", "ns--j", "if I(a) >= int64(LEN(b)) { JUMP }")
	l.add("LoopLtLen", "ns--j", "if I(a) < int64(LEN(b)) { JUMP\nCHECK }")
	l.add("LoopAddLtLen", "ns-kj", "v := I(a) + int64(in.K)\nI(a) = v\nif v < int64(LEN(b)) { JUMP\nCHECK }")
	// a++; if a < k
	l.add("LoopIncLtK", "n--kj", "v := I(a) + 1\nI(a) = v\nif v < int64(in.K) { JUMP\nCHECK }")
	l.add("LoopIncLeK", "n--kj", "v := I(a) + 1\nI(a) = v\nif v <= int64(in.K) { JUMP\nCHECK }")
	l.add("IfNil", "s---j", "if P(a) == nil { JUMP }")
	l.add("IfNotNil", "s---j", "if P(a) != nil { JUMP }")
}

// width is a representation of a value in memory.
type width struct {
	name, access, typ, convert string
}

// loads are the widths of loads, which extend integers to a register.
var loads = []width{
	{"8S", "I", "int8", "int64"}, {"8U", "I", "uint8", "int64"},
	{"16S", "I", "int16", "int64"}, {"16U", "I", "uint16", "int64"},
	{"32S", "I", "int32", "int64"}, {"32U", "I", "uint32", "int64"},
	{"64", "I", "int64", ""},
	{"P", "P", "unsafe.Pointer", ""}, {"Str", "STR", "string", ""}, {"Sl", "HDR", "SliceHeader", ""}, {"If", "ANY", "any", ""},
	{"C", "C", "complex128", ""}, {"D", "D", "complex64", ""},
}

// stores are the widths of stores, which ignore the sign.
var stores = []width{
	{"8", "I", "int8", "int8"}, {"16", "I", "int16", "int16"}, {"32", "I", "int32", "int32"}, {"64", "I", "int64", ""},
	{"P", "P", "unsafe.Pointer", ""}, {"Str", "STR", "string", ""}, {"Sl", "HDR", "SliceHeader", ""}, {"If", "ANY", "any", ""},
	{"C", "C", "complex128", ""}, {"D", "D", "complex64", ""},
}

func (w width) file() string {
	if w.access == "I" {
		return "n"
	}
	return "s"
}

func (w width) converted(x string) string {
	if w.convert == "" {
		return x
	}
	return w.convert + "(" + x + ")"
}

// addWidth adds an operation on values of a width.
func (l *list) addWidth(w width, name, operands, body string) {
	rare := w.access == "C" || w.access == "D" || strings.HasPrefix(w.name, "16") || w.name == "8S"
	l.addIf(rare, name, operands, body)
}

const nilCheck = "if p == nil { goto nilPointer }\n"

func (l *list) memory() {
	for _, w := range loads {
		l.addWidth(w, "Ld"+w.name, w.file()+"s-k", "p := P(b)\n"+nilCheck+
			w.access+"(a) = "+w.converted("*(*"+w.typ+")(unsafe.Add(p, in.K))"))
	}
	for _, w := range stores {
		l.addWidth(w, "St"+w.name, "s"+w.file()+"-k", "p := P(a)\n"+nilCheck+
			"*(*"+w.typ+")(unsafe.Add(p, in.K)) = "+w.converted(w.access+"(b)"))
	}
	l.add("Lea", "ss-k", "p := P(b)\n"+nilCheck+"P(a) = unsafe.Add(p, in.K)")
	l.add("New", "s--y", "SUSPEND\np := fn.Types[in.K].alloc()\nRESUME\nP(a) = p")
	l.addRare("CopyM", "ss-y", "p := P(b)\n"+nilCheck+"if P(a) == nil { goto nilPointer }\nfn.Types[in.K].copy(P(a), p)")
	l.addRare("CloneM", "ss-y", "p := P(b)\n"+nilCheck+"P(a) = fn.Types[in.K].clone(p)")
	l.addRare("SwapM", "ss-y", "fn.Types[in.K].swap(P(a), P(b))")
	l.addRare("ZeroM", "s--y", "if P(a) == nil { goto nilPointer }\nfn.Types[in.K].zero(P(a))")
}

const boundsCheck = "if uint(index) >= uint(length) { goto outOfRange }\n"

func (l *list) elements() {
	size := map[string]string{"8S": "1", "8U": "1", "8": "1", "16S": "2", "16U": "2", "16": "2", "32S": "4", "32U": "4", "32": "4",
		"64": "8", "P": "8", "Str": "16", "Sl": "24", "If": "16", "C": "16", "D": "8"}
	for _, w := range loads {
		l.addWidth(w, "Ix"+w.name, w.file()+"sn", "index, length = int(I(c)), LEN(b)\n"+boundsCheck+
			w.access+"(a) = "+w.converted("*(*"+w.typ+")(unsafe.Add(P(b), index*"+size[w.name]+"))"))
	}
	for _, w := range stores {
		l.addWidth(w, "Put"+w.name, "s"+w.file()+"n", "index, length = int(I(c)), LEN(a)\n"+boundsCheck+
			"*(*"+w.typ+")(unsafe.Add(P(a), index*"+size[w.name]+")) = "+w.converted(w.access+"(b)"))
	}
	for _, w := range loads {
		// s[i].f: the field at offset j of an element of size k
		if w.name == "64" || w.name == "P" || w.name == "Str" {
			l.add("IxLd"+w.name, w.file()+"snkk", "index, length = int(I(c)), LEN(b)\n"+boundsCheck+
				w.access+"(a) = *(*"+w.typ+")(unsafe.Add(P(b), index*int(in.K)+int(in.J)))")
		}
		// s[i][j]
		if w.name == "64" || w.name == "8U" {
			l.add("IxIx"+w.name, w.file()+"snn", "index, length = int(I(c)), LEN(b)\n"+boundsCheck+
				"row := unsafe.Add(P(b), index*24)\nindex, length = *(*int)(unsafe.Add(nb, in.K)), *(*int)(unsafe.Add(row, 8))\n"+boundsCheck+
				w.access+"(a) = "+w.converted("*(*"+w.typ+")(unsafe.Add(*(*unsafe.Pointer)(row), index*"+size[w.name]+"))"))
		}
	}
	l.add("IxAddr", "ssnk", "index, length = int(I(c)), LEN(b)\n"+boundsCheck+"P(a) = unsafe.Add(P(b), index*int(in.K))")
	l.add("AxAddr", "ssnkk", "p := P(b)\n"+nilCheck+"index, length = int(I(c)), int(in.J)\n"+boundsCheck+"P(a) = unsafe.Add(p, index*int(in.K))")
}

func (l *list) texts() {
	l.addRare("Concat", "sss", "if n := LEN(b) + LEN(c); n >= rt.LargeAllocation { rt.Allocate(n, 1) }\nSTR(a) = STR(b) + STR(c)")
}

func (l *list) control() {
	l.add("Native", "---x", "SUSPEND\nfn.Natives[in.K].Run(t, nb, sb)\ngoto resume")
	l.add("CallFloat", "nn-x", "SUSPEND\nresult := fn.Natives[in.K].Float(F(b))\nRESUME\nF(a) = result")
	l.add("Sqrt", "nn", "F(a) = math.Sqrt(F(b))")
	l.add("Call", "NS-f", "callee, captured = fn.Callees[in.K], nil\nif f := callee.replacement.Load(); f != nil { callee = f }\ngoto call")
	l.add("FirstCall", "", `
		SUSPEND
		t.fn = fn.body(t.vm)
		RESUME
		if uintptr(nb)+fn.Scalars > t.scalarEnd || uintptr(sb)+fn.Pointers > t.slotEnd {
			nb, sb = t.grow(nb, sb, fn.Scalars, fn.Pointers)
			fn = t.fn
		}
		if ip = fn.entry(); in.A == Lends {
			ip = &fn.Code[0]
		}`)
	l.add("CallValue", "NSsx", `
		p := P(c)
		`+nilCheck+`
		// closureOf, which the compiler does not inline here
		if *(*uintptr)(p) == stubCode && stubCode != 0 {
			h := *(*unsafe.Pointer)(unsafe.Add(p, handlerOffset))
			if *(*uintptr)(h) == handlerCode {
				f := *(**closure)(unsafe.Add(h, closureOffset))
				callee, captured = f.function, f.captured
				goto call
			}
		}
		SUSPEND
		fn.ForeignCalls[in.K].call(unsafe.Add(nb, in.A), unsafe.Add(sb, in.B), p)
		goto resume`)
	l.add("CallMethod", "NSsx", `
		site := fn.CallSites[in.K]
		receiver := (*unsafe.Pointer)(unsafe.Add(sb, uintptr(in.B)+SlotOffset))
		if e := site.cached.Load(); e != nil && e.key == Q(c) && e.epoch == t.vm.epoch.Load() {
			*receiver = P(c)
			callee, captured = e.function, nil
			goto call
		}
		SUSPEND
		f, data := site.find(t.vm, Q(c), *ErrorAt(sb, in.C))
		RESUME
		if f != nil {
			*(*unsafe.Pointer)(unsafe.Add(sb, uintptr(in.B)+SlotOffset)) = data
			callee, captured = f, nil
			goto call
		}
		fn.CallSites[in.K].call(t.vm, unsafe.Add(nb, in.A), unsafe.Add(sb, in.B), *ErrorAt(sb, in.C))
		goto resume`)
	l.add("Ret", "", "RETURN")
	l.add("RunDeferred", "NS--j", `
		SUSPEND
		callee, captured = t.popDeferred()
		RESUME
		if callee != nil {
			goto call
		}
		JUMP`)
	// Operations on the state of a range over a function; see Deferrer and package compile.
	l.add("BeginBody", "s", `
		state := (*int64)(P(a))
		if *state != StateReady {
			SAVE
			panic(exitedBody(state))
		}
		*state = StateRunning`)
	l.add("LeaveBody", "s--kk", "*(*int64)(P(a)) = int64(in.K)\n*(*int64)(nb) = int64(in.J)\nRETURN")
	l.addRare("SetState", "s--k", "*(*int64)(P(a)) = int64(in.K)")
	l.addRare("Panic", "s", "t.raise(ANY(a))")
}
