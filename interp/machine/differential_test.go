package machine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

// FuzzPrograms runs random programs with and without the machine.
func FuzzPrograms(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		source := newGenerator(seed).program()
		fast, slow := execute(t, source), execute(t, source, interp.Slow())
		if strings.Contains(slow, "reflect: call of reflect.Value.") {
			t.Skip("the engine fails in a condition that it has the wrong register of")
		}
		if fast != slow {
			t.Errorf("seed %d: the machine and the engine differ\n%s\n%s", seed, difference(fast, slow), source)
		}
	})
}

// execute runs a program in a new session and returns what it came to.
func execute(t *testing.T, source string, options ...interp.Option) string {
	t.Helper()
	var out strings.Builder
	s, err := interp.New(append(options, interp.Stdout(&out), interp.Stderr(&out))...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Execute(context.Background(), 1, source+"\nfmt.Print(run())")
	if err != nil {
		fmt.Fprintln(&out, err)
	}
	return out.String()
}

func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "<end>", "<end>"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\nmachine %s\nengine  %s", i+1, a, b)
		}
	}
	return "nothing"
}
