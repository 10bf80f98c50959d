package testenv

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// recorder is a test that records how it ended.
type recorder struct {
	testing.TB
	skipped, failed string
}

func (r *recorder) Helper() {}

func (r *recorder) Skipf(format string, args ...any) {
	r.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func record(f func(t testing.TB)) *recorder {
	r, done := &recorder{}, make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r
}

func TestMissing(t *testing.T) {
	missing := func(t testing.TB) { Missing(t, "no %s", "compiler") }
	t.Setenv(Strict, "")
	if r := record(missing); r.skipped != "no compiler" || r.failed != "" {
		t.Errorf("skipped %q, failed %q", r.skipped, r.failed)
	}
	t.Setenv(Strict, "1")
	if r := record(missing); r.skipped != "" || !strings.HasPrefix(r.failed, "no compiler (") {
		t.Errorf("strict: skipped %q, failed %q", r.skipped, r.failed)
	}
}

func TestOptional(t *testing.T) {
	t.Setenv(Strict, "1")
	if r := record(func(t testing.TB) { Optional(t, "no GPU") }); r.skipped != "no GPU" || r.failed != "" {
		t.Errorf("skipped %q, failed %q", r.skipped, r.failed)
	}
}

func TestCommand(t *testing.T) {
	if path := Command(t, "go"); path == "" {
		t.Error("no path of the go command")
	}
	t.Setenv(Strict, "1")
	if r := record(func(t testing.TB) { Command(t, "no-such-program") }); !strings.Contains(r.failed, "no-such-program is not installed") {
		t.Errorf("failed %q", r.failed)
	}
}
