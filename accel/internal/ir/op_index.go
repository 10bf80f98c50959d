package ir

// Index converts x from int64 to int32, where the elements of x index something of Size
// elements. The run of the list ends with an *IndexError if one is outside of 0..Size-1.
type Index struct {
	wholeOp
	noGradient
	Size int
	For  string // the op that uses the index, for the error
}

func (Index) Name() string { return "Index" }

// AppendKey appends the size and the op.
func (o Index) AppendKey(key []byte) []byte {
	return append(appendInts(key, o.Size, len(o.For)), o.For...)
}

// Infer returns x's shape, int32.
func (Index) Infer(in []*Value) (Type, error) {
	if in[0].dtype != Int64 {
		return Type{}, &DTypeError{Hint: "the index must be int64"}
	}
	return Type{in[0].shape, Int32}, nil
}
