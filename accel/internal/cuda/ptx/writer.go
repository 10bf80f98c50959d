package ptx

import (
	"fmt"
	"maps"
	mathbits "math/bits"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// writer generates one kernel.
type writer struct {
	*builder
	kernel *Kernel
	params int
	table  int // bytes of the parameter of a batch that describes its parts

	scalars    []reg // scalar of each instruction, empty if it has none
	at         []reg // addresses of the inputs
	to         []reg // addresses of the outputs
	types      []reg // of a batch: indices of the types of the inputs, empty if all parts have the same
	labels     int   // number of labels of branches within the body
	broadcasts []reg // values of the broadcast inputs
	sizes      [][]reg
	strides    [][]reg
	float16Of  map[reg]reg // the 16-bit float that a float32 register was converted from
}

// param loads the next parameter. All parameters have 64 bits.
func (w *writer) param() reg {
	d := w.op(bits64, "ld.param.u64", reg(fmt.Sprintf("[p%d]", w.params)))
	w.params++
	return d
}

// own is the type that the kernel computes in.
func (w *writer) own() ir.DType {
	if w.double {
		return ir.Float64
	}
	return ir.Float32
}

func (w *writer) kind() string {
	if w.double {
		return real64
	}
	return real32
}

func (w *writer) write(guards int) error {
	kernel := w.kernel
	n := w.param()
	for range guards {
		seen := w.op(bits64, "ld.global.u64", deref(w.param()))
		w.jump(w.op(predicate, "setp.ne.s64", seen, "-1"), "END")
	}
	for _, x := range kernel.step.Loop {
		var s reg
		if dynamic(x) {
			s = w.op(real64, "ld.global.f64", deref(w.param()))
			if !w.double {
				s = w.op(real32, "cvt.rn.f32.f64", s)
			}
		}
		w.scalars = append(w.scalars, s)
	}
	for _, in := range kernel.inputs {
		w.at = append(w.at, w.param())
		var sizes, strides []reg
		if in.access == strided {
			for range in.rest.Shape {
				sizes = append(sizes, w.op(bits32, "cvt.u32.u64", w.param()))
				strides = append(strides, w.param())
			}
		}
		w.sizes, w.strides = append(w.sizes, sizes), append(w.strides, strides)
	}
	for range kernel.step.Out {
		w.to = append(w.to, w.param())
	}
	for i, in := range kernel.inputs {
		var v reg
		if in.access == broadcast {
			v = w.load(in.DType, w.at[i])
		}
		w.broadcasts = append(w.broadcasts, v)
	}

	// A grid-stride loop: each thread processes l.width elements from element i on, then
	// advances i by the size of the grid.
	tid, block, size, blocks := w.op(bits32, "mov.u32", "%tid.x"), w.op(bits32, "mov.u32", "%ctaid.x"), w.op(bits32, "mov.u32", "%ntid.x"), w.op(bits32, "mov.u32", "%nctaid.x")
	first := w.op(bits64, "mul.wide.u32", block, size)
	first = w.op(bits64, "add.s64", first, w.op(bits64, "cvt.u64.u32", tid))
	step := w.op(bits64, "mul.wide.u32", blocks, size)
	i := w.op(bits64, "mul.lo.s64", first, word(kernel.width))
	step = w.op(bits64, "mul.lo.s64", step, word(kernel.width))
	w.label("NEXT")
	w.jump(w.op(predicate, "setp.ge.s64", i, n), "END")
	if kernel.width > 1 {
		end := w.op(bits64, "add.s64", i, word(kernel.width))
		w.jump(w.op(predicate, "setp.gt.s64", end, n), "REST")
	}
	if err := w.body(i, kernel.width); err != nil {
		return err
	}
	w.do("add.s64", i, i, step)
	w.do("bra", "NEXT")
	if kernel.width > 1 {
		w.label("REST") // the last elements, one by one
		if err := w.body(i, 1); err != nil {
			return err
		}
		w.do("add.s64", i, i, word(1))
		w.jump(w.op(predicate, "setp.lt.s64", i, n), "REST")
	}
	w.label("END")
	w.text.WriteString("\tret;\n")
	return nil
}

// body computes width elements from i on. It reads all inputs before it writes anything, since an
// output may use the memory of an input.
func (w *writer) body(i reg, width int) error {
	kernel := w.kernel
	values := make([][]reg, 0, len(kernel.inputs)+len(kernel.step.Loop)) // [input or instruction][element]
	for k, in := range kernel.inputs {
		values = append(values, w.read(k, in, i, width))
	}
	for k, x := range kernel.step.Loop {
		op, err := w.operation(x.Op)
		if err != nil {
			return err
		}
		results := make([]reg, width)
		for e := range width {
			args := make([]reg, len(x.Args))
			for j, a := range x.Args {
				args[j] = values[a][e]
			}
			if dynamic(x) {
				args = append(args, w.scalars[k])
			}
			results[e] = op(w.builder, args)
		}
		values = append(values, results)
	}
	for k, x := range kernel.step.Loop {
		if x.Out >= 0 {
			to, skip := kernel.results[x.Out], ""
			if to.optional {
				skip = w.branch()
				w.jump(w.op(predicate, "setp.eq.s64", w.to[x.Out], word(0)), skip)
			}
			w.store(to.DType, w.to[x.Out], i, values[len(kernel.inputs)+k])
			if to.optional {
				w.label(skip)
			}
		}
	}
	return nil
}

// branch returns a new label.
func (w *writer) branch() string {
	w.labels++
	return fmt.Sprintf("BRANCH%d", w.labels)
}

// readMixed loads elements of an input that has another type in each part of a batch. All threads of a
// block are in one part, so they take the same branch.
func (w *writer) readMixed(k int, in input, i reg, width int) []reg {
	out, end := w.newAll(real32, width), w.branch()
	for j, d := range in.mixed {
		next := w.branch()
		if j < len(in.mixed)-1 {
			w.jump(w.op(predicate, "setp.ne.s32", w.types[k], word(slices.Index(types, d))), next)
		}
		for e, v := range w.loadAll(d, w.element(w.at[k], i, d), width) {
			w.do("mov.f32", out[e], v)
		}
		if j < len(in.mixed)-1 {
			w.do("bra", reg(end))
			w.label(next)
		}
	}
	w.label(end)
	return out
}

// read loads width elements of an input from i on.
func (w *writer) read(k int, in input, i reg, width int) []reg {
	if in.access == broadcast {
		return slices.Repeat([]reg{w.broadcasts[k]}, width)
	}
	if len(in.mixed) > 0 {
		return w.readMixed(k, in, i, width)
	}
	if in.access == contiguous {
		return w.loadAll(in.DType, w.element(w.at[k], i, in.DType), width)
	}
	if width > 1 && in.row == adjacent {
		return w.loadAll(in.DType, w.stridedAddress(k, i, 0), width)
	}
	if width > 1 && in.row == same {
		return slices.Repeat([]reg{w.load(in.DType, w.stridedAddress(k, i, 0))}, width)
	}
	out := make([]reg, width)
	var address reg
	for e := range out {
		if e > 0 && in.row == spread {
			strides := w.strides[k]
			address = w.op(bits64, "add.s64", address, strides[len(strides)-1])
		} else {
			address = w.stridedAddress(k, i, e)
		}
		out[e] = w.load(in.DType, address)
	}
	return out
}

// loadAll loads the elements from an address on, which is aligned as the kernel's inputs are.
func (w *writer) loadAll(d ir.DType, address reg, width int) []reg {
	out := make([]reg, width)
	switch {
	case d.Is16Bit() && width == 2*vectorWidth:
		words := w.newAll(bits32, vectorWidth)
		w.do("ld.global.v4.b32", list(words), deref(address))
		for e, pair := range words {
			out[2*e], out[2*e+1] = w.widenedPair(pair, d)
		}
	case d.Is16Bit():
		loaded := w.newAll(bits16, width)
		w.do("ld.global"+vector(width)+".b16", list(loaded), deref(address))
		for e, h := range loaded {
			out[e] = w.widened(h, d)
		}
	case d == w.own():
		out = w.newAll(w.kind(), width)
		for e := 0; e < width; e += vectorWidth {
			n := min(vectorWidth, width)
			w.do("ld.global"+vector(n)+"."+typeOf(w.double), list(out[e:e+n]), deref(offset(address, e*d.Size())))
		}
	default:
		for e := range out {
			out[e] = w.load(d, offset(address, e*d.Size()))
		}
	}
	return out
}

// operation returns the writer of an op. A cast to 16 bits rounds, and later ops of the kernel use
// the rounded value.
func (w *writer) operation(op ir.Op) (operation, error) {
	if c, ok := op.(ir.Cast); ok && c.To.Is16Bit() {
		return func(_ *builder, x []reg) reg {
			h := w.rounded(x[0], c.To)
			f := w.widened(h, c.To)
			w.float16Of[f] = h
			return f
		}, nil
	}
	if o := writerOf(op); o != nil {
		return o, nil
	}
	return nil, fmt.Errorf("cuda: there is no elementwise kernel for %s", op.Name())
}

// rounded rounds a float32 to the nearest 16-bit float. NaN gets the same bits as on the host.
func (w *writer) rounded(x reg, d ir.DType) reg {
	if d == ir.BFloat16 {
		return w.op(bits16, "selp.b16", word(0x7fc0), w.op(bits16, "cvt.rn.bf16.f32", x), w.setp("nan.f32", x, x))
	}
	sign := w.op(bits32, "and.b32", w.op(bits32, "shr.u32", w.op(bits32, "mov.b32", x), word(16)), word(0x8000))
	nan := w.op(bits16, "cvt.u16.u32", w.op(bits32, "or.b32", sign, word(0x7e00)))
	return w.op(bits16, "selp.b16", nan, w.op(bits16, "cvt.rn.f16.f32", x), w.setp("nan.f32", x, x))
}

// widened converts a 16-bit float to float32, which is exact.
func (w *writer) widened(h reg, d ir.DType) reg {
	if d == ir.Float16 {
		return w.op(real32, "cvt.f32.f16", h)
	}
	return w.op(real32, "mov.b32", w.op(bits32, "shl.b32", w.op(bits32, "cvt.u32.u16", h), word(16)))
}

// widenedPair converts two 16-bit floats, which one register has.
func (w *writer) widenedPair(pair reg, d ir.DType) (low, high reg) {
	if d == ir.Float16 {
		halves := w.newAll(bits16, 2)
		w.do("mov.b32", list(halves), pair)
		return w.widened(halves[0], d), w.widened(halves[1], d)
	}
	return w.op(real32, "mov.b32", w.op(bits32, "shl.b32", pair, word(16))), w.op(real32, "mov.b32", w.op(bits32, "and.b32", pair, "0xffff0000"))
}

// element returns the address of element i of a contiguous tensor.
func (w *writer) element(base, i reg, d ir.DType) reg {
	return w.op(bits64, "add.s64", base, w.op(bits64, "shl.b64", i, word(mathbits.Len(uint(d.Size()))-1)))
}

// stridedAddress returns the address of element i+e of a strided input.
func (w *writer) stridedAddress(k int, i reg, e int) reg {
	at := w.op(bits32, "cvt.u32.u64", i)
	if e > 0 {
		at = w.op(bits32, "add.u32", at, word(e))
	}
	address := w.at[k]
	for d := len(w.sizes[k]) - 1; d >= 0; d-- {
		index := at
		if d > 0 {
			index = w.op(bits32, "rem.u32", at, w.sizes[k][d])
			at = w.op(bits32, "div.u32", at, w.sizes[k][d])
		}
		// The stride is a signed 64-bit number; the index fits 32 bits.
		address = w.op(bits64, "mad.lo.s64", w.op(bits64, "cvt.u64.u32", index), w.strides[k][d], address)
	}
	return address
}

// load reads one element of any type and converts it to the kernel's element type.
func (w *writer) load(d ir.DType, address reg) reg {
	at := deref(address)
	to, kind := typeOf(w.double), w.kind()
	convert := func(from string, v reg) reg { return w.op(kind, "cvt.rn."+to+"."+from, v) }
	switch d {
	case ir.Float32:
		v := w.op(real32, "ld.global.f32", at)
		if w.double {
			v = w.op(real64, "cvt.f64.f32", v)
		}
		return v
	case ir.Float64:
		v := w.op(real64, "ld.global.f64", at)
		if !w.double {
			v = convert("f64", v)
		}
		return v
	case ir.Int32:
		return convert("s32", w.op(bits32, "ld.global.s32", at))
	case ir.Int64:
		return convert("s64", w.op(bits64, "ld.global.s64", at))
	case ir.Float16, ir.BFloat16:
		v := w.widened(w.op(bits16, "ld.global.b16", at), d)
		if w.double {
			v = w.op(real64, "cvt.f64.f32", v)
		}
		return v
	}
	return convert("u32", w.op(bits32, "ld.global.u8", at))
}

// store writes elements in the kernel's element type or rounded to 16 bits.
func (w *writer) store(d ir.DType, base, i reg, values []reg) {
	kind := typeOf(w.double)
	if d.Is16Bit() {
		kind = "b16"
		values = slices.Clone(values)
		for e, v := range values {
			h, ok := w.float16Of[v]
			if !ok {
				h = w.rounded(v, d)
			}
			values[e] = h
		}
	}
	address := w.element(base, i, d)
	if d.Is16Bit() && len(values) > vectorWidth {
		kind = "b32"
		pairs := make([]reg, 0, vectorWidth)
		for pair := range slices.Chunk(values, 2) {
			pairs = append(pairs, w.op(bits32, "mov.b32", list(pair)))
		}
		values = pairs
	}
	for e := 0; e < len(values); e += vectorWidth {
		part := values[e:min(e+vectorWidth, len(values))]
		w.do("st.global"+vector(len(part))+"."+kind, deref(offset(address, e*d.Size())), list(part))
	}
}

func vector(width int) string {
	if width == 1 {
		return ""
	}
	return fmt.Sprintf(".v%d", width)
}

func list(values []reg) reg {
	if len(values) == 1 {
		return values[0]
	}
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return reg("{" + strings.Join(words, ", ") + "}")
}

func deref(address reg) reg { return "[" + address + "]" }

// offset returns the operand for the address that is some bytes behind another.
func offset(address reg, bytes int) reg {
	if bytes == 0 {
		return address
	}
	return address + "+" + word(bytes)
}

// module returns the PTX of the whole module.
func (w *writer) module() string {
	var out strings.Builder
	version := "7.0"
	if 8*w.params > maxParamBytesPTX70 { // since CUDA 12.1
		version = "8.1"
	}
	fmt.Fprintf(&out, ".version %s\n.target sm_80\n.address_size 64\n\n", version)
	for _, name := range slices.Sorted(maps.Keys(w.tables)) {
		out.WriteString(w.tables[name])
	}
	params := make([]string, w.params)
	for i := range params {
		params[i] = fmt.Sprintf("\t.param .u64 p%d", i)
	}
	if w.table > 0 {
		params = append(params, fmt.Sprintf("\t.param .align 8 .b8 parts[%d]", w.table))
	}
	fmt.Fprintf(&out, ".visible .entry %s(\n%s\n)\n.maxntid %d, 1, 1\n{\n", Entry, strings.Join(params, ",\n"), threads)
	out.WriteString(w.declarations())
	out.WriteString(w.text.String())
	out.WriteString("}\n")
	return out.String()
}
