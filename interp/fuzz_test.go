package interp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/lower"
)

// FuzzLoad checks and lowers cells and compiles them with yaegi, without running them. Each must
// either compile or be rejected with a position. An internal error is a failure.
func FuzzLoad(f *testing.F) {
	text, err := os.ReadFile("testdata/constructs.json")
	if err != nil {
		f.Fatal(err)
	}
	var programs []struct{ Decl, Body string }
	if err := json.Unmarshal(text, &programs); err != nil {
		f.Fatal(err)
	}
	for _, p := range programs {
		f.Add(p.Decl + "\n" + p.Body)
	}
	f.Fuzz(func(t *testing.T, src string) {
		s, err := New(Stdin(strings.NewReader("")), Stdout(io.Discard), Stderr(io.Discard))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		start := time.Now()
		c := s.compiler.load(context.Background(), 1, src)
		err = c.err
		if took := time.Since(start); took > time.Minute {
			t.Fatalf("%q took %v", src, took)
		}
		var list check.ErrorList
		var unsupported *lower.UnsupportedError
		switch {
		case err == nil:
			s.compiler.discard(c)
		case errors.As(err, &list):
		case errors.As(err, &unsupported):
			if unsupported.Position.Line == 0 {
				t.Fatalf("%q: %v has no place", src, err)
			}
		default:
			t.Fatalf("%q: %v", src, err)
		}
		if c := s.compiler.load(context.Background(), 2, "1 + 1"); c.err != nil {
			t.Fatalf("%q spoils the next cell: %v", src, c.err)
		}
	})
}
