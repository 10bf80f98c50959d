package submit

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// largeNotebook has more bytes than a line of a result, also compressed.
func largeNotebook() []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 20_000)
	for i := range b {
		b[i] = byte(' ' + r.IntN(90))
	}
	return b
}

func TestResult(t *testing.T) {
	notebook := largeNotebook()
	var whole bytes.Buffer
	if err := WriteResult(&whole, notebook, nil, false); err != nil {
		t.Fatal(err)
	}
	result := whole.String()
	lines := strings.SplitAfter(result, "\n")
	var failing bytes.Buffer
	if err := WriteResult(&failing, notebook, errors.New("cell 2: boom"), false); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, log   string
		want, error string // what is copied; part of the error
		missing     bool   // the notebook
	}{
		{name: "after output", log: "hello\n" + result, want: "hello\n\n"},
		{name: "after half a line", log: "hello" + result, want: "hello\n"},
		{name: "between lines", log: strings.Join([]string{"\n", lines[1], "a line\n", strings.Join(lines[2:], ""), "after\n"}, ""), want: "\na line\nafter\n"},
		{name: "in another order", log: lines[2] + lines[1] + strings.Join(lines[3:], "")},
		{name: "twice", log: result + result, want: "\n\n"},
		{name: "CR", log: strings.ReplaceAll(result, "\n", "\r\n"), want: "\r\n"},
		{name: "failed", log: failing.String(), want: "\n", error: "cell 2: boom"},
		{name: "a lost line", log: strings.Join(append([]string{lines[1]}, lines[3:]...), ""), error: "damaged", missing: true},
		{name: "a damaged line", log: strings.Replace(result, "quern-result 1 ", "quern-result 1 A", 1), want: "\n", error: "damaged", missing: true},
		{name: "no end", log: strings.Join(lines[:len(lines)-2], ""), want: "\n", error: "without the executed notebook", missing: true},
		{name: "a damaged end", log: "quern-result end {\n", error: "without the executed notebook", missing: true},
		{name: "empty", error: "without the executed notebook", missing: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "nb.ipynb")
			var log bytes.Buffer
			r := &resultReader{log: &log}
			for i := 0; i < len(c.log); i += 777 { // reads end anywhere
				if _, err := r.Write([]byte(c.log[i:min(i+777, len(c.log))])); err != nil {
					t.Fatal(err)
				}
			}
			err := r.save(path)
			if c.error == "" && err != nil || c.error != "" && (err == nil || !strings.Contains(err.Error(), c.error)) {
				t.Errorf("got %v, want %q", err, c.error)
			}
			if log.String() != c.want {
				t.Errorf("copied %q, want %q", log.String(), c.want)
			}
			got, err := os.ReadFile(path)
			if c.missing != (err != nil) || err == nil && !bytes.Equal(got, notebook) {
				t.Errorf("the notebook has %d bytes, %v", len(got), err)
			}
		})
	}
}

// TestResultAgain reads a log again after the connection was lost.
func TestResultAgain(t *testing.T) {
	var result, log bytes.Buffer
	if err := WriteResult(&result, []byte("{}"), nil, false); err != nil {
		t.Fatal(err)
	}
	whole := "one\ntwo\nthree\n" + result.String()
	r := &resultReader{log: &log}
	for _, part := range []string{whole[:10], whole[:5], whole} {
		r.again()
		if _, err := r.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := log.String(), "one\ntwo\nthree\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := r.save(filepath.Join(t.TempDir(), "nb.ipynb")); err != nil {
		t.Error(err)
	}
}
