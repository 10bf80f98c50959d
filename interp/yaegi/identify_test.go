package yaegi

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/vm"
)

// TestIdentify checks that the functions behind function values of yaegi are found.
func TestIdentify(t *testing.T) {
	t.Parallel()
	e := New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	const source = `func f() {}
func g() func(int) int { return func(x int) int { const ` + lower.Identity + ` = 42; var y = x; return y } }
func bound() func() { return func() { const ` + lower.Identity + ` = "TʹMʹ1"; _ = 1 } }
func made() func() { return func() {} }`
	if _, err := e.Eval(source); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		expression string
		want       vm.FunctionID
		ok         bool
	}{
		{"f", vm.FunctionID{Name: "f"}, true},
		{"g()", vm.FunctionID{Name: "g.func", Literal: 42}, true},
		{"bound()", vm.FunctionID{Name: "TʹMʹ1", MethodValue: true}, true},
		{"made()", vm.FunctionID{Name: "made.func"}, false}, // a literal of package lower
	} {
		v, err := e.Eval(tt.expression)
		if err != nil {
			t.Fatal(err)
		}
		if id, ok := Identify(v); id != tt.want || ok != tt.ok {
			t.Errorf("%s is %+v, %t, want %+v, %t", tt.expression, id, ok, tt.want, tt.ok)
		}
	}
	if id, ok := Identify(reflect.ValueOf(strings.ToUpper)); ok {
		t.Errorf("a compiled function is %+v", id)
	}
	own := reflect.MakeFunc(reflect.TypeFor[func()](), func([]reflect.Value) []reflect.Value { return nil })
	if id, ok := Identify(own); ok {
		t.Errorf("a function made by package reflect is %+v", id)
	}
}
