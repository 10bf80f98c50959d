package quantize

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/integer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// metadata is the metadata of a file, stored as JSON under metadataKey.
type metadata struct {
	Version int
	Kind    kind
	Layers  []metadataLayer // quantized layers
	Float   map[string]string
}

type metadataLayer struct {
	Name string
	Fold string   `json:",omitempty"` // name of the folded normalization
	SQNR *float64 `json:",omitempty"` // nil if not measured
}

const (
	metadataKey   = "quern.quantized"
	formatVersion = 1
)

// Suffixes of a weight's name: for its scales [out], and for the scale and zero point [2] of the
// input.
const (
	stepSuffix  = "_step"
	inputSuffix = "_input"
)

// Save writes the model to a safetensors file. For a quantized layer it contains the weight as
// bytes in two's complement (U8 in safetensors), its scales as weight_step, scale and zero
// point of the input as weight_input, and the bias in float32. Everything else is as in
// nn.Save. A BatchNorm that is folded into a layer is not in the file. An existing file is
// replaced completely or not at all.
//
// It returns a [*ChangedError] if the float model has changed.
func (m *Model) Save(path string) (err error) {
	defer nn.Catch(&err)
	q := m.of()
	if err := q.unchanged(); err != nil {
		return err
	}
	n := metadata{Version: formatVersion, Kind: q.kind, Float: map[string]string{}}
	tensors := map[string]*tensor.Tensor{}
	for _, k := range q.originals {
		tensors[k.Name] = k.Tensor
	}
	for _, p := range q.layers {
		if p.quantized == nil {
			n.Float[p.name] = p.reason
			continue
		}
		l := metadataLayer{Name: p.name}
		if !math.IsNaN(p.sqnr) && !math.IsInf(p.sqnr, 0) {
			l.SQNR = &p.sqnr
		}
		b, weight := p.quantized, p.tensorName(p.Names[0])
		raw := make([]byte, len(b.weight))
		for i, v := range b.weight {
			raw[i] = byte(v)
		}
		tensors[weight] = tensor.FromBytes(raw, b.shape...)
		tensors[weight+stepSuffix] = tensor.New(b.step, len(b.step))
		if q.kind == static {
			tensors[weight+inputSuffix] = tensor.New([]float32{b.input.Step, float32(b.input.Zero)}, 2)
		}
		if p.Bias != nil || p.fold != nil {
			tensors[p.tensorName(p.Names[1])] = tensor.New(b.bias, len(b.bias))
		}
		if p.fold != nil {
			l.Fold = p.fold.name
			for _, name := range normalizationNames {
				delete(tensors, p.fold.name+"."+name)
			}
		}
		n.Layers = append(n.Layers, l)
	}
	text, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("quantize: save %s: %w", path, err)
	}
	if err := nn.SaveTensors(path, tensors, map[string]string{metadataKey: string(text)}); err != nil {
		return fmt.Errorf("quantize: %w", err)
	}
	return nil
}

var normalizationNames = [...]string{"weight", "bias", "running_mean", "running_var"}

// Load reads a model written by [Model.Save]. model has the architecture of the float model,
// with or without parameters. It receives the parameters of the file: quantized ones as the
// floats that they represent, and a folded BatchNorm as the identity. If names or shapes
// differ, nothing is loaded.
func Load(path string, model nn.Module) (m *Model, err error) {
	defer nn.Catch(&err)
	if model == nil {
		return nil, fmt.Errorf("quantize: load %s: model is nil", path)
	}
	if err := requireCPU(); err != nil {
		return nil, err
	}
	tensors, notes, err := nn.LoadTensors(path)
	if err != nil {
		return nil, fmt.Errorf("quantize: %w", err)
	}
	wrong := func(format string, args ...any) (*Model, error) {
		return nil, fmt.Errorf("quantize: load %s: %w", path, fmt.Errorf(format, args...))
	}
	var n metadata
	if err := json.Unmarshal([]byte(notes[metadataKey]), &n); err != nil {
		return wrong("it is not a quantized model; read it with nn.Load")
	}
	if n.Version != formatVersion || n.Kind != static && n.Kind != weights {
		return wrong("its format is version %d, kind %q, which this program does not support", n.Version, n.Kind)
	}
	all := quantizables(model)
	norms := normalizations(model)
	tensorNames := map[string]bool{} // names of the model's tensors: a layer may share one under another name
	for _, t := range nn.State(model) {
		tensorNames[t.Name] = true
	}
	for _, p := range all {
		p.reason = n.Float[p.name]
	}
	for _, l := range n.Layers {
		at := slices.IndexFunc(all, func(p *quantizable) bool { return p.name == l.Name })
		if at < 0 {
			return wrong("%w", &UnknownLayerError{Name: l.Name, Known: names(all)})
		}
		if err := all[at].read(tensors, norms, n.Kind, l); err != nil {
			return wrong("layer %s: %w", l.Name, err)
		}
		for i, slot := range []**tensor.Tensor{all[at].Weight, all[at].Bias} {
			if name := all[at].tensorName(all[at].Names[i]); slot != nil && *slot != nil && !tensorNames[name] {
				delete(tensors, name)
			}
		}
	}
	if err := nn.SetState(model, tensors); err != nil {
		return wrong("%w", err)
	}
	return newModel(model, n.Kind, all)
}

func names(all []*quantizable) []string {
	var list []string
	for _, p := range all {
		list = append(list, p.name)
	}
	return list
}

// read reads a layer from a file and sets its float parameters.
func (p *quantizable) read(tensors map[string]*tensor.Tensor, norms map[string]*fold, k kind, l metadataLayer) error {
	take := func(name string, d tensor.DType) (*tensor.Tensor, error) {
		t := tensors[name]
		if t == nil || t.DType() != d {
			return nil, fmt.Errorf("%s is missing or is not of type %v", name, d)
		}
		delete(tensors, name)
		return t, nil
	}
	if p.quantized != nil {
		return fmt.Errorf("the file lists the layer twice")
	}
	name := p.tensorName(p.Names[0])
	weight, err := take(name, tensor.Uint8)
	if err != nil {
		return err
	}
	steps, err := take(name+stepSuffix, tensor.Float32)
	if err != nil {
		return err
	}
	b := &quantizedWeights{shape: weight.Shape(), step: steps.Data()}
	rank := 2
	if p.Image {
		rank = 4
	}
	if len(b.shape) != rank || weight.Numel() == 0 || len(b.step) != b.shape[0] {
		return fmt.Errorf("a weight of shape %v with %d scales does not fit the layer", b.shape, len(b.step))
	}
	depth := weight.Numel() / b.shape[0]
	if depth > integer.MaxDepth {
		return fmt.Errorf("the sum of %d terms per output could overflow int32", depth)
	}
	floats := make([]float32, weight.Numel())
	for i, v := range weight.Raw() {
		b.weight = append(b.weight, int8(v))
		floats[i] = float32(int8(v)) * b.step[i/depth]
	}
	for _, step := range b.step {
		if !(step > 0) || step-step != 0 {
			return fmt.Errorf("a weight scale is %v; scales must be positive and finite", step)
		}
	}
	if k == static {
		input, err := take(name+inputSuffix, tensor.Float32)
		if err != nil {
			return err
		}
		v := input.Data()
		if len(v) != 2 || !(v[0] > 0) || v[0]-v[0] != 0 || !(v[1] >= 0 && v[1] <= 255) || v[1] != roundEven(v[1]) {
			return fmt.Errorf("%v is not a valid scale and zero point of the input", v)
		}
		b.input = integer.Scale{Step: v[0], Zero: uint8(v[1])}
	}
	b.bias = make([]float32, b.shape[0])
	if p.Bias != nil || l.Fold != "" {
		bias, err := take(p.tensorName(p.Names[1]), tensor.Float32)
		if err != nil {
			return err
		}
		if b.bias = bias.Data(); len(b.bias) != b.shape[0] || newSample().add(b.bias) >= 0 {
			return fmt.Errorf("its bias does not have %d finite values", b.shape[0])
		}
	}
	tensors[name] = tensor.New(floats, b.shape...)
	shift := b.bias
	if p.Bias != nil {
		tensors[p.tensorName(p.Names[1])] = tensor.New(b.bias, len(b.bias))
		shift = make([]float32, len(b.bias))
	}
	if l.Fold != "" {
		if p.fold = norms[l.Fold]; p.fold == nil {
			return fmt.Errorf("the model has no normalization %s", l.Fold)
		}
		delete(norms, l.Fold) // it can be folded into only one layer
		p.fold.setIdentity(tensors, shift)
	}
	if p.sqnr = nan; l.SQNR != nil {
		p.sqnr = *l.SQNR
	}
	p.quantized = b
	return nil
}

// setIdentity sets the parameters of a normalization so that it only adds a shift.
func (f *fold) setIdentity(tensors map[string]*tensor.Tensor, shift []float32) {
	n := len(shift)
	for i, t := range []*tensor.Tensor{tensor.Ones(n), tensor.New(shift, n), tensor.Zeros(n), tensor.Full(1-f.Epsilon, n)} {
		tensors[f.name+"."+normalizationNames[i]] = t
	}
}
