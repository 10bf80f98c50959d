package rt

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/named"
)

// TestOutOfCode makes a type with a method when other types have the code of all methods that the program has, and again when
// it is free.
func TestOutOfCode(t *testing.T) {
	w := newHarness(t)
	r := New(Config{Interpreted: w.config.Interpreted})
	typ := redeclare(t, w, "Point")
	addMethod(typ, w.pkg.Scope().Lookup("Celsius").Type(), "String")
	d := r.Describe(typ)
	r.Register(d.id, "String", codeOf(struct{ X, Y int }{}, func(any) string { return "text" }), nil)

	var others named.Owner
	defer others.Close()
	var exhausted *named.ExhaustedError
	for n := 512; n > 0; { // types with fewer and fewer methods
		declaration := named.Declaration{Name: "main.Other", Path: "main", Memory: reflect.TypeFor[int]()}
		var methods []named.Method
		for i := range n {
			name := fmt.Sprint("M", i)
			declaration.Methods = append(declaration.Methods, named.MethodName{Name: name, Pointer: true})
			methods = append(methods, named.Method{Name: name, Type: reflect.TypeFor[func()](), Word: reflect.ValueOf(func() {})})
		}
		made, err := others.New(declaration)
		if err == nil {
			err = made.Complete(named.Parts{}, methods)
		}
		if errors.As(err, &exhausted) {
			n /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}

	cause := panicValue(func() { d.Box(struct{ X, Y int }{1, 2}) })
	err, _ := cause.(error)
	if !errors.As(err, &exhausted) || !strings.Contains(err.Error(), "compiled packages cannot call the methods of rt.Point") || !strings.Contains(err.Error(), "restart the kernel") {
		t.Errorf("the panic is %v", cause)
	}
	others.Close()
	if got := fmt.Sprint(d.Box(struct{ X, Y int }{1, 2})); got != "text" {
		t.Errorf("afterwards, the value prints as %s", got)
	}
}
