package vm

import (
	"math/rand"
	"reflect"
	"runtime"
	"testing"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// entryParameters and entryResults are types with each sequence of words for which there is an entry, and small integers.
var (
	entryParameters = []any{
		func() {}, func(int) {}, func(int8) {}, func(uint16) {}, func(bool) {}, func(a, b int) {}, func(*int) {}, func(map[string]int) {}, func(string) {}, func([]byte) {},
		func([]byte, int64) {}, func(any) {}, func(error) {}, func(error, int) {}, func(error, uint8) {}, func(*int, error) {}, func(error, *int) {}, func(a, b any) {},
		func(a, b string) {}, func(string, []byte) {}, func(error, []byte) {}, func(float64) {}, func(a, b float64) {},
	}
	entryResults = []any{
		func() {}, func() int { return 0 }, func() bool { return false }, func() int16 { return 0 }, func() (int, bool) { return 0, false },
		func() *int { return nil }, func() string { return "" }, func() (*int, bool) { return nil, false }, func() []byte { return nil },
		func() any { return nil }, func() error { return nil }, func() (*int, error) { return nil, nil }, func() (any, error) { return nil, nil },
		func() (int, error) { return 0, nil }, func() (string, error) { return "", nil }, func() ([]byte, error) { return nil, nil }, func() float64 { return 0 },
	}
)

// methodCall calls a function of the VM, or reflected if that is set.
type methodCall struct {
	typ       reflect.Type
	code      rt.MethodCode
	reflected func(word unsafe.Pointer, arguments []reflect.Value) []reflect.Value
}

func (m *methodCall) Signature() reflect.Type { return m.typ }

func (m *methodCall) Target(word unsafe.Pointer) (rt.MethodCode, unsafe.Pointer) {
	return m.code, word
}

func (m *methodCall) Call(word unsafe.Pointer, arguments []reflect.Value) []reflect.Value {
	return m.reflected(word, arguments)
}

// TestEntries checks for each entry that the method gets the arguments of the caller, which gets the results of the method.
func TestEntries(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" && !onStack {
		t.Skip("arguments are passed in other registers")
	}
	random := rand.New(rand.NewSource(1))
	vm := New(Config{})
	receiver := new(int)
	for _, in := range entryParameters {
		for _, out := range entryResults {
			ins, outs := shapesIn(t, reflect.TypeOf(in).NumIn(), reflect.TypeOf(in).In), shapesIn(t, reflect.TypeOf(out).NumOut(), reflect.TypeOf(out).Out)
			values := func(shapes []Shape) (list []reflect.Value) {
				for _, s := range shapes {
					list = append(list, argument(t, s.Type, random).Convert(s.Type))
				}
				return list
			}
			signature := func(first ...reflect.Type) reflect.Type {
				for _, s := range ins {
					first = append(first, s.Type)
				}
				var results []reflect.Type
				for _, s := range outs {
					results = append(results, s.Type)
				}
				return reflect.FuncOf(first, results, false)
			}
			word := Shape{File: Reference, Width: "P", Type: reflect.TypeFor[unsafe.Pointer]()}
			want, results := values(ins), values(outs)
			run := func(word unsafe.Pointer, got []reflect.Value) []reflect.Value {
				if word != unsafe.Pointer(receiver) {
					t.Errorf("%v: the receiver is %p, want %p", signature(), word, receiver)
				}
				for i := range want {
					if !reflect.DeepEqual(got[i].Interface(), want[i].Interface()) {
						t.Errorf("%v: argument %d is %v, want %v", signature(), i, got[i], want[i])
					}
				}
				return results
			}
			parameters := append([]Shape{word}, ins...)
			code := &Function{
				Code: []Instruction{{Op: OpNative}, {Op: OpRet}, {Op: OpInvalid}}, Positions: []int{0, 0, 0},
				Scalars: 64, Pointers: 8 * SlotSize, Parameters: parameters, Results: outs,
				Natives: []*Native{{Run: func(_ *Thread, nb, sb unsafe.Pointer) {
					var got []reflect.Value
					for i, at := range FrameRegisters(parameters) {
						got = append(got, parameters[i].Get(nb, sb, at))
					}
					for i, v := range run(got[0].UnsafePointer(), got[1:]) {
						outs[i].Put(nb, sb, FrameRegisters(outs)[i], v)
					}
				}}},
			}
			for _, call := range []*methodCall{
				{typ: signature(), code: &method{vm: vm, entry: code}},
				{typ: signature(), reflected: run},
				{typ: signature(), code: &method{vm: vm, entry: &Function{}}, reflected: run}, // with other parameters
			} {
				p := vm.Entry(call)
				if p == nil {
					t.Fatalf("%v has no entry", signature())
				}
				f := reflect.NewAt(signature(word.Type), unsafe.Pointer(&p)).Elem()
				for i, got := range f.Call(append([]reflect.Value{reflect.ValueOf(unsafe.Pointer(receiver))}, want...)) {
					if !reflect.DeepEqual(got.Interface(), results[i].Interface()) {
						t.Errorf("%v: result %d is %v, want %v", signature(), i, got, results[i])
					}
				}
			}
		}
	}
}

// TestNoEntry checks that package reflect makes the calls of methods whose arguments or results are in other registers.
func TestNoEntry(t *testing.T) {
	for _, f := range []any{
		func(struct{ a int }) {}, func(float32) {}, func(complex128) {}, func([2]int) {}, func(a, b, c, d, e, f, g, h, i, j string) {},
		func(int, float64) {}, func(a, b, c int) {}, func() (int, int, int) { return 0, 0, 0 }, func() struct{ a int } { return struct{ a int }{} },
	} {
		if New(Config{}).Entry(&methodCall{typ: reflect.TypeOf(f)}) != nil {
			t.Errorf("%T has an entry", f)
		}
	}
}
