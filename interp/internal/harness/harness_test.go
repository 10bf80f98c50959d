package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/internal/testenv"
)

func TestRun(t *testing.T) {
	t.Parallel()
	sh := testenv.Command(t, "sh")
	for _, row := range []struct {
		name, script string
		limit        time.Duration
		want         Ending
	}{
		{"output of both", "echo a; echo b >&2; pwd", time.Minute, Ending{Output: "a\nb\n/\n"}},
		{"environment", "echo $PWD $ADDED", time.Minute, Ending{Output: "/ yes\n"}},
		{"status", "exit 3", time.Minute, Ending{Status: 3}},
		{"signal", "kill -9 $$", time.Minute, Ending{Status: -1}},
		{"timeout", "exec sleep 600", time.Millisecond, Ending{Timeout: true}},
		{"long output", "head -c 5000000 /dev/zero", time.Minute, Ending{Output: strings.Repeat("\x00", maxOutput)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, err := Run(t.Context(), row.limit, "/", []string{"ADDED=yes"}, sh, "-c", row.script)
			got.Seconds, got.CPU = 0, 0
			if err != nil || got != row.want {
				t.Errorf("got %.100v, %v, want %.100v", got, err, row.want)
			}
		})
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(interrupted, time.Minute, "/", nil, sh, "-c", "exec sleep 600"); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestMatching(t *testing.T) {
	t.Parallel()
	names := func(s string) []string { return strings.Split(s, "/") }
	got, err := Matching([]string{"a/bc", "bd/b", "c/e"}, "^b", names)
	if err != nil || !slices.Equal(got, []string{"a/bc", "bd/b"}) {
		t.Errorf("got %q, %v", got, err)
	}
	for _, pattern := range []string{"x", "("} {
		if got, err := Matching([]string{"a"}, pattern, names); err == nil {
			t.Errorf("%s: got %q and no error", pattern, got)
		}
	}
}

func TestReports(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "report.json")
	type report struct{ Text string }
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := ReadReport[report](path); r != nil || err != nil {
		t.Errorf("of a child that wrote none: %v, %v", r, err)
	}
	if err := WriteReport(path, report{"ended"}); err != nil {
		t.Fatal(err)
	}
	if r, err := ReadReport[report](path); err != nil || *r != (report{"ended"}) {
		t.Errorf("got %v, %v", r, err)
	}
}
