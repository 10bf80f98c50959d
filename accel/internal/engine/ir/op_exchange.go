package ir

// Exchange is y, the first input, which other processes have taken part in computing from the second
// input, x. No gradient flows into y.
type Exchange struct {
	sameOp // y is an input, so Back is not part of the key
	// Back maps dy, the gradient of y, to that of x. It may record and run lists, and wait for other
	// processes.
	Back func(dy *Value) *Value
}

func (Exchange) Name() string   { return "Exchange" }
func (Exchange) noONNX() string { return "it needs the other processes of a training" }

// Gradient calls Back.
func (o Exchange) Gradient(r *Recorder, _ []*Value, _, dy *Value, wants []bool) []*Value {
	if !wants[1] {
		return nil
	}
	return []*Value{nil, r.across(o.Back, dy)}
}
