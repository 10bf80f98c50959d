package nn

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

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
	for part := range slices.Chunk(values.Data(), 1<<16) {
		for _, v := range part {
			buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(v))
		}
		h.Write(buffer)
		buffer = buffer[:0]
	}
	return hex.EncodeToString(h.Sum(nil))
}
