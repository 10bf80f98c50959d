package nn

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/tensor"
)

// Adapter is a trained change of low rank of a weight, which [LoRA] adds to a layer. Names and shapes
// are those of Hugging Face's PEFT.
type Adapter struct {
	A     *Tensor `nn:"lora_A.weight"` // [rank, in], of a convolution [rank, in, k, k]
	B     *Tensor `nn:"lora_B.weight"` // [out, rank], of a convolution [out, rank, 1, 1]
	scale float64
}

type adapter = Adapter // for embedding without an exported field

// Change returns scale · x·Aᵀ·Bᵀ, what the adapter adds to a linear layer's output for x [… in].
func (a *Adapter) Change(x *Tensor) *Tensor {
	var s scratch
	defer s.release()
	return a.changeOf(&s, x, a.B)
}

// changeOf is Change for some rows of B.
func (a *Adapter) changeOf(s *scratch, x, rows *Tensor) *Tensor {
	return s.keep(tensor.Linear(s.keep(tensor.Linear(x, a.A, nil)), rows, nil)).MulScalar(a.scale)
}

// convolve returns what the adapter adds to the output of a convolution for images x.
func (a *Adapter) convolve(s *scratch, x *Tensor, w tensor.Window) *Tensor {
	inner := s.keep(tensor.Conv2D(x, a.A, nil, w))
	return s.keep(tensor.Conv2D(inner, a.B, nil, tensor.Window{})).MulScalar(a.scale)
}

// Adapted is a weight that [LoRA] can adapt.
type Adapted struct {
	// Weight is nil before the first input. It is [out, in], or [out, in, k, k] for a convolution.
	Weight *Tensor
	// Transposed says that Weight is [in, out].
	Transposed bool
	// Adapter is the layer's field for the adapter, which is nil without one.
	Adapter **Adapter
	// Problem is why the layer cannot be adapted; "" if it can.
	Problem string
}

// Adaptable is a layer that [LoRA] can adapt. It adds the adapter's change to its output.
type Adaptable interface {
	// Adapted returns the weight and the place of the adapter.
	Adapted() Adapted
}

// Adapted returns the weight.
func (l *DenseLayer) Adapted() Adapted { return Adapted{Weight: l.Weight, Adapter: &l.adapter} }

// Adapted returns the weight of the projection to queries, keys and values. That of the outputs is a
// [DenseLayer] of its own.
func (a *MultiHeadAttentionLayer) Adapted() Adapted {
	return Adapted{Weight: a.inProjWeight, Adapter: &a.adapter}
}

// Adapted returns the weight. Convolutions with groups cannot be adapted.
func (c *Conv2DLayer) Adapted() Adapted {
	a := Adapted{Weight: c.Weight, Adapter: &c.adapter}
	if c.window.Groups > 1 {
		a.Problem = "its convolution has groups"
	}
	return a
}

// make creates an adapter for a weight.
func (a Adapted) make(rank int, alpha float64) {
	shape := a.Weight.Shape()
	out, in := shape[0], shape[1]
	if a.Transposed {
		out, in = in, out
	}
	down, up, inputs := []int{rank, in}, []int{out, rank}, in
	if len(shape) == 4 {
		down, up = append(down, shape[2:]...), append(up, 1, 1)
		inputs *= shape[2] * shape[3]
	}
	*a.Adapter = &Adapter{A: uniform(inputs, true, down...), B: tensor.Parameter(tensor.Zeros(up...)), scale: alpha / float64(rank)}
}

// merge adds the change to the weight.
func (a Adapted) merge() {
	c := *a.Adapter
	if c == nil {
		return
	}
	var s scratch
	defer s.release()
	up, down := s.keep(c.B.Reshape(c.B.Size(0), c.B.Size(1))), s.keep(c.A.Reshape(c.A.Size(0), c.A.Numel()/c.A.Size(0)))
	change := s.keep(s.keep(up.MatMul(down)).MulScalar(c.scale))
	if a.Transposed {
		change = s.keep(change.T())
	}
	sum := a.Weight.Add(s.keep(change.Reshape(a.Weight.Shape()...)))
	if d := a.Weight.DType(); sum.DType() != d { // 16-bit weights and float32 changes
		sum = s.keep(sum).Cast(d)
	}
	a.Weight.Assign(sum)
}

// LoRALayers are the layers of a model that [LoRA] adapts.
type LoRALayers struct {
	frozen *Frozen
	layers []Adaptable
	names  []string
}

// LoRA freezes a model and adds to each layer with a matching name a trained change of low rank (Hu et
// al., 2021), which needs far less memory for gradients and for the state of the optimizer than
// training all weights:
//
//	y = x·Wᵀ + b + alpha/rank · (x·Aᵀ)·Bᵀ
//
// A [rank, in] starts uniform in ±1/√in and B [out, rank] at zero, so the model computes the same at
// first. Of a convolution, A is a convolution to rank channels, and B one of single pixels. Their names
// are those of Hugging Face's PEFT, such as "q_proj.lora_A.weight". It adapts [Dense] layers, the
// projections of attention layers, where the name of a [MultiHeadAttention] stands for that to queries,
// keys and values, [Conv2D] without groups, the linear layers of package models, and what else is
// [Adaptable]. Patterns are those of [path.Match] for names of modules, where * stands for any
// characters; none stands for all layers but convolutions. The layers must have their weights, from a
// file or a first input. An error is a *tensor.StateError, and then nothing has changed.
func LoRA(model any, rank int, alpha float64, patterns ...string) (*LoRALayers, error) {
	if rank < 1 {
		return nil, noLoRA("the rank %d must be at least 1", rank)
	}
	for _, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, noLoRA("the pattern %q is malformed", pattern)
		}
	}
	used := make([]bool, len(patterns))
	l, err := adaptable(model, func(name string, layer Adaptable) bool {
		_, image := layer.(*Conv2DLayer)
		matches := len(patterns) == 0 && !image
		for i, pattern := range patterns {
			if ok, _ := path.Match(pattern, name); ok {
				matches, used[i] = true, true
			}
		}
		return matches
	})
	for i, pattern := range patterns {
		if err == nil && !used[i] {
			err = noLoRA("%q matches no layer that can be adapted: nn.NamedModules lists names", pattern)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(l.layers) == 0:
		return nil, noLoRA("the model has no layer that can be adapted without a pattern")
	}
	l.add(model, rank, alpha)
	return l, nil
}

// adaptable returns the layers of a model for which matches is true, which have no adapters yet.
func adaptable(model any, matches func(name string, layer Adaptable) bool) (l *LoRALayers, err error) {
	l = &LoRALayers{}
	walk(model, func(at []string, v any) {
		layer, ok := v.(Adaptable)
		name := strings.Join(at, ".")
		if !ok || err != nil || !matches(name, layer) {
			return
		}
		switch a := layer.Adapted(); {
		case a.Weight == nil:
			err = noLoRA("%s has no weight yet: load the model or run an input through it first", name)
		case *a.Adapter != nil:
			err = noLoRA("%s is adapted already", name)
		case a.Problem != "":
			err = noLoRA("%s cannot be adapted: %s", name, a.Problem)
		}
		l.layers, l.names = append(l.layers, layer), append(l.names, name)
	})
	return l, err
}

// add freezes the model and adds the adapters.
func (l *LoRALayers) add(model any, rank int, alpha float64) {
	l.frozen = Freeze(model)
	for _, layer := range l.layers {
		layer.Adapted().make(rank, alpha)
	}
}

func noLoRA(format string, a ...any) error {
	return &tensor.StateError{Op: "LoRA", Hint: fmt.Sprintf(format, a...)}
}

// Merge adds the changes to the weights, removes them, and thaws the model, which computes the same
// afterwards.
func (l *LoRALayers) Merge() {
	tensor.NoGrad(func() {
		for _, layer := range l.layers {
			layer.Adapted().merge()
		}
		tensor.Flush()
	})
	l.Remove()
}

// Remove removes the changes and thaws the model.
func (l *LoRALayers) Remove() {
	for _, layer := range l.layers {
		*layer.Adapted().Adapter = nil
	}
	l.frozen.Thaw()
}

// String returns the number of layers.
func (l *LoRALayers) String() string { return fmt.Sprintf("LoRA of %d layers", len(l.layers)) }

// loraNote is the key of adapterFile in the notes of a file.
const loraNote = "quern.lora"

// adapterFile is what a file of adapters says of them and of the model that they were trained with.
type adapterFile struct {
	Rank  int     `json:"rank"`
	Alpha float64 `json:"alpha"`
	// Layers has a checksum of the weight of each adapted layer by its name.
	Layers map[string]string `json:"layers"`
}

// Save writes the adapters to a safetensors file, without the weights of the model, but with their
// checksums. [LoadLoRA] reads it. The tensors are named as in the file of [Save], and the file is
// replaced atomically.
func (l *LoRALayers) Save(path string) error {
	tensors := map[string]*Tensor{}
	file := adapterFile{Layers: map[string]string{}}
	for i, layer := range l.layers {
		a := layer.Adapted()
		c := *a.Adapter
		if c == nil {
			return fmt.Errorf("nn: save %s: %w", path, noLoRA("the adapters were merged or removed"))
		}
		file.Rank = c.A.Size(0)
		file.Alpha = c.scale * float64(file.Rank)
		file.Layers[l.names[i]] = checksum(a.Weight)
		at := []string{l.names[i]}
		if l.names[i] == "" {
			at = nil
		}
		tensors[join(at, "lora_A.weight")], tensors[join(at, "lora_B.weight")] = c.A, c.B
	}
	text, err := json.Marshal(file)
	if err != nil {
		return fmt.Errorf("nn: save %s: %w", path, err)
	}
	return SaveTensors(path, tensors, map[string]string{loraNote: string(text)})
}

// LoadLoRA adds the adapters of a file that [LoRALayers.Save] has written to the model that they were
// trained with, as [LoRA] does. That a layer is missing, or has other weights than in that training, is
// an error, and then nothing has changed. Adapters of PEFT are read with LoRA, then [Load] with [Rename]
// and [Partial].
func LoadLoRA(path string, model any) (l *LoRALayers, err error) {
	defer Catch(&err)
	fail := func(err error) (*LoRALayers, error) { return nil, fmt.Errorf("nn: load %s: %w", path, err) }
	tensors, notes, err := LoadTensors(path)
	if err != nil {
		return nil, err
	}
	var file adapterFile
	switch text, ok := notes[loraNote]; {
	case !ok:
		return fail(noLoRA("the file has no adapters of LoRALayers.Save: use nn.Load for the weights of a model"))
	case json.Unmarshal([]byte(text), &file) != nil || file.Rank < 1:
		return fail(noLoRA("the metadata %s is damaged", loraNote))
	}
	l, err = adaptable(model, func(name string, _ Adaptable) bool { return file.Layers[name] != "" })
	if err != nil {
		return fail(err)
	}
	for name := range file.Layers {
		if !slices.Contains(l.names, name) {
			return fail(noLoRA("the model has no layer %s that can be adapted", name))
		}
	}
	for i, layer := range l.layers {
		if got := checksum(layer.Adapted().Weight); got != file.Layers[l.names[i]] {
			return fail(noLoRA("the weights of %s differ from those that the adapters were trained with", l.names[i]))
		}
	}
	shapes := map[string][]int{}
	for name, t := range tensors {
		shapes[name] = t.Shape()
	}
	l.add(model, file.Rank, file.Alpha)
	report, err := setState(model, shapes, true, func(name string) (*Tensor, error) { return tensors[name], nil })
	if n := 2 * len(l.layers); err == nil && (len(report.Loaded) != n || len(tensors) != n) {
		err = noLoRA("the file has not exactly the tensors of %d adapters: %v", len(l.layers), &report)
	}
	if err != nil {
		l.Remove()
		return fail(err)
	}
	return l, nil
}

// checksum returns the SHA-256 of the shape and of the values as float32, so that a model has the same
// one after 16-bit weights were converted to float32.
func checksum(t *Tensor) string {
	h := sha256.New()
	var buffer []byte
	for _, n := range t.Shape() {
		buffer = binary.LittleEndian.AppendUint64(buffer, uint64(n))
	}
	values := t
	if t.DType() != tensor.Float32 {
		values = t.Cast(tensor.Float32)
		defer values.Release()
	}
	h.Write(buffer)
	h.Write(rawMemory(values))
	return hex.EncodeToString(h.Sum(nil))
}
