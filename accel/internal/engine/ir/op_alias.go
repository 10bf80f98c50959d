package ir

// Alias is y = x, the same elements as another value.
type Alias struct{ sameOp }

func (Alias) Name() string { return "Alias" }

// Gradient returns dy.
func (Alias) Gradient(_ *Recorder, _ []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{dy}
}
