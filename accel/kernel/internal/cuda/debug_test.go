package cuda

import (
	_ "embed"
	"reflect"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
)

//go:embed testdata/structs.ptx
var structs string

// described returns the parameters of the kernel of structs.ptx.
func described(t *testing.T) []Param {
	t.Helper()
	all, err := Types(structs)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := ptxsim.Entries(structs)
	if err != nil {
		t.Fatal(err)
	}
	_, params, known := Signature(entries[0])
	if known || len(all["k"]) != len(params) {
		t.Fatalf("%v, %v", all, known)
	}
	for i := range params {
		params[i].Describe(all["k"][i])
	}
	return params
}

// The debugging information contains the types of the parameters of a kernel that is extern "C".
func TestDescribe(t *testing.T) {
	params := described(t)
	for i, want := range []Param{
		{C: "Outer"}, {C: "float (*)[4][5]", Pointer: true, Element: "float"}, {C: "const unsigned char *", Pointer: true, Element: "unsigned char", Const: true},
		{C: "float4"}, {C: "u32"}, {C: "unsigned long long"}, {C: "void *", Pointer: true, Element: "void"}, {C: "const Outer *", Pointer: true, Element: "Outer", Const: true},
	} {
		got := params[i]
		if (got.Layout != nil) != (i == 0 || i == 3) {
			t.Errorf("parameter %d: layout %v", i, got.Layout)
		}
		if got.EntryParam, got.Layout = want.EntryParam, nil; got != want {
			t.Errorf("parameter %d: %+v, want %+v", i, got, want)
		}
	}
	for _, text := range []string{"", ".section\t.debug_info\n{\n.b8 1\n}", ".section\t.debug_info\n{\n.b32 3\n.b8 1\n}\n.section\t.debug_abbrev\n{\n.b8 1\n}"} {
		if _, err := Types(text); err == nil {
			t.Errorf("no error for %q", text)
		}
	}
}

// A struct of Go has the fields of one in C++ if their offsets, sizes and kinds are the same.
func TestMismatch(t *testing.T) {
	params := described(t)
	type inner struct {
		S int16
		_ [6]byte
		D float64
	}
	type outer struct {
		A     float32
		N     [3]int32
		In    [2]inner
		U     [4]uint8 // a union: anything
		Bits  uint16   // bit-fields: anything
		T     bool
		Ch    int8
		Q     uint64
		Color uint32
		I     int32 // of the base class
		F     float32
		_     [4]byte
	}
	type otherU struct { // the same with other fields for what is not known
		A       float32
		N0      int32
		N12     [2]int32
		In0     inner
		In1     inner
		U       float32
		Low     uint8
		High    int8
		T       bool
		Ch      uint8
		Q       uint64
		Color   int32
		Derived struct {
			I int32
			F float32
		}
		_ float32
	}
	for _, row := range []struct {
		value any
		want  string
	}{
		{outer{}, ""},
		{otherU{}, ""},
		{struct {
			outer
			More int32
		}{}, "More int32 at byte 80 is not a field of the other type"},
		{struct {
			A int32
			_ [28]uint32
		}{}, "A int32 at byte 0 is not the a float at byte 0"},
		{struct {
			A float32
			N [6]int16
		}{}, "N[0] int16 at byte 4 is not the n[0] int at byte 4"},
		{struct {
			A float32
			N [3]uint32
		}{}, "N[0] uint32 at byte 4 is not the n[0] int at byte 4"},
		{struct {
			A float32
			N [2]int32
			_ int32
		}{}, "_ int32 at byte 12 is padding and not the n[2] int at byte 12"},
		{struct {
			A float32
			N [3]int32
		}{}, "the in[0].s short at byte 16 is missing"},
		{struct {
			A, B float32
		}{}, "B float32 at byte 4 is not the n[0] int at byte 4"},
		{struct {
			A float32
			N [3]int32
			S int16
			X int16
		}{}, "X int16 at byte 18 is not a field of the other type"},
	} {
		if got := Mismatch(params[0].Layout, reflect.TypeOf(row.value)); got != row.want {
			t.Errorf("%T: got %q, want %q", row.value, got, row.want)
		}
	}
	for _, row := range []struct {
		value any
		want  string
	}{
		{[4]float32{}, ""}, {[2]struct{ X, Y float32 }{}, ""}, {[4]int32{}, "[0] int32 at byte 0 is not the x float at byte 0"}, {[2]float64{}, "[0] float64 at byte 0 is not the x float at byte 0"},
	} {
		if got := Mismatch(params[3].Layout, reflect.TypeOf(row.value)); !strings.HasPrefix(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("%T: got %q, want %q", row.value, got, row.want)
		}
	}
}
