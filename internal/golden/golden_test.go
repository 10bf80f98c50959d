package golden

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// recorder is a test that records its failures.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper()             {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// check runs Check on a goroutine, which Fatalf may end.
func check(name, got string) []string {
	r := &recorder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		Check(r, name, []byte(got))
	}()
	<-done
	return r.failures
}

func TestCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	if got := check("a.txt", "x\n"); len(got) != 1 || !strings.Contains(got[0], "-update") {
		t.Errorf("a missing file: %q", got)
	}
	*update = true
	defer func() { *update = false }()
	if got := check("sub/a.txt", "x\n"); got != nil {
		t.Errorf("update: %q", got)
	}
	*update = false
	if b, err := os.ReadFile("testdata/sub/a.txt"); err != nil || string(b) != "x\n" {
		t.Errorf("updated file: %q, %v", b, err)
	}
	if got := check("sub/a.txt", "x\n"); got != nil {
		t.Errorf("equal: %q", got)
	}
	if got := check("sub/a.txt", "y\n"); len(got) != 1 || !strings.Contains(got[0], "-x\n+y\n") {
		t.Errorf("different: %q", got)
	}
}
