package interp_test

import (
	"errors"
	"testing"
)

// calledByCompiled declares types whose methods compiled code calls.
const calledByCompiled = `type M struct { a []int; s string; err error }
func (m *M) Write(p []byte) (int, error) { return len(p), nil }
func (m *M) Len() int { return len(m.a) }
func (m *M) Less(i, j int) bool { return m.a[i] < m.a[j] }
func (m *M) Swap(i, j int) { m.a[i], m.a[j] = m.a[j], m.a[i] }
func (m *M) String() string { return m.s }
func (m *M) Is(err error) bool { return err == m.err }
func (m *M) Set(s string) error { return m.err }
func (m *M) Unwrap() error { return m.err }
func (m *M) MarshalText() ([]byte, error) { return nil, m.err }
func (m *M) At(x, y int) any { return m }
func (m *M) Push(x any) {}
func (m *M) Close() error { return nil }
func (m *M) Eval(x float64) float64 { return x * 2 }
func (m *M) Do() {}
func (m *M) Error() string { return m.s }
`

// methodCall is a call of a method of a cell by compiled code.
type methodCall struct {
	name string
	call func()
}

func methodCalls(t testing.TB) []methodCall {
	n, before := newNotebook(t), errors.ErrUnsupported
	defer func() { errors.ErrUnsupported = before }()
	if got := n.run(calledByCompiled + `errors.ErrUnsupported = &M{a: []int{1, 2, 3}, s: "abc"}`); got != "" {
		t.Fatal(got)
	}
	type methods interface {
		Write(p []byte) (int, error)
		Len() int
		Less(i, j int) bool
		Swap(i, j int)
		String() string
		Is(err error) bool
		Set(s string) error
		Unwrap() error
		MarshalText() ([]byte, error)
		At(x, y int) any
		Push(x any)
		Close() error
		Eval(x float64) float64
		Do()
	}
	m := errors.ErrUnsupported.(methods)
	p := make([]byte, 10)
	return []methodCall{
		{"Do()", func() { m.Do() }},
		{"Len() int", func() { m.Len() }},
		{"Less(i, j int) bool", func() { m.Less(1, 2) }},
		{"Swap(i, j int)", func() { m.Swap(1, 2) }},
		{"String() string", func() { _ = m.String() }},
		{"Write([]byte) (int, error)", func() { m.Write(p) }},
		{"Is(error) bool", func() { m.Is(nil) }},
		{"Set(string) error", func() { m.Set("a") }},
		{"Unwrap() error", func() { m.Unwrap() }},
		{"MarshalText() ([]byte, error)", func() { m.MarshalText() }},
		{"At(x, y int) any", func() { m.At(1, 2) }},
		{"Push(any)", func() { m.Push(nil) }},
		{"Close() error", func() { m.Close() }},
		{"Eval(float64) float64", func() { m.Eval(2) }},
	}
}

// TestMethodCallsDoNotAllocate checks that package reflect makes none of the frequent calls.
func TestMethodCallsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("pools release values at random with the race detector")
	}
	for _, row := range methodCalls(t) {
		if n := testing.AllocsPerRun(1000, row.call); n >= 1 {
			t.Errorf("%s allocates %v times", row.name, n)
		}
	}
}

// BenchmarkMethodCalls measures calls of methods of cells by compiled code.
func BenchmarkMethodCalls(b *testing.B) {
	for _, row := range methodCalls(b) {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				row.call()
			}
		})
	}
}
