package ptxsim

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"strings"
)

// The functions that CUDA's driver provides: printf, and what a failed assert calls.

// maxPrinted is how many bytes a run prints, as many as the buffer of a GPU has.
const maxPrinted = 1 << 20

// maxString is how many bytes of a string are read.
const maxString = 1 << 16

// printer writes what the threads of a run print.
type printer struct {
	to      io.Writer // nil for nowhere
	printed int
	full    bool
}

func (p *printer) print(text string) {
	switch {
	case p.to == nil || p.full:
		return
	case p.printed+len(text) > maxPrinted:
		p.full = true
		text = fmt.Sprintf("printf: what a kernel prints after the first %d bytes is left out\n", p.printed)
	}
	p.printed += len(text)
	// If the output is closed, nobody reads it.
	_, _ = io.WriteString(p.to, text)
}

// provided compile the calls of functions of the driver. The arguments are the offsets of the parameters in a thread's local memory.
var provided = map[string]struct {
	params  []int // bytes
	results []int
	compile func(o *operation, params, results []int) step
}{
	"vprintf":      {[]int{8, 8}, []int{4}, compilePrintf},
	"__assertfail": {[]int{8, 8, 4, 8, 8}, nil, compileAssert},
}

// callProvided compiles a call of a function of the driver.
func (o *operation) callProvided(name string, params, results []operand, in *instruction) {
	f := provided[name]
	offsets := func(args []operand, sizes []int) []int {
		if len(args) != len(sizes) {
			panic(o.failure("%s has %d parameters and %d results", name, len(f.params), len(f.results)))
		}
		var all []int
		for i, arg := range args {
			s := o.b.lookup(arg.name)
			if arg.kind != operandName || s == nil || s.space != "local" || s.typ.bytes() != sizes[i] {
				panic(o.failure("argument %d of %s is not a .param variable of %d bytes", i, name, sizes[i]))
			}
			all = append(all, s.offset)
		}
		return all
	}
	p, r := offsets(params, f.params), offsets(results, f.results)
	in.run = f.compile(o, p, r)
	o.b.emit(*in)
}

// anywhere returns an access by generic addresses.
func (o *operation) anywhere() *access {
	a := &access{vector: 1, site: o.b.kernel.sites}
	o.b.kernel.sites++
	return a
}

// text reads a string that ends in a zero.
func (w *warp) text(a *access, lane int, address uint64) string {
	var b strings.Builder
	for b.Len() < maxString {
		c := w.readable(a, lane, address+uint64(b.Len()), 1)[0]
		if c == 0 {
			break
		}
		b.WriteByte(c)
	}
	return b.String()
}

// argument reads a parameter of a call.
func (w *warp) argument(lane, offset, size int) uint64 {
	return getBits(w.readable(&access{space: "local"}, lane, uint64(offset), size), size)
}

// compilePrintf compiles vprintf(format, arguments), which returns the number of arguments.
func compilePrintf(o *operation, params, results []int) step {
	o.b.kernel.prints = true
	a := o.anywhere()
	return func(w *warp, mask uint32) {
		for m := mask; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			text, n := w.format(a, lane, w.text(a, lane, w.argument(lane, params[0], 8)), w.argument(lane, params[1], 8))
			w.block.run.printer.print(text)
			var count [4]byte
			putBits(count[:], uint64(n), 4)
			w.write(&access{space: "local"}, lane, uint64(results[0]), count[:])
		}
	}
}

// format formats as printf of C. The arguments are in memory, each at a multiple of its size.
func (w *warp) format(a *access, lane int, format string, at uint64) (text string, arguments int) {
	next := func(size int) uint64 {
		at = (at + uint64(size) - 1) &^ uint64(size-1)
		v := getBits(w.readable(a, lane, at, size), size)
		at += uint64(size)
		arguments++
		return v
	}
	var b strings.Builder
	for format != "" {
		before, rest, found := strings.Cut(format, "%")
		b.WriteString(before)
		if !found {
			break
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("-+ #0123456789.*hlLqjzt", r) })
		if end < 0 {
			panic(w.fault(Trapped, lane, "the format of printf ends in %%%s", rest))
		}
		spec, verb := rest[:end], rest[end]
		format = rest[end+1:]
		size := 4
		if strings.ContainsAny(spec, "Lqjzt") || strings.Contains(spec, "l") {
			size = 8
		}
		short := strings.Count(spec, "h")
		spec = strings.NewReplacer("h", "", "l", "", "L", "", "q", "", "j", "", "z", "", "t", "").Replace(spec)
		for strings.Contains(spec, "*") {
			spec = strings.Replace(spec, "*", fmt.Sprint(int32(next(4))), 1)
		}
		switch verb {
		case '%':
			b.WriteByte('%')
		case 'd', 'i':
			fmt.Fprintf(&b, "%"+spec+"d", extend(next(size), map[int]int{0: 8 * size, 1: 16, 2: 8}[short]))
		case 'u', 'x', 'X', 'o':
			if verb == 'u' {
				verb = 'd'
			}
			fmt.Fprintf(&b, "%"+spec+string(verb), next(size)&lowBits(map[int]int{0: 8 * size, 1: 16, 2: 8}[short]))
		case 'c':
			fmt.Fprintf(&b, "%"+spec+"s", string([]byte{byte(next(4))}))
		case 's':
			fmt.Fprintf(&b, "%"+spec+"s", w.text(a, lane, next(8)))
		case 'p':
			fmt.Fprintf(&b, "%"+spec+"s", fmt.Sprintf("%#x", next(8)))
		case 'f', 'F', 'e', 'E', 'g', 'G':
			b.WriteString(formatFloat(spec, verb, math.Float64frombits(next(8))))
		default:
			panic(w.fault(Trapped, lane, "%%%c of printf is not supported", verb))
		}
	}
	return b.String(), arguments
}

// formatFloat differs from package fmt in NaN, infinities, and in the number of digits of %g.
func formatFloat(spec string, verb byte, v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		word := "nan"
		switch {
		case math.IsInf(v, -1):
			word = "-inf"
		case math.IsInf(v, 1) && strings.Contains(spec, "+"):
			word = "+inf"
		case math.IsInf(v, 1):
			word = "inf"
		}
		if verb < 'a' {
			word = strings.ToUpper(word)
		}
		width, _, _ := strings.Cut(strings.TrimLeft(spec, "+ #0"), ".")
		if strings.HasPrefix(spec, "-") {
			width = "-" + strings.TrimLeft(width, "-+ #0")
		}
		return fmt.Sprintf("%"+width+"s", word)
	}
	if verb|0x20 == 'g' && !strings.Contains(spec, ".") {
		spec += ".6"
	}
	return fmt.Sprintf("%"+spec+string(verb), v)
}

// compileAssert compiles __assertfail(message, file, line, function, size of a character).
func compileAssert(o *operation, params, _ []int) step {
	a := o.anywhere()
	return func(w *warp, mask uint32) {
		lane := bits.TrailingZeros32(mask)
		panic(w.fault(Trapped, lane, "assertion %s failed", w.text(a, lane, w.argument(lane, params[0], 8))))
	}
}
