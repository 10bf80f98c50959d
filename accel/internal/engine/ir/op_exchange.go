package ir

// Exchange is y, the first input, which other processes have taken part in computing from the second
// input, x. No gradient flows into y.
type Exchange struct {
	// Back maps dy, the gradient of y, to that of x. It may record and run lists, and wait for other
	// processes.
	Back func(dy *Value) *Value
}

func (Exchange) Name() string   { return "Exchange" }
func (Exchange) noONNX() string { return "it needs the other processes of a training" }

// Class returns View.
func (Exchange) Class([]*Value) Class { return View }

// AppendKey appends nothing: y is an input.
func (Exchange) AppendKey(key []byte) []byte { return key }

func (Exchange) view(in Layout) (Layout, bool) { return in, true }

// Infer returns y's type.
func (Exchange) Infer(in []*Value) (Type, error) { return Type{in[0].shape, in[0].dtype}, nil }

// Gradient calls Back.
func (o Exchange) Gradient(r *Recorder, _ []*Value, _, dy *Value, wants []bool) []*Value {
	if !wants[1] {
		return nil
	}
	return []*Value{nil, r.across(o.Back, dy)}
}
