package ir

// Where computes y = a where the float32 mask is not 0, else b, with broadcasting of all
// three.
type Where struct{}

func (Where) Name() string                 { return "Where" }
func (Where) strided()                     {}
func (Where) typedBy(n int) (from, to int) { return 1, n } // not by the mask

// Class returns Elementwise.
func (Where) Class(in []*Value) Class { return floatClass(in[1].dtype) }

// AppendKey appends nothing.
func (Where) AppendKey(key []byte) []byte { return key }

// Infer returns the broadcast shape.
func (Where) Infer(in []*Value) (Type, error) {
	if err := wantFloat32(in[0]); err != nil {
		return Type{}, err
	}
	if err := wantFloat(in[1:]...); err != nil {
		return Type{}, err
	}
	return inferBroadcast(in, in[1].dtype)
}

// Gradient returns dy for the chosen input, 0 for the other and the mask.
func (Where) Gradient(r *Recorder, in []*Value, _, dy *Value, wants []bool) []*Value {
	zero := r.scalar(0, dy.dtype)
	return append([]*Value{nil}, r.eachGradient(in[1:], wants[1:], func(i int) *Value {
		if i == 0 {
			return r.Record(Where{}, in[0], dy, zero)
		}
		return r.Record(Where{}, in[0], zero, dy)
	})...)
}
