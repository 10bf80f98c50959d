package interp_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/sha256"
	"database/sql/driver"
	"debug/dwarf"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"image"
	imagecolor "image/color"
	"maps"
	"net"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/quernlab/quern/interp"
)

// An assertion is an interface to which a package of the standard library converts values.
type assertion struct {
	place   string   // the first function that does so
	imports []string // that the methods need
	methods []string // as in a declaration, with parameters a0, a1, ... and results r0, r1, ...
	convert func(x any) (reflect.Value, bool)
}

// kinds are underlying types, with a value.
var kinds = []struct{ typ, value string }{
	{"struct{ n int; s string }", `{7, "seven"}`}, {"int", "(7)"}, {"string", `("seven")`}, {"[]int", "{7, 8}"}, {"map[string]int", `{"seven": 7}`},
	{"func() int", "(func() int { return 7 })"}, {"chan int", "(make(chan int))"}, {"[2]string", `{"a", "b"}`}, {"struct{ p *int }", "{new(int)}"},
	{"float64", "(7.5)"}, {"complex128", "(7i)"}, {"bool", "(true)"}, {"struct{}", "{}"}, {"uint8", "(7)"}, {"[1]*int", "{new(int)}"}, {"[0]int", "{}"},
	{"struct{ a, b any }", `{7, "seven"}`},
}

// containers are values that contain the value v# of type V#. Compiled code can read it by package reflect.
var containers = []struct{ name, value string }{
	{"in slice", "[]V#{v#}"}, {"in map", `map[string]V#{"a": v#}`}, {"in struct", "struct{ V V# }{v#}"}, {"in function", "func() V# { return v# }"},
	{"in pointers", "&[]*V#{&v#}"}, {"in array", "[1]any{v#}"}, {"in channel", "func() <-chan V# { c := make(chan V#, 1); c <- v#; return c }()"},
}

// TestAsserted declares types with the methods of each interface to which packages of the standard library convert values.
// A compiled conversion must find the methods, and each call must arrive with its arguments and return the results.
func TestAsserted(t *testing.T) {
	t.Parallel()
	const size = 14 // of cells
	i := 0
	for group := range slices.Chunk(asserted, size) {
		first := i
		i += size
		t.Run(strings.ReplaceAll(group[0].place, "/", "."), func(t *testing.T) {
			t.Parallel()
			newConversions(t).run(t, group, first)
		})
	}
}

// conversions is a notebook whose cells pass values with methods, and report the calls of the methods.
type conversions struct {
	*notebook
	values  map[string][2]any // a value with methods, and the receiver of their calls
	calls   []call
	results []any // of the next calls
}

type call struct {
	method    string
	receiver  any
	arguments []any
}

func newConversions(t *testing.T) *conversions {
	c := &conversions{notebook: newNotebook(t), values: map[string][2]any{}}
	ctx := context.WithValue(t.Context(), "pass", func(name string, x, receiver any) { c.values[name] = [2]any{x, receiver} })
	ctx = context.WithValue(ctx, "call", func(method string, receiver any, arguments ...any) []any {
		c.calls = append(c.calls, call{method, receiver, arguments})
		return c.results
	})
	interp.SetContext(c.Session, ctx)
	return c
}

// run declares types for the interfaces and converts their values. first is the index of the first interface.
func (c *conversions) run(t *testing.T, group []assertion, first int) {
	var imports, declarations, later, values strings.Builder
	paths := map[string]bool{}
	for i, a := range group {
		for _, path := range a.imports {
			paths[path] = true
		}
		i += first
		kind := kinds[i%len(kinds)]
		fmt.Fprintf(&declarations, "type V%d %s\ntype P%d struct{ s string }\ntype E%d struct {\n\tn int\n\tV%[1]d\n}\ntype Q%[1]d struct{ *P%[1]d }\n", i, kind.typ, i, i)
		fmt.Fprintf(&declarations, "type G%d[T any] struct{ s []T }\ntype I%[1]d interface {\n\t%s\n}\ntype J%[1]d struct{ I%[1]d }\ntype L%[1]d struct{ n float64 }\ntype W%[1]d int\n",
			i, strings.Join(a.methods, "\n\t"))
		for at, m := range a.methods {
			for _, receiver := range []string{"V%d", "*P%d", "G%d[T]", "L%d"} {
				to := &declarations
				if at == len(a.methods)-1 && receiver == "L%d" {
					to = &later
				}
				to.WriteString(method(fmt.Sprintf(receiver, i), m))
			}
			if at == len(a.methods)-1 {
				m = strings.Replace(m, "(", "(_ struct{}, ", 1)
			}
			declarations.WriteString(method(fmt.Sprint("W", i), m))
		}
		fmt.Fprintf(&values, "v%d := V%[1]d%s\npass(\"V%[1]d\", v%[1]d, v%[1]d)\npass(\"*V%[1]d\", &v%[1]d, v%[1]d)\n", i, kind.value)
		fmt.Fprintf(&values, "pass(\"E%d\", E%[1]d{3, v%[1]d}, v%[1]d)\npass(\"*E%[1]d\", &E%[1]d{3, v%[1]d}, v%[1]d)\npass(\"J%[1]d\", J%[1]d{v%[1]d}, v%[1]d)\n", i)
		fmt.Fprintf(&values, "p%d := &P%[1]d{\"a\"}\npass(\"*P%[1]d\", p%[1]d, p%[1]d)\npass(\"P%[1]d\", *p%[1]d, nil)\npass(\"Q%[1]d\", Q%[1]d{p%[1]d}, p%[1]d)\n", i)
		fmt.Fprintf(&values, "g%d := G%[1]d[V%[1]d]{[]V%[1]d{v%[1]d}}\npass(\"G%[1]d\", g%[1]d, g%[1]d)\n", i)
		for _, x := range containers {
			fmt.Fprintf(&values, "pass(\"%s%d\", %s, v%[2]d)\n", x.name, i, strings.ReplaceAll(x.value, "#", strconv.Itoa(i)))
		}
		fmt.Fprintf(&values, "l%d := L%[1]d{1.5}\nvar a%[1]d any = l%[1]d\npass(\"L%[1]d\", a%[1]d, nil)\npass(\"W%[1]d\", W%[1]d(1), nil)\n", i)
		fmt.Fprintf(&later, "pass(\"L%d\", a%[1]d, l%[1]d)\npass(\"*L%[1]d\", &l%[1]d, l%[1]d)\n", i)
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		fmt.Fprintf(&imports, "import %s %q\n", strings.ReplaceAll(path, "/", "_"), path)
	}
	c.must(t, imports.String()+"pass, call := ctx.Value(\"pass\").(func(string, any, any)), ctx.Value(\"call\").(func(string, any, ...any) []any)\n"+declarations.String()+values.String(), "")
	c.checkAll(t, group, first, 11+len(containers))
	c.must(t, later.String(), "")
	c.checkAll(t, group, first, 2)
}

// checkAll converts the values that a cell has passed.
func (c *conversions) checkAll(t *testing.T, group []assertion, first, each int) {
	if len(c.values) != each*len(group) {
		t.Fatalf("%d values", len(c.values))
	}
	for i, a := range group {
		for name, v := range c.values {
			if strings.TrimRight(name, "0123456789")+strconv.Itoa(i+first) != name {
				continue
			}
			delete(c.values, name)
			if strings.HasPrefix(name, "in ") {
				v[0] = content(reflect.ValueOf(v[0])).Interface()
			}
			if err := c.check(a, v[0], v[1]); err != nil {
				t.Errorf("%s, %s %s: %v", a.place, name, strings.Join(a.methods, "; "), err)
			}
		}
	}
}

// content returns the value in a container.
func content(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		v = v.Index(0)
	case reflect.Map:
		v = v.MapIndex(reflect.ValueOf("a"))
	case reflect.Struct:
		v = v.Field(0)
	case reflect.Func:
		v = v.Call(nil)[0]
	case reflect.Chan:
		v, _ = v.Recv()
	case reflect.Pointer:
		v = v.Elem()
		if v.Kind() == reflect.Slice {
			v = v.Index(0)
		}
	}
	return v
}

// method returns a method that passes its arguments to call.
func method(receiver, declaration string) string {
	source := "package p\nfunc (t " + receiver + ") " + declaration
	file, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
	if err != nil {
		panic(err)
	}
	f := file.Decls[0].(*ast.FuncDecl)
	var b strings.Builder
	fmt.Fprintf(&b, "%s {\n\tr := call(%q, t", strings.TrimPrefix(source, "package p\n"), f.Name.Name)
	for _, p := range f.Type.Params.List {
		if p.Names[0].Name != "_" {
			b.WriteString(", " + p.Names[0].Name)
		}
	}
	b.WriteString(")\n")
	if f.Type.Results != nil {
		for i, r := range f.Type.Results.List {
			fmt.Fprintf(&b, "\tr%d, _ = r[%[1]d].(%s)\n", i, source[r.Type.Pos()-1:r.Type.End()-1])
		}
		b.WriteString("\treturn\n}\n")
	} else {
		b.WriteString("\t_ = r\n}\n")
	}
	return b.String()
}

// check converts x to the interface and calls its methods. If receiver is nil, x lacks a method.
func (c *conversions) check(a assertion, x, receiver any) error {
	y, ok := a.convert(x)
	if ok != (receiver != nil) {
		return fmt.Errorf("conversion of a %T: %t", x, ok)
	}
	if !ok {
		return nil
	}
	if y.Elem().Type() != reflect.TypeOf(x) {
		return fmt.Errorf("%v has become %v", reflect.TypeOf(x), y.Elem().Type())
	}
	for i := range y.NumMethod() {
		name, m := y.Type().Method(i).Name, y.Method(i)
		values := &filler{}
		var arguments []reflect.Value
		want := call{name, receiver, nil}
		for in := range m.Type().Ins() {
			arguments = append(arguments, values.of(in))
			want.arguments = append(want.arguments, arguments[len(arguments)-1].Interface())
		}
		c.calls, c.results = nil, nil
		for out := range m.Type().Outs() {
			c.results = append(c.results, values.of(out).Interface())
		}
		var results []reflect.Value
		if m.Type().IsVariadic() {
			results = m.CallSlice(arguments)
		} else {
			results = m.Call(arguments)
		}
		if len(c.calls) != 1 || c.calls[0].method != name || !same(c.calls[0].receiver, receiver) || !slices.EqualFunc(c.calls[0].arguments, want.arguments, same) {
			return fmt.Errorf("calls of %s\n got %#v\nwant %#v", name, c.calls, want)
		}
		var got []any
		for _, r := range results {
			got = append(got, r.Interface())
		}
		if !slices.EqualFunc(got, c.results, same) {
			return fmt.Errorf("results of %s\n got %#v\nwant %#v", name, got, c.results)
		}
	}
	return nil
}

// same reports whether the values are equal, and functions whether they return the same.
func same(a, b any) bool {
	v, w := reflect.ValueOf(a), reflect.ValueOf(b)
	if !v.IsValid() || !w.IsValid() || v.Type() != w.Type() {
		return !v.IsValid() && !w.IsValid()
	}
	switch v.Kind() {
	case reflect.Func:
		if v.IsNil() || w.IsNil() {
			return v.IsNil() && w.IsNil()
		}
		var in []reflect.Value
		for t := range v.Type().Ins() {
			in = append(in, reflect.Zero(t))
		}
		callOf := v.Call
		other := w.Call
		if v.Type().IsVariadic() {
			callOf, other = v.CallSlice, w.CallSlice
		}
		return slices.EqualFunc(callOf(in), other(in), func(a, b reflect.Value) bool { return same(a.Interface(), b.Interface()) })
	case reflect.Chan, reflect.Pointer, reflect.UnsafePointer:
		return v.Pointer() == w.Pointer()
	}
	return reflect.DeepEqual(a, b)
}

// implementations are values for parameters and results of interface types.
var implementations = sync.OnceValue(func() []any {
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		panic(err)
	}
	private := ed25519.NewKeyFromSeed(make([]byte, 32))
	return []any{
		errors.New("an error"), bytes.NewBufferString("a buffer"), context.Background(), crypto.SHA256, private, private.Public(),
		sha256.New(), block, cipher.NewCTR(block, make([]byte, 16)), driver.RowsAffected(3), &dwarf.IntType{}, token.NewFileSet(),
		image.NewGray(image.Rect(0, 0, 1, 1)), imagecolor.Gray16Model, imagecolor.Gray16{5}, &net.TCPAddr{Port: 9}, &net.TCPConn{}, &net.TCPListener{},
		http.NoBody, http.DefaultTransport, http.NotFoundHandler(), os.Interrupt, reflect.TypeFor[int](), fstest.MapFS{}, bufio.NewReader(nil),
		types.Typ[types.Int], types.NewPackage("a", "a"), must(fstest.MapFS{"a": {}}.Stat("a")), must(fstest.MapFS{"a": {}}.Open("a")),
		struct{ cipher.AEAD }{}, struct{ cipher.BlockMode }{}, struct{ driver.Conn }{}, struct{ driver.Connector }{}, struct{ driver.Rows }{},
		struct{ driver.Stmt }{}, struct{ driver.Tx }{}, struct{ fmt.ScanState }{}, struct{ fmt.State }{}, struct{ http.ResponseWriter }{},
		struct{ syscall.RawConn }{}, driver.Bool,
	}
})

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// filler makes different values.
type filler struct{ n int }

// of returns a value of type t.
func (f *filler) of(t reflect.Type) reflect.Value {
	f.n++
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.n))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(uint64(f.n))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(f.n))
	case reflect.String:
		v.SetString(fmt.Sprint("text ", f.n))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(t, 2, 3))
		v.Index(1).Set(f.of(t.Elem()))
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(f.of(t.Key()), f.of(t.Elem()))
	case reflect.Chan:
		v.Set(reflect.MakeChan(reflect.ChanOf(reflect.BothDir, t.Elem()), 0).Convert(t))
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
	case reflect.Func:
		var results []reflect.Value
		for out := range t.Outs() {
			results = append(results, f.of(out))
		}
		v.Set(reflect.MakeFunc(t, func([]reflect.Value) []reflect.Value { return results }))
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).Set(f.of(t.Elem()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() && (field.CanInt() || field.Kind() == reflect.String) {
				field.Set(f.of(field.Type()))
			}
		}
	case reflect.Interface:
		for i, all := f.n, implementations(); i < f.n+len(all); i++ {
			if x := reflect.ValueOf(all[i%len(all)]); x.Type().Implements(t) {
				v.Set(x)
				return v
			}
		}
		panic("no value of type " + t.String())
	}
	return v
}

// TestAssertedUnexported embeds interfaces with unexported methods, which a type can have only so.
func TestAssertedUnexported(t *testing.T) {
	t.Parallel()
	c := newConversions(t)
	c.must(t, `pass := ctx.Value("pass").(func(string, any, any))
type expr struct{ ast.Expr }
type stmt struct{ *ast.ReturnStmt }
type decl struct{ ast.Decl; n int }
type object struct{ types.Object }
type deep struct{ *object }
type exprs interface{ ast.Expr; Extra() int }
type withExprs struct{ exprs }
func (expr) Extra() int { return 5 }
func (expr) Pos() token.Pos { return 77 }
o := object{types.Universe.Lookup("int")}
pass("expr", expr{ast.NewIdent("x")}, nil)
pass("*expr", &expr{ast.NewIdent("x")}, nil)
pass("stmt", stmt{&ast.ReturnStmt{}}, nil)
pass("decl", &decl{&ast.GenDecl{}, 1}, nil)
pass("object", o, nil)
pass("deep", deep{&o}, nil)
pass("withExprs", withExprs{expr{ast.NewIdent("x")}}, nil)
`, "")
	for name, is := range map[string]func(x any) bool{
		"expr":  func(x any) bool { e, ok := x.(ast.Expr); return ok && e.Pos() == 77 && e.End() == 1 },
		"*expr": func(x any) bool { e, ok := x.(ast.Expr); return ok && e.Pos() == 77 && e.End() == 1 },
		"stmt": func(x any) bool {
			s, ok := x.(ast.Stmt)
			_, isExpr := x.(ast.Expr)
			return ok && !isExpr && s.Pos() == 0
		},
		"decl":      func(x any) bool { _, ok := x.(ast.Decl); _, isSpec := x.(ast.Spec); return ok && !isSpec },
		"object":    func(x any) bool { o, ok := x.(types.Object); return ok && o.Name() == "int" },
		"deep":      func(x any) bool { o, ok := x.(types.Object); return ok && o.Name() == "int" },
		"withExprs": func(x any) bool { e, ok := x.(ast.Expr); return ok && e.Pos() == 77 },
	} {
		if x := c.values[name][0]; !is(x) {
			t.Errorf("%s: %T", name, x)
		}
	}
}
