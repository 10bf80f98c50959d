package cells

import "testing"

// Parts of a model that is declared in a cell can be replaced: by names, tags and indices, below fields
// and embedded structs whose types are also declared in cells.
func TestReplaceInCells(t *testing.T) {
	n := newNotebook(t)
	n.want(`
type block struct {
	Layers []nn.Module
	hidden nn.Module
}
func (b *block) Forward(x *nn.Tensor) *nn.Tensor { return b.Layers[0].Forward(b.hidden.Forward(x)) }
type Base struct{ Inner *block }
type net struct {
	Base
	Head nn.Module `+"`nn:\"fc.last\"`"+`
}
func (n *net) Forward(x *nn.Tensor) *nn.Tensor { return n.Head.Forward(n.Inner.Forward(x)) }
model := &net{Base{&block{[]nn.Module{nn.Dense(5)}, nn.Dense(4)}}, nn.Dense(10)}
name, err := nn.ReplaceHead(model, nn.Dense(3))
fmt.Println(name, err, model.Head.Forward(tensor.Zeros(2, 5)).Shape())`, "fc.last <nil> [2 3]")
	n.want(`
err = nn.Replace(model, "Inner.Layers.0", nn.Sequential(nn.Dense(5), nn.Tanh()))
fmt.Println(err, model.Inner.Forward(tensor.Zeros(2, 5)).Shape(), model.Forward(tensor.Zeros(2, 5)).Shape())`, "<nil> [2 5] [2 3]")
	n.want(`
err = nn.Replace(model, "Inner", &block{[]nn.Module{nn.Dense(5)}, nn.Dense(6)})
fmt.Println(err, model.Inner.hidden.Forward(tensor.Zeros(2, 5)).Shape())`, "<nil> [2 6]")
	n.want(`
err = nn.Replace(model, "Inner", nn.ReLU())
fmt.Println(err)`, `"Inner" is `)
	n.want(`
err = nn.Replace(model, "Inner.hidden", nn.ReLU())
fmt.Println(err)`, `"Inner.hidden" is not in the model, or is in a field that is not exported`)
}
