package interp_test

import (
	"bytes"
	"expvar"
	"io"
	"strings"
	"testing"
)

// recorder is a test that records its output and failures.
type recorder struct {
	testing.TB
	out   bytes.Buffer
	ended []string
}

func (r *recorder) Output() io.Writer { return &r.out }
func (r *recorder) Fail()             { r.ended = append(r.ended, "failed") }
func (r *recorder) FailNow()          { r.ended = append(r.ended, "failed at once") }
func (r *recorder) SkipNow()          { r.ended = append(r.ended, "skipped") }

// Tests in cells report the line of the cell.
func TestPositionsOfTests(t *testing.T) {
	r := &recorder{TB: t}
	expvar.Publish("quern.recorder", expvar.Func(func() any { return r }))
	n := newNotebook(t)
	out := n.run(`tb := expvar.Get("quern.recorder").(expvar.Func).Value().(testing.TB)
type size int
func (s size) String() string { return fmt.Sprint(int(s), " units") }
func equal(tb testing.TB, got, want int) {
	tb.Helper()
	if got != want {
		tb.Errorf("got %d, want %d", got, want)
	}
}
func twice(tb testing.TB) {
	tb.Helper()
	equal(tb, 3, 4)
}`)
	out += n.run(`tb.Log("one", size(2))
tb.Logf("%T %v\nsecond line", size(3), size(3))
equal(tb, 1, 2)
func() {
	twice(tb)
}()
for i := range 2 {
	tb.Error(i)
}
tb.Skipf("%v", []size{1})
tb.Fatal("end")`)
	if out != "" {
		t.Fatal(out)
	}
	want := `cell[2]:1: one 2 units
cell[2]:2: main.size 3 units
    second line
cell[2]:3: got 1, want 2
cell[2]:5: got 3, want 4
cell[2]:8: 0
cell[2]:8: 1
cell[2]:10: [1 units]
cell[2]:11: end
`
	if got := r.out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := strings.Join(r.ended, ", "), "failed, failed, failed, failed, skipped, failed at once"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
