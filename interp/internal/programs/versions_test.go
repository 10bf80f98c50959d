package programs

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/quernlab/quern/interp"
	made "github.com/quernlab/quern/interp/named"
)

// versionCell is a cell that declares a type with methods that compiled packages look for, and uses them.
const versionCell = `import ("bytes"; "database/sql"; "database/sql/driver"; "encoding"; "encoding/gob"; "encoding/xml"; "flag")
type T%[1]d string
func (t T%[1]d) MarshalText() ([]byte, error) { return []byte(t + "!%[1]d"), nil }
func (t *T%[1]d) UnmarshalText(b []byte) error { *t = T%[1]d(b); return nil }
type V struct{ n int }
func (v V) GobEncode() ([]byte, error) { return []byte{byte(v.n), %[2]d}, nil }
func (v *V) GobDecode(b []byte) error { v.n = int(b[0]) + int(b[1]); return nil }
func (v *V) Set(s string) error { v.n = len(s) + %[1]d; return nil }
func (v *V) String() string { return fmt.Sprint("v", v.n) }
func (v *V) Scan(x any) error { v.n = int(x.(int64)) + %[1]d; return nil }
func (v V) Value() (driver.Value, error) { return int64(v.n), nil }
func run() {
	text, err := xml.Marshal(T%[1]d("a"))
	fmt.Print(string(text), err)
	var u T%[1]d
	err = xml.Unmarshal([]byte("<a>b</a>"), &u)
	fmt.Print(err, u)
	var b bytes.Buffer
	v := V{1}
	fmt.Print(gob.NewEncoder(&b).Encode(v), gob.NewDecoder(&b).Decode(&v))
	fmt.Print(v.n)
	f := flag.NewFlagSet("f", flag.ContinueOnError)
	f.Var(&v, "v", "")
	fmt.Print(f.Parse([]string{"-v", "xyz"}))
	fmt.Print(v.n)
	var s sql.Scanner = &v
	var d driver.Valuer = v
	var m encoding.TextMarshaler = u
	value, _ := d.Value()
	text, _ = m.MarshalText()
	fmt.Print(s.Scan(int64(1)))
	fmt.Print(v.n, value, string(text))
}
run()`

func wantVersion(i int) string {
	return fmt.Sprintf("<T%d>a!%[1]d</T%[1]d><nil><nil>b<nil> <nil>%d<nil>%d<nil>%d %[3]db!%[1]d", i, 1+i%100, i+3, i+1)
}

// TestVersions declares more types with methods than a process had compiled types for.
func TestVersions(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 140
	}
	var out buffer
	s, err := interp.New(interp.Stdout(&out), interp.Stdin(strings.NewReader("")))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var m runtime.MemStats
	for i := range n {
		if _, err := s.Execute(t.Context(), i+1, fmt.Sprintf(versionCell, i, i%100)); err != nil {
			t.Fatalf("cell %d: %v", i, err)
		}
		if got, want := out.take(), wantVersion(i); got != want {
			t.Fatalf("cell %d printed %s, not %s", i, got, want)
		}
		if i == 50 || i == n-1 {
			runtime.GC()
			runtime.ReadMemStats(&m)
			t.Logf("%d KB after %d cells", m.HeapAlloc/1024, i+1)
		}
	}
}

// A process has a limited number of methods for types of cells. A cell that needs one more fails with an error that says so.
// Closing a session gives its methods back.
func TestMethodsRunOut(t *testing.T) {
	const left, size = 100, 100 // methods with value receivers, of which each counts as two; methods with pointer receivers
	var others []*made.Owner
	defer func() {
		for _, o := range others {
			o.Close()
		}
	}()
	for {
		d := made.Declaration{Name: "main.Other", Path: "main", Memory: reflect.TypeFor[int]()}
		var methods []made.Method
		for i := range size {
			m := made.Method{Name: fmt.Sprint("M", i), Type: reflect.TypeFor[func()](), Word: reflect.ValueOf(func(unsafe.Pointer) {})}
			methods = append(methods, m)
			d.Methods = append(d.Methods, made.MethodName{Name: m.Name, Pointer: true})
		}
		o := &made.Owner{}
		other, err := o.New(d)
		if err != nil {
			t.Fatal(err)
		}
		if other.Complete(made.Parts{}, methods) != nil {
			break
		}
		others = append(others, o)
	}
	for range 2 * left / size {
		others[len(others)-1].Close()
		others = others[:len(others)-1]
	}
	for range 2 {
		var out buffer
		s, err := interp.New(interp.Stdout(&out), interp.Stdin(strings.NewReader("")))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; ; i++ {
			cell := fmt.Sprintf("import \"encoding/xml\"\ntype T%d string\nfunc (t T%[1]d) MarshalText() ([]byte, error) { return []byte(t + \"!\"), nil }\nb, err := xml.Marshal(T%[1]d(\"a\"))\nfmt.Print(string(b), err)", i)
			_, err := s.Execute(t.Context(), i+1, cell)
			if err == nil && i <= left+size {
				if got, want := out.take(), fmt.Sprintf("<T%d>a!</T%[1]d><nil>", i); got != want {
					t.Fatalf("cell %d printed %s, not %s", i, got, want)
				}
				continue
			}
			var failure *interp.Error
			if i < left || !errors.As(err, &failure) || !strings.Contains(failure.Value, "are in use: restart the kernel") {
				t.Errorf("cell %d failed with %v", i, err)
			}
			break
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
