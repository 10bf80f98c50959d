package ir

// Index converts x from int64 to int32, where the elements of x index something of Size
// elements. The run of the list ends with an *IndexError if one is outside of 0..Size-1. The
// error adds From to the index and the size. It has no composition: no other op fails.
type Index struct {
	wholeOp
	noGradient
	From int
	Size int
	For  string // the op that uses the index, for the error
}

func (Index) Name() string { return "Index" }

// AppendKey appends the range and the op.
func (o Index) AppendKey(key []byte) []byte {
	return append(appendInts(key, o.From, o.Size, len(o.For)), o.For...)
}

// Error returns the error of an element.
func (o Index) Error(value, element int) *IndexError {
	return &IndexError{Op: o.For, Index: value + o.From, Element: element, From: o.From, Size: o.Size + o.From}
}

// Infer returns x's shape, int32.
func (Index) Infer(in []*Value) (Type, error) {
	if in[0].dtype != Int64 {
		return Type{}, &DTypeError{Hint: "the index must be int64: index.Cast(tensor.Int64) converts it"}
	}
	return Type{in[0].shape, Int32}, nil
}
