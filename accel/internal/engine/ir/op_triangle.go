package ir

// Triangle is x [B…, M, N] with 0 for the elements of each matrix below a diagonal, or above it.
// The diagonal is Diagonal columns to the right of the main one. It has no composition and is one of those ops of which
// others consist, since [Where] computes only floats and a triangle has any element type.
type Triangle struct {
	wholeOp
	movement
	Diagonal int
	Upper    bool // keeps the elements on the diagonal and to the right of it, otherwise those to the left
}

func (Triangle) Name() string { return "Triangle" }

func (o Triangle) onnx() Operator {
	upper := 0
	if o.Upper {
		upper = 1
	}
	return Operator{"Trilu", []Attribute{{"upper", upper}}, []any{o.Diagonal}}
}

// AppendKey appends the diagonal and the side.
func (o Triangle) AppendKey(key []byte) []byte {
	return appendFlag(appendInts(key, o.Diagonal), o.Upper)
}

// Infer returns the input's type.
func (o Triangle) Infer(in []*Value) (Type, error) {
	if len(in[0].shape) < 2 {
		return Type{}, &ShapeError{Hint: "at least two dimensions are needed"}
	}
	return Type{in[0].shape, in[0].dtype}, nil
}

// Kept returns the columns from:to of row i of a matrix of n columns that are not set to 0.
func (o Triangle) Kept(i, n int) (from, to int) {
	at := i + max(min(o.Diagonal, n), -i-1) // does not overflow
	if o.Upper {
		return min(max(at, 0), n), n
	}
	return 0, min(at+1, n)
}

// Gradient returns the same elements of dy.
func (o Triangle) Gradient(r *Recorder, _ []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(o, dy)}
}
