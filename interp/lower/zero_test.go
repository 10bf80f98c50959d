package lower_test

import (
	"slices"
	"testing"

	"github.com/quernlab/quern/interp/lower"
)

func TestValues(t *testing.T) {
	tests := []struct {
		name, cell string
		want       []string
	}{
		{"numbers", "func f(x float64) {}; func g(z complex64) {}; func h(n int, s string, p *float64, xs []float64) {}", []string{"fʹ1", "gʹ1"}},
		{"variadic", "func f(xs ...float64) {}; func g(x float32, xs ...int) {}", []string{"gʹ1"}},
		{"parts", "type P struct{ n int; xs [2]struct{ x float32 } }; func (p P) M() {}; func (p *P) N() {}; func f(p P) {}", []string{"PʹMʹ1", "fʹ1"}},
		{"named", "type C float64; func (c C) M(d C) {}", []string{"CʹMʹ1"}},
		{"instance", "func f[T any](x T) {}; f(1); f(1.5)", []string{"fʹfloat64ʹ1"}},
		{"dispatcher", "type I interface{ M(x float64); N(n int) }; func f(i I) { i.M(1); i.N(2) }", []string{"callʹMʹ1"}},
		{"key", "type K struct{ x float64; i any }; func f(m map[K]int, k *K) { m[*k] = 1 }", []string{"storeKeyʹ1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			unit, err := newChecked(t, func(c *lower.Config) { c.Machine = nil }).lower(tt.cell)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(unit.Values, tt.want) {
				t.Errorf("%s\ngives %q, want %q", tt.cell, unit.Values, tt.want)
			}
		})
	}
}
