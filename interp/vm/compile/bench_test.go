package compile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// programs are the programs that the command bench measures, with the function to call and its result.
var programs = []struct {
	file, call string
	arguments  []any
	want       any
}{
	{"fib_30", "fib", []any{30}, 832040},
	{"nested_loops_1e7", "loops", nil, 49995000000},
	{"sieve_1e6", "sieve", []any{1000000}, 78498},
	{"matmul_128", "matmul", []any{128}, 672704.0},
	{"map_insert_1e6", "insert", nil, 1000000},
	{"compiled_call_1e6", "calls", nil, 6.666661664588418e+08},
	{"builder_1e6", "build", nil, 1000000},
	{"closure_call_1e6", "closures", nil, 1000000},
	{"methods_2e6", "methods", nil, 1000000},
	{"defer_1e6", "visits", nil, 1500000},
	{"defer_recover_1e6", "guards", nil, 449999900000},
}

func source(t testing.TB, name string) string {
	text, err := os.ReadFile(filepath.Join("../../internal/bench/testdata", name+".cell"))
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "\nfmt.Println")
	imports := ""
	for _, pkg := range []string{"math", "strings"} {
		if strings.Contains(before, pkg+".") {
			imports += "import \"" + pkg + "\"\n"
		}
	}
	return imports + before
}

func TestPrograms(t *testing.T) {
	for _, tt := range programs {
		t.Run(tt.file, func(t *testing.T) {
			p := compile(t, source(t, tt.file))
			if got := p.call(t, tt.call, tt.arguments...); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func BenchmarkPrograms(b *testing.B) {
	for _, tt := range programs {
		b.Run(tt.file, func(b *testing.B) {
			p := compile(b, source(b, tt.file))
			for b.Loop() {
				p.call(b, tt.call, tt.arguments...)
			}
		})
	}
}
