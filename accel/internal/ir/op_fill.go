package ir

// Fill is a float32 tensor of one value, which may change from run to run.
type Fill struct {
	noGradient
	Value float64
	Shape []int
}

// Name is Fill.
func (Fill) Name() string { return "Fill" }

// Class of Fill is elementwise, with no input.
func (Fill) Class([]*Value) Class { return Elementwise }

// AppendKey has nothing to add: the shape is part of every key.
func (Fill) AppendKey(key []byte) []byte { return key }

// AppendWords appends the value.
func (o Fill) AppendWords(w []uint64) []uint64 { return append(w, scalarWord(o.Value)) }

// Infer is the shape given.
func (o Fill) Infer([]*Value) (Type, error) { return Type{o.Shape, Float32}, nil }
