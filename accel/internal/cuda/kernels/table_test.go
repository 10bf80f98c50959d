package kernels

import (
	"fmt"
	"io/fs"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestTable compares the table with the PTX: every entry is in both, and each field of the
// parameters has the offset and size that PTX declares.
func TestTable(t *testing.T) {
	declared := map[string]signature{}
	names, err := fs.Glob(code, "*.ptx.gz")
	if err != nil || len(names) == 0 {
		t.Fatalf("no PTX is embedded: %v", err)
	}
	for _, name := range names {
		module := strings.TrimSuffix(name, ".ptx.gz")
		text, err := PTX(module)
		if err != nil {
			t.Fatal(err)
		}
		for entry, s := range signatures(t, text) {
			s.module = module
			declared[entry] = s
		}
	}
	seen := map[string]bool{}
	for _, e := range table {
		for _, v := range e.Variants {
			name := e.Symbol(v)
			s, ok := declared[name]
			switch {
			case seen[name]:
				t.Errorf("%s is in the table twice", name)
			case !ok:
				t.Errorf("no PTX declares %s", name)
			case s.module != e.Module(v):
				t.Errorf("%s is in %s, not in %s", name, s.module, e.Module(v))
			case s.threads != e.Threads:
				t.Errorf("%s is for %d threads, not for %d", name, s.threads, e.Threads)
			default:
				if got := fields(e.Params); !reflect.DeepEqual(got, s.params) {
					t.Errorf("%s: parameters\n  in Go  %v\n  in PTX %v", name, got, s.params)
				}
			}
			seen[name] = true
			delete(declared, name)
		}
	}
	for name := range declared {
		t.Errorf("%s is not in the table", name)
	}
}

// extentOf is the offset and the size of a parameter, in bytes.
type extentOf struct{ offset, size int }

type signature struct {
	module  string
	threads int
	params  []extentOf
}

var (
	entryPattern = regexp.MustCompile(`(?s)\.visible \.entry (\w+)\((.*?)\)\s*\.maxntid (\d+)`)
	paramPattern = regexp.MustCompile(`\.param (?:\.align (\d+) )?\.(b8|[a-z]+(\d+))( \w+\[(\d+)\])?`)
)

func signatures(t *testing.T, text string) map[string]signature {
	out := map[string]signature{}
	for _, m := range entryPattern.FindAllStringSubmatch(text, -1) {
		s := signature{threads: number(t, m[3])}
		at := 0
		for _, p := range paramPattern.FindAllStringSubmatch(m[2], -1) {
			align, size := 0, 0
			if p[5] != "" {
				align, size = number(t, p[1]), number(t, p[5])
			} else {
				size = number(t, p[3]) / 8
				align = size
			}
			at = (at + align - 1) / align * align
			s.params = append(s.params, extentOf{at, size})
			at += size
		}
		out[m[1]] = s
	}
	if want := strings.Count(text, ".entry"); len(out) != want {
		t.Errorf("parsed %d of %d entries", len(out), want)
	}
	return out
}

func number(t *testing.T, s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// fields returns the offsets and sizes of a struct's fields.
func fields(params any) []extentOf {
	var out []extentOf
	v := reflect.TypeOf(params)
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Name == "_" {
			continue // padding for an alignment that Go does not have
		}
		out = append(out, extentOf{int(f.Offset), int(f.Type.Size())})
	}
	return out
}

func TestPTXOfUnknownModule(t *testing.T) {
	if _, err := PTX("nothing"); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("got %v, want an error that names the module", err)
	}
}

func TestFault(t *testing.T) {
	if _, _, ok := Fault(NoFault); ok {
		t.Error("a fault with its initial value is decoded as reported")
	}
	minus := int32(-3)
	element, what, ok := Fault(7<<32 | uint64(uint32(minus)))
	if element != 7 || what != minus || !ok {
		t.Errorf("got %s, want 7 -3 true", fmt.Sprint(element, what, ok))
	}
}
