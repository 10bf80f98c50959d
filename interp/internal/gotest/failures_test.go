package main

import (
	"strings"
	"testing"
)

const failuresOfTest = "panic\tkept.go\tgoto into a block\n" +
	"panic\tmoved.go\tgoto out of a block\n" +
	"refused\tpasses.go\t?undefined: x\n" +
	"time-out\tunseen.go\tslow\n" +
	"varies\twavers.go\ta race in the test\n"

var verdictsOfTest = []result{
	{Name: "kept.go", Outcome: panics, Message: "x"},
	{Name: "moved.go", Outcome: wrong, Message: "another output"},
	{Name: "new.go", Outcome: crash, Message: "fatal error: all"},
	{Name: "passes.go", Outcome: pass},
	{Name: "wavers.go", Outcome: pass},
	{Name: "well.go", Outcome: pass},
}

func TestFailuresAfter(t *testing.T) {
	t.Parallel()
	list, err := readFailures(failuresOfTest)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.SplitAfter(list.after(verdictsOfTest).text(), "\n")[2:], "")
	want := "panic\tkept.go\tgoto into a block\n" +
		"wrong\tmoved.go\t?another output\n" +
		"crash\tnew.go\t?fatal error: all\n" +
		"time-out\tunseen.go\tslow\n" +
		"varies\twavers.go\ta race in the test\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestRegressions(t *testing.T) {
	t.Parallel()
	list, err := readFailures(failuresOfTest)
	if err != nil {
		t.Fatal(err)
	}
	var notes strings.Builder
	err = list.regressions(verdictsOfTest, &notes)
	if want := "1 tests that used to pass do not:\nnew.go: crash: fatal error: all"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if !strings.HasPrefix(notes.String(), "passes.go passes now") || strings.Count(notes.String(), "\n") != 1 {
		t.Errorf("notes are %q", notes.String())
	}
	if err := list.regressions(verdictsOfTest[:2], &notes); err != nil {
		t.Errorf("known failures are an error: %v", err)
	}
}

// TestFailures checks that each line of failures.txt has a valid outcome and a cause.
func TestFailures(t *testing.T) {
	t.Parallel()
	list, err := readFailures(failuresText)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range list {
		if f.outcome != varies && indexOf(f.outcome) <= 0 || strings.TrimLeft(f.cause, "?") == "" {
			t.Errorf("failures.txt: %s has outcome %q and cause %q", name, f.outcome, f.cause)
		}
	}
	if list.text() != failuresText {
		t.Error("failures.txt is not as -update writes it")
	}
}

func indexOf(o outcome) int {
	for i, known := range outcomes {
		if o == known {
			return i
		}
	}
	return -1
}
