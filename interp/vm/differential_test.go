package vm_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

// knownDifference is the text in which yaegi's panics differ from Go's: see package lower.
var knownDifference = regexp.MustCompile(`(out of range) \[.*`)

// FuzzPrograms runs random programs with and without the VM and compares the output.
func FuzzPrograms(f *testing.F) {
	// The programs of other seeds recover so many panics that yaegi needs minutes for them under the race detector.
	for _, seed := range []uint64{1, 3, 4, 5} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		source := newGenerator(seed).program()
		fast, slow := execute(t, source), execute(t, source, interp.Slow())
		fast, slow = knownDifference.ReplaceAllString(fast, "$1"), knownDifference.ReplaceAllString(slow, "$1")
		if fast != slow || strings.Contains(slow, "reflect") {
			t.Errorf("seed %d: the VM and yaegi differ\n%s\n%s", seed, difference(fast, slow), source)
		}
	})
}

// execute runs a program in a new session and returns its output and error.
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
			return fmt.Sprintf("line %d\ngot  %s\nwant %s", i+1, a, b)
		}
	}
	return "nothing"
}
