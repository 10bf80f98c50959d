package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"

	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
	"github.com/quernlab/quern/accel/kernel/internal/cuda"
	"github.com/quernlab/quern/accel/kernel/internal/program"
	"github.com/quernlab/quern/accel/tensor"
)

// elements are the element types of tensors by the types of C++ without unsigned. A vector type counts as its elements.
var elements = map[string]tensor.DType{
	"float": tensor.Float32, "double": tensor.Float64, "int": tensor.Int32, "long": tensor.Int64, "long long": tensor.Int64,
	"char": tensor.Uint8, "signed char": tensor.Uint8, "bool": tensor.Bool, "__half": tensor.Float16, "__half2": tensor.Float16,
	"__nv_bfloat16": tensor.BFloat16, "__nv_bfloat162": tensor.BFloat16, "longlong": tensor.Int64,
	"uint": tensor.Int32, "ulong": tensor.Int64, "ulonglong": tensor.Int64, "uchar": tensor.Uint8,
}

// elementOf returns the element type of tensors for a pointer; ok is false if it takes any.
func elementOf(p cuda.Param) (d tensor.DType, ok bool) {
	name := strings.TrimPrefix(p.Element, "unsigned ")
	if d, ok = elements[name]; !ok && name != "" && strings.ContainsAny(name[len(name)-1:], "1234") {
		d, ok = elements[name[:len(name)-1]] // float4
	}
	return d, ok
}

// numbers are the types of numbers by those of C++ and PTX. Those of PTX with several are not known further.
var numbers = map[string][]program.Type{
	"bool": {program.Bool}, "char": {program.Int8, program.Uint8}, "signed char": {program.Int8}, "unsigned char": {program.Uint8},
	"short": {program.Int16}, "unsigned short": {program.Uint16}, "int": {program.Int32}, "unsigned int": {program.Uint32},
	"long": {program.Int64}, "long long": {program.Int64}, "unsigned long": {program.Uint64}, "unsigned long long": {program.Uint64},
	"float": {program.Float32}, "double": {program.Float64},

	"f32": {program.Float32}, "f64": {program.Float64},
	"u8": {program.Uint8, program.Int8, program.Bool}, "s8": {program.Int8, program.Uint8, program.Bool}, "b8": {program.Uint8, program.Int8, program.Bool},
	"u16": {program.Uint16, program.Int16}, "s16": {program.Int16, program.Uint16}, "b16": {program.Uint16, program.Int16},
	"u32": {program.Uint32, program.Int32}, "s32": {program.Int32, program.Uint32}, "b32": {program.Uint32, program.Int32, program.Float32},
	"u64": {program.Uint64, program.Int64}, "s64": {program.Int64, program.Uint64}, "b64": {program.Uint64, program.Int64, program.Float64},
}

// bindForeign compares arguments with the parameters of a kernel in CUDA C++ or PTX.
func (k *Kernel) bindForeign(s Shape, args []any) (l *launch, tensors []*tensor.Tensor, err error) {
	f := k.foreign
	switch {
	case len(args) != len(f.params):
		return nil, nil, fmt.Errorf("%d arguments for %d parameters", len(args), len(f.params))
	case f.threads[0] > 0 && f.threads != s.Threads.array():
		return nil, nil, fmt.Errorf("blocks of %s threads: the source requires %s", times(s.Threads.array()), times(f.threads))
	case f.maxThreads > 0 && s.Threads.array()[0]*s.Threads.array()[1]*s.Threads.array()[2] > f.maxThreads:
		return nil, nil, fmt.Errorf("blocks of %s threads are too large: the source limits them to %d threads, by __launch_bounds__", times(s.Threads.array()), f.maxThreads)
	case s.SharedBytes < 0 || s.SharedBytes > program.MaxSharedBytes:
		return nil, nil, fmt.Errorf("%d bytes of shared memory: a block can have %d", s.SharedBytes, program.MaxSharedBytes)
	case s.SharedBytes > 0 && !f.dynamic:
		return nil, nil, fmt.Errorf("%d bytes of shared memory, but the source declares no extern __shared__ array", s.SharedBytes)
	}
	l = &launch{kernel: k, shape: s}
	for i, p := range f.params {
		for len(l.packed) < p.Offset {
			l.packed = append(l.packed, 0)
		}
		name := fmt.Sprintf("parameter %d (%s)", i, p.C)
		t, isTensor := args[i].(*tensor.Tensor)
		if isTensor && t != nil && (p.Pointer || p.C == "u64" || p.C == "b64") {
			if d, known := elementOf(p); known && t.DType() != d {
				return nil, nil, fmt.Errorf("the argument for %s is a tensor of %s, not of %s", name, t.DType(), d)
			}
			l.at = append(l.at, p.Offset)
			l.packed = append(l.packed, make([]byte, 8)...)
			l.sizes, l.names = append(l.sizes, t.DType().Size()), append(l.names, name)
			if tensors, err = l.add(tensors, t, !p.Const, name); err != nil {
				return nil, nil, err
			}
			continue
		}
		if p.Pointer {
			return nil, nil, fmt.Errorf("the argument for %s is a %T, not a tensor", name, args[i])
		}
		b, err := packed(args[i], p)
		if err != nil {
			return nil, nil, fmt.Errorf("the argument for %s %w", name, err)
		}
		l.packed = append(l.packed, b...)
	}
	return l, tensors, nil
}

// times returns numbers of threads in words.
func times(n [3]int) string { return fmt.Sprintf("%d×%d×%d", n[0], n[1], n[2]) }

// packed returns an argument as bytes.
func packed(x any, p cuda.Param) ([]byte, error) {
	types, number := numbers[p.C]
	if number && p.Size > 8 || number && p.Type == "b8" && p.C == "b8" && p.Size > 1 {
		number = false // an array of bytes, which is a struct
	}
	if !number {
		return packedStruct(x, p)
	}
	var names []string
	n, integer := x.(int)
	for _, t := range types {
		if bits, ok := scalarBits(x, t); ok {
			return binary.LittleEndian.AppendUint64(nil, bits)[:p.Size], nil
		}
		if integer && fits(n, t) {
			return binary.LittleEndian.AppendUint64(nil, uint64(n))[:p.Size], nil
		}
		integer = integer && !t.IsFloat()
		names = append(names, t.String())
	}
	if integer {
		return nil, fmt.Errorf("is %d, which does not fit", n)
	}
	return nil, fmt.Errorf("is a %T, not a %s", x, strings.Join(names, ", "))
}

// fits reports whether an integer type has a value.
func fits(n int, t program.Type) bool {
	bits := 8 * t.Size()
	switch {
	case t.IsFloat() || t == program.Bool:
		return false
	case t.IsSigned() && bits < 64:
		return n >= -1<<(bits-1) && n < 1<<(bits-1)
	case t.IsSigned():
		return true
	}
	return n >= 0 && (bits == 64 || n < 1<<bits)
}

// packedStruct returns a value of a struct or an array, which has the layout of C.
func packedStruct(x any, p cuda.Param) ([]byte, error) {
	v := reflect.ValueOf(x)
	if !v.IsValid() || !plain(v.Type()) {
		return nil, fmt.Errorf("is a %T, not a struct, array or number with fixed sizes", x)
	}
	if size := int(v.Type().Size()); size != p.Size {
		return nil, fmt.Errorf("is a %T of %d bytes, not of %d", x, size, p.Size)
	}
	if p.Layout != nil {
		if why := cuda.Mismatch(p.Layout, v.Type()); why != "" {
			return nil, fmt.Errorf("is a %T with other fields: %s", x, why)
		}
	}
	b := make([]byte, p.Size)
	pack(b, v)
	return b, nil
}

// plain reports whether the values of a type are numbers and bools, which Go lays out as C does.
func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if !plain(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return plain(t.Elem())
	}
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64 && t.Kind() != reflect.Uintptr
}

func pack(b []byte, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			pack(b[v.Type().Field(i).Offset:], v.Field(i))
		}
		return
	case reflect.Array:
		for i := range v.Len() {
			pack(b[i*int(v.Type().Elem().Size()):], v.Index(i))
		}
		return
	}
	var bits uint64
	switch {
	case v.Kind() == reflect.Bool && v.Bool():
		bits = 1
	case v.Kind() == reflect.Float32:
		bits = uint64(math.Float32bits(float32(v.Float())))
	case v.Kind() == reflect.Float64:
		bits = math.Float64bits(v.Float())
	case v.CanInt():
		bits = uint64(v.Int())
	case v.CanUint():
		bits = v.Uint()
	}
	copy(b[:v.Type().Size()], binary.LittleEndian.AppendUint64(nil, bits))
}

// withAddresses returns the parameters of a launch.
func (l *launch) withAddresses(addresses []uint64) []byte {
	b := append([]byte(nil), l.packed...)
	for i, at := range l.at {
		binary.LittleEndian.PutUint64(b[at:], addresses[i])
	}
	return b
}

// simulateHost runs a kernel on the CPU. The variables of its module keep their values.
func (l *launch) simulateHost(data [][]byte) (err error) {
	m := l.kernel.foreign.module
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.memory == nil {
		parsed, err := ptxsim.Parse(m.ptx)
		if err != nil {
			return err
		}
		memory := ptxsim.NewMemory(math.MaxInt)
		if m.loaded, err = memory.Load(parsed); err != nil {
			return err
		}
		m.memory = memory
	}
	s := &simulation{launch: l}
	addresses := make([]uint64, len(data))
	for i, d := range data {
		if addresses[i], err = m.memory.Alloc(max(len(d), 1)); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, m.memory.Free(addresses[i])) }()
		if err := m.memory.Write(addresses[i], d); err != nil {
			return err
		}
		s.blocks = append(s.blocks, [2]uint64{addresses[i], uint64(len(d))})
	}
	run := l.simulated(addresses, 0)
	run.Output = os.Stdout // as the driver does
	ctx, end := l.Context()
	defer end()
	_, err = m.loaded.Kernel(l.kernel.foreign.entry).Run(ctx, run)
	var f *ptxsim.Fault
	if errors.As(err, &f) {
		if err = f.Cause; err == nil {
			err = s.found(f)
		}
	}
	for i, d := range data {
		if l.written[i] {
			err = errors.Join(err, m.memory.Read(d, addresses[i]))
		}
	}
	return err
}

// failure returns the error to return for that of a run.
func (k *Kernel) failure(err error) error {
	var own *Fault
	if errors.As(err, &own) {
		return own
	}
	var simulated *ptxsim.Fault
	if k.foreign == nil || !errors.As(err, &simulated) {
		return public(err)
	}
	if simulated.Cause != nil {
		return simulated.Cause
	}
	return k.found(simulated)
}

// reason returns what happened, without where in the source.
func (f *foreign) reason(fault *ptxsim.Fault) string {
	text := fault.Kind.String()
	if fault.Space != "" {
		text += fmt.Sprintf(": %d bytes of %s memory", fault.Bytes, fault.Space)
	}
	if fault.Detail != "" {
		text += ": " + fault.Detail
	}
	if fault.Source.Line == 0 {
		text += fmt.Sprintf(" (line %d of the PTX: %s)", fault.Line, fault.Text)
	}
	return text
}
