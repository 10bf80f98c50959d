package ir

// Where is y = a where mask is not 0, else b, with broadcasting of all three.
type Where struct{}

// Name is Where.
func (Where) Name() string { return "Where" }

// Class of Where is elementwise.
func (Where) Class([]*Value) Class { return Elementwise }

// AppendKey has nothing to add.
func (Where) AppendKey(key []byte) []byte { return key }

// Infer is the broadcast shape.
func (Where) Infer(in []*Value) (Type, error) {
	if err := wantFloat32(in...); err != nil {
		return Type{}, err
	}
	return inferBroadcast(in, Float32)
}

// Gradient of Where is dy for the chosen input, 0 for the other and the mask.
func (Where) Gradient(r *Recorder, in []*Value, _, dy *Value, wants []bool) []*Value {
	var da, db *Value
	zero := r.Record(Fill{Shape: []int{}})
	if wants[1] {
		da = r.sumTo(r.Record(Where{}, in[0], dy, zero), in[1].shape)
	}
	if wants[2] {
		db = r.sumTo(r.Record(Where{}, in[0], zero, dy), in[2].shape)
	}
	return []*Value{nil, da, db}
}
