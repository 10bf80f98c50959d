package rt

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestSymbolsAreDocumented compares the symbol table with the package comment, which
// documents it for package lower.
func TestSymbolsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	symbols := New(Config{}).Symbols()
	for name := range symbols {
		if !regexp.MustCompile(`\b` + name + `\b`).Match(text) {
			t.Errorf("%s is not in the package comment", name)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^//\t([A-Z]\w+)\(`).FindAllSubmatch(text, -1) {
		if name := string(m[1]); !symbols[name].IsValid() && name != "Raw" {
			t.Errorf("the package comment has %s, the table does not", name)
		}
	}
}

func TestOverrides(t *testing.T) {
	var out bytes.Buffer
	r := New(Config{Stdout: &out})
	overrides := r.Overrides()
	real := map[string]any{
		"encoding/json/json Unmarshal": json.Unmarshal,
		"fmt/fmt Append":               fmt.Append, "fmt/fmt Appendf": fmt.Appendf, "fmt/fmt Appendln": fmt.Appendln, "fmt/fmt Errorf": fmt.Errorf,
		"fmt/fmt Fprint": fmt.Fprint, "fmt/fmt Fprintf": fmt.Fprintf, "fmt/fmt Fprintln": fmt.Fprintln, "fmt/fmt Print": fmt.Print, "fmt/fmt Printf": fmt.Printf,
		"fmt/fmt Println": fmt.Println, "fmt/fmt Sprint": fmt.Sprint, "fmt/fmt Sprintf": fmt.Sprintf, "fmt/fmt Sprintln": fmt.Sprintln,
		"fmt/fmt Sscan": fmt.Sscan, "fmt/fmt Sscanf": fmt.Sscanf, "fmt/fmt Sscanln": fmt.Sscanln, "fmt/fmt Fscan": fmt.Fscan, "fmt/fmt Fscanf": fmt.Fscanf, "fmt/fmt Fscanln": fmt.Fscanln,
		"strings/strings Repeat": strings.Repeat, "bytes/bytes Repeat": bytes.Repeat,
		"errors/errors Is":          errors.Is,
		"encoding/gob/gob Register": gob.Register, "encoding/gob/gob RegisterName": gob.RegisterName,
	}
	count := 0
	for pkg, table := range overrides {
		if pkg == "reflect/reflect" {
			continue // see TestReflection
		}
		if pkg == "testing/quick/quick" || pkg == "github.com/quernlab/quern/interp/generic/compiled/compiled" {
			continue // their signatures have a ReflectValue, or the package is ours
		}
		for name, f := range table {
			count++
			if want := reflect.TypeOf(real[pkg+" "+name]); f.Type() != want {
				t.Errorf("%s %s is a %v, want %v", pkg, name, f.Type(), want)
			}
		}
	}
	if count != len(real) {
		t.Errorf("%d overrides, want %d", count, len(real))
	}
	r.Print("a", 1)
	r.Printf("%d", 2)
	r.Println("b")
	if out.String() != "a12b\n" {
		t.Errorf("printed %q", out.String())
	}
}

func TestMapKeyOrder(t *testing.T) {
	w := newHarness(t)
	type pair struct {
		A Text
		B Int
	}
	c1, c2 := make(chan int), make(chan int)
	for _, m := range []any{
		map[Float]int{2: 1, -1: 2, 0.5: 3}, map[Float32]int{2: 1, -1: 2}, map[Flag]int{true: 1, false: 2}, map[Uint8]int{200: 1, 3: 2}, map[Complex]int{1 + 2i: 1, 1 + 1i: 2, 0: 3},
		map[[2]Int]Text{{2, 1}: "a", {1, 9}: "b", {1, 2}: "c"}, map[Point]int{{2, 1, ""}: 1, {1, 2, "b"}: 2, {1, 2, "a"}: 3}, map[Color]Color{{2, 0, 0}: {}, {1, 0, 0}: {}},
		map[any]Int{nil: 1, Int(3): 2, Int(-3): 3}, map[Shape]Int{Square{2}: 1, Square{1}: 2, nil: 3}, Any{Text("b"): 1, Text("a"): 2}, map[any]Text{2: "x", 1: "y"},
		map[Celsius]Weekday{3: 0, 1: 1}, Names{"z": 1, "a": 2},
	} {
		if got, want := w.Sprint(w.box(m)), fmt.Sprint(m); got != want {
			t.Errorf("%T\n got %s\nwant %s", m, got, want)
		}
	}
	for _, m := range []any{map[chan int]int{c1: 1, c2: 2}, map[any]int{"s": 1, 2: 2, 1.5: 3, "a": 4, true: 5}} {
		m := reflect.ValueOf([]any{m, Int(1)}).Interface() // with a box next to it, so that fmt does not print the map itself
		boxed := []any{m.([]any)[0], w.box(Int(1))}
		if got, want := w.Sprint(boxed), fmt.Sprint(m); got != want {
			t.Errorf("%T\n got %s\nwant %s", m, got, want)
		}
	}
	mixed := w.Sprint(map[any]int{w.box(Int(2)): 1, 7: 2, w.box(Int(1)): 3, w.box(Text("t")): 4})
	if !strings.HasPrefix(mixed, "map[7:2 ") || strings.Index(mixed, "1:3") > strings.Index(mixed, "2:1") {
		t.Errorf("keys of several types: %s", mixed)
	}
}

func TestSameType(t *testing.T) {
	w := newHarness(t)
	compiled := []reflect.Type{
		reflect.TypeFor[int](), reflect.TypeFor[byte](), reflect.TypeFor[string](), reflect.TypeFor[error](), reflect.TypeFor[any](), reflect.TypeFor[*int](), reflect.TypeFor[[]int](), reflect.TypeFor[[3]int](), reflect.TypeFor[[4]int](),
		reflect.TypeFor[map[string]int](), reflect.TypeFor[map[int]string](), reflect.TypeFor[chan int](), reflect.TypeFor[<-chan int](), reflect.TypeFor[chan<- int](), reflect.TypeFor[func(int) error](), reflect.TypeFor[func(...int)](), reflect.TypeFor[func([]int)](),
		reflect.TypeFor[struct{ A int }](), reflect.TypeFor[struct{ B int }](), reflect.TypeFor[struct {
			A int `k:"v"`
		}](), reflect.TypeFor[interface{ M() int }](), reflect.TypeFor[interface{ M() string }](), reflect.TypeFor[interface{ N() int }](),
		reflect.TypeFor[bytes.Buffer](), reflect.TypeFor[*bytes.Buffer](), reflect.TypeFor[json.Number](), reflect.TypeFor[float64](), reflect.TypeFor[map[string][]func(*bytes.Buffer) (any, error)](),
	}
	for i, a := range compiled {
		for j, b := range compiled {
			var checked = w.checkedAny(t, b)
			if got := w.sameType(a, checked); got != (i == j) {
				t.Errorf("%v and %v are the same type: %v", a, b, got)
			}
		}
		if w.sameType(a, w.checked(reflect.TypeFor[Int]())) {
			t.Errorf("%v is the type Int of a cell", a)
		}
	}
}
