package ir

// Permute is y with dimension i of y being dimension Perm[i] of x; a view.
type Permute struct {
	viewOp
	movement
	Perm []int
}

func (Permute) Name() string { return "Permute" }

// AppendKey appends the permutation.
func (o Permute) AppendKey(key []byte) []byte { return appendInts(key, o.Perm...) }

// Infer returns the permuted shape.
func (o Permute) Infer(in []*Value) (Type, error) {
	shape := in[0].shape
	seen := make([]bool, len(shape))
	out := make([]int, len(o.Perm))
	bad := func() (Type, error) {
		return Type{}, &ShapeError{Hint: "the permutation " + FormatShape(o.Perm) + " must name every dimension once"}
	}
	if len(o.Perm) != len(shape) {
		return bad()
	}
	for i, p := range o.Perm {
		if p < 0 || p >= len(shape) || seen[p] {
			return bad()
		}
		seen[p] = true
		out[i] = shape[p]
	}
	return Type{out, in[0].dtype}, nil
}

func (o Permute) view(in Layout) (Layout, bool) {
	return in.permuted(o.Perm), true
}

// Gradient returns dy with the inverse permutation.
func (o Permute) Gradient(r *Recorder, _ []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(Permute{Perm: inverse(o.Perm)}, dy)}
}

// swapLast returns v with the last two dimensions exchanged.
func (r *Recorder) swapLast(v *Value) *Value {
	return r.swap(v, len(v.shape)-2, len(v.shape)-1)
}

func (r *Recorder) swap(v *Value, i, j int) *Value {
	perm := make([]int, len(v.shape))
	for k := range perm {
		perm[k] = k
	}
	perm[i], perm[j] = j, i
	return r.Record(Permute{Perm: perm}, v)
}
