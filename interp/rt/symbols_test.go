package rt

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
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
	r := New(Config{})
	overrides := r.Overrides()
	real := map[string]any{
		"encoding/json/json Unmarshal": json.Unmarshal,
		"reflect/reflect Append":       reflect.Append, "reflect/reflect MakeSlice": reflect.MakeSlice, "reflect/reflect MakeChan": reflect.MakeChan,
		"strings/strings Repeat": strings.Repeat, "bytes/bytes Repeat": bytes.Repeat,
		"errors/errors As":          errors.As,
		"encoding/gob/gob Register": gob.Register, "encoding/gob/gob RegisterName": gob.RegisterName,
	}
	count := 0
	for pkg, table := range overrides {
		if pkg == "github.com/quernlab/quern/interp/generic/compiled/compiled" {
			continue // ours
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
