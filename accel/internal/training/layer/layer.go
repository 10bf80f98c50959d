// Package layer declares the types by which layers of package nn describe themselves to
// packages that change models, such as quantize and prune.
package layer

import (
	"fmt"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/tensor"
)

// Described is a layer that describes itself by one of the types of this package.
type Described interface{ Layer() any }

// Of returns the description of a module, or nil if it has none.
func Of(m any) any {
	if d, ok := m.(Described); ok {
		return d.Layer()
	}
	return nil
}

// Name returns a module as Go code, or its type without the pointer and package main.
func Name(m any) string {
	if s, ok := m.(fmt.Stringer); ok {
		return s.String()
	}
	return strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", m), "*"), "main.")
}

// MatMul is a layer that multiplies its input by a weight: a linear layer or a
// convolution.
type MatMul struct {
	Names        [2]string       // names of the weight and the bias in the layer
	Weight, Bias **tensor.Tensor // Bias is nil for a layer without a bias
	Image        bool            // a convolution of images [N, C, H, W]
	Window       tensor.Window
	// SetOut sets the number of output features or channels. It is nil if that number
	// cannot change.
	SetOut func(n int)
	// SetGroups sets the number of groups of a convolution.
	SetGroups func(n int)
}

// Forward computes the layer.
func (p MatMul) Forward(x *tensor.Tensor) *tensor.Tensor {
	var bias *tensor.Tensor
	if p.Bias != nil {
		bias = *p.Bias
	}
	if p.Image {
		return tensor.Conv2D(x, *p.Weight, bias, p.Window)
	}
	return tensor.Linear(x, *p.Weight, bias)
}

// Normalization is a batch normalization in evaluation mode:
// (x - Mean)/√(Variance + Epsilon)·Weight + Bias for each channel.
type Normalization struct {
	Weight, Bias, Mean, Variance **tensor.Tensor
	Epsilon                      float64
}

// ReLU is max(x, 0).
type ReLU struct{}

// Elementwise is any other elementwise function.
type Elementwise struct{}

// MaxPool is the maximum of each window.
type MaxPool struct {
	Size   int
	Window tensor.Window
}

// Channelwise is any other layer that computes each channel of an image separately and
// does not change the number of channels.
type Channelwise struct {
	Pooled bool // the output has one element for each channel
}

// Flatten joins all dimensions after the first.
type Flatten struct{}

// Dropout returns its input in evaluation mode.
type Dropout struct{}

// Synchronized is a layer that can compute batch statistics over all ranks of a training,
// as a synchronized batch normalization does.
type Synchronized interface {
	// OverRanks reports whether the layer should do so if there are several ranks.
	OverRanks() bool
	// Synchronize makes the layer sum its statistics over the ranks by through; nil makes
	// it use its own batch only.
	Synchronize(through tensors.ProcessGroup[*tensor.Tensor])
}

// Shortcut is x + f(x), where f is a chain.
type Shortcut struct{ Chain any }

// Models is what package nn does for other packages of accel and not for users. Package nn provides it once, as package
// tensor provides package tensors.
type Models struct {
	NilModules     func(model any) (paths []string)
	RetainsNothing func(module any) bool
	SharedMetadata func(model any) any
}

var models Models

// Provide is called by package nn when it is initialized.
func Provide(m Models) { models = m }

// NilModules returns the paths of the fields of a model that hold modules and are nil, such as
// "Head". They may be nil on purpose, if Forward does not use them.
func NilModules(model any) (paths []string) { return models.NilModules(model) }

// RetainsNothing reports whether a module keeps no reference to its input and output, so that the
// caller of Forward may release them when it has used them. The layers of package nn keep none. A
// module of another package may keep references, unless it has a method RetainsNothing() bool that
// returns true.
func RetainsNothing(module any) bool { return models.RetainsNothing(module) }

// SharedMetadata returns the metadata that all tensors of a model have, of a type that nn.Save
// writes to files: one with a method FileNotes() map[string]string. It is nil if some tensors have
// none or another one.
func SharedMetadata(model any) any { return models.SharedMetadata(model) }

// FileNotes are the notes in the metadata of a safetensors file. nn.Load attaches them to the
// tensors of a model (tensors.SetMetadata), and nn.Save writes them again.
type FileNotes struct {
	Notes map[string]string // by their keys
}

// FileNotes returns the notes.
func (n *FileNotes) FileNotes() map[string]string { return n.Notes }

// Partition is a layer's part in tensor parallelism: each of Size ranks computes with the outputs of
// some columns of its weights, or adds up what it computes from some rows. Package parallel makes it.
type Partition struct {
	Rank, Size int
	// Rows makes a linear layer divide its inputs; otherwise it divides its outputs.
	Rows bool
	// Copy returns x, which all ranks have, for their different parts; its gradient is the sum of
	// those of all ranks. It is nil if the layer around this one does that.
	Copy func(x *tensor.Tensor) *tensor.Tensor
	// Sum returns the sum of x over all ranks, and passes its gradient on.
	Sum func(x *tensor.Tensor) *tensor.Tensor
}

// Partitioned is a layer that ranks can divide.
type Partitioned interface {
	// Partition makes the layer compute a part, once it has parameters. The caller replaces the
	// tensors by the rank's part of each.
	Partition(p *Partition) ([]Divided, error)
}

// Vocabulary is a layer of which each rank can have the weights of some of the tokens.
type Vocabulary interface {
	Partitioned
	// DividesVocabulary reports whether the layer computes logits: those of the rank's tokens, once it is divided.
	DividesVocabulary() (logits bool)
}

// Own finds out which indices, below n, belong to this rank: of n numbers, rank r has those from r·n/Size on. It returns
// a mask, the indices counted from the rank's first one, with 0 for those of other ranks, and zeros, all of the shape of index. keep
// gets what is temporary. An index of n or above, or below 0, is a *tensor.IndexError.
func (p *Partition) Own(keep func(*tensor.Tensor) *tensor.Tensor, index *tensor.Tensor, n int) (mine, local, zero *tensor.Tensor) {
	each := n / p.Size
	zero = keep(keep(tensor.Zeros(n)).IndexSelect(index)) // checks the indices
	at := keep(keep(index.Cast(tensor.Float32)).AddScalar(-float64(p.Rank * each)))
	mine = keep(keep(at.GreaterScalar(-1)).And(keep(at.LessScalar(float64(each)))))
	return mine, keep(keep(tensor.Where(mine, at, zero)).Cast(tensor.Int32)), zero
}

// Varied is a layer that draws random numbers. Between the parts of a divided layer each rank must draw others.
type Varied interface {
	// Vary makes the layer draw the random numbers of a rank; 0 is the default.
	Vary(rank int)
}

// Divided is a tensor of a layer, of which each rank has a part: that of each of Blocks blocks of
// equal size along a dimension.
type Divided struct {
	At        **tensor.Tensor
	Dimension int
	Blocks    int
}

// Shared is a module that computes with another model, of whose parameters it has a part: that of several ranks. Its modes are those of
// the model.
type Shared interface{ Shares() Shares }

// Shares is the model of a Shared.
type Shares struct{ Model any }
