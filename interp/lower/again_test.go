package lower_test

import (
	"fmt"
	"testing"
)

func TestRedeclared(t *testing.T) {
	tests := []struct {
		name  string
		cells []string
		want  string // of the last cell
	}{
		{"same", []string{"func f(n int) int { return n }", "func f(m int) int { return -m }"}, "fʹ1 is fʹ2 in fʹ1;"},
		{"third", []string{"func f() {}", "func f() {}", "func f() {}"}, "fʹ2 is fʹ3 in fʹ1;"},
		{"other parameters", []string{"func f(n int) int { return n }", "func f(s string) int { return 0 }"}, ""},
		{"other parameters, undone", []string{"func f(n int) int { return n }", "func f(s string) int { return 0 }", "func f(n int) int { return -n }"}, "fʹ1 is fʹ3 in fʹ1;"},
		{"many other parameters", []string{"func f(n int) {}", "func f(s string) {}", "func f(n uint) {}", "func f(n int8) {}", "func f(n int) {}"}, ""},
		{"dependant", []string{"func f() int { return 1 }", "func g() int { return f() }", "func f() int { return 2 }"}, "gʹ1 is gʹ2 in gʹ1;fʹ1 is fʹ2 in fʹ1;"},
		{"method", []string{"type T struct{}\nfunc (T) M() {}", "func (T) M() { println() }"}, "TʹMʹ1 is TʹMʹ2 in TʹMʹ1;"},
		{"other receiver", []string{"type T struct{}\nfunc (T) M() {}", "func (*T) M() {}"}, ""},
		{"other type", []string{"type T struct{}\nfunc (T) M() {}", "type T struct{ n int }\nfunc (T) M() {}"}, ""},
		{"generic", []string{"func f[T any](x T) {}\nf(1)", "func f[T any](x T) {}\nf(1)"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newChecked(t)
			got := ""
			for _, cell := range tt.cells {
				unit, err := s.lower(cell)
				if err != nil {
					t.Fatal(err)
				}
				got = ""
				for _, r := range unit.Redeclared {
					got += fmt.Sprintf("%s is %s in %s;", s.program.Name(r.Old), s.program.Name(r.New), r.Group)
				}
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
