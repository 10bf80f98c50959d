package vm_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

// unlike are the texts in which yaegi differs from Go: see package lower.
var unlike = regexp.MustCompile(`(out of range) \[.*`)

// FuzzPrograms runs random programs with and without the VM.
func FuzzPrograms(f *testing.F) {
	// Others recover so many panics that yaegi, which takes its time for each,
	// needs minutes under the race detector.
	for _, seed := range []uint64{1, 3, 4, 5, 6, 7, 8, 9, 10, 11} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		source := newGenerator(seed).program()
		fast, slow := execute(t, source), execute(t, source, interp.Slow())
		fast, slow = unlike.ReplaceAllString(fast, "$1"), unlike.ReplaceAllString(slow, "$1")
		if fast != slow || strings.Contains(slow, "reflect") {
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
