package cells

import "testing"

// The weights of a model have the names that a compiled program would give them,
// so that a file that one writes can be read by the other.
func TestNamesOfParameters(t *testing.T) {
	n := newNotebook(t)
	n.want(`
type Base struct{ Factor *nn.Tensor }
type scale struct {
	Base
	Xtra  nn.Module
	inner struct{ gain *nn.Tensor }
	steps []*nn.Tensor
}
func (s *scale) Forward(x *nn.Tensor) *nn.Tensor { return x.Mul(s.Factor) }
type Net struct {
	*scale
	Blocks []nn.Module
	heads  map[string]nn.Module
	pair   [2]scale
}
func (n *Net) Forward(x *nn.Tensor) *nn.Tensor { return x }
one := func() *nn.Tensor { t := tensor.Ones(1); t.SetRequiresGrad(true); return t }
newScale := func() *scale {
	s := &scale{Base: Base{one()}, Xtra: nn.Dense(1), steps: []*nn.Tensor{one()}}
	s.inner.gain = one()
	return s
}
net := &Net{newScale(), []nn.Module{nn.Dense(1), newScale()}, map[string]nn.Module{"left": newScale()}, [2]scale{*newScale(), *newScale()}}
for _, p := range nn.NamedParameters(net) {
	fmt.Println(p.Name)
}`, `Factor
inner.gain
steps.0
Blocks.1.Factor
Blocks.1.inner.gain
Blocks.1.steps.0
heads.left.Factor
heads.left.inner.gain
heads.left.steps.0
pair.0.Factor
pair.0.inner.gain
pair.0.steps.0
pair.1.Factor
pair.1.inner.gain
pair.1.steps.0
`)
}
