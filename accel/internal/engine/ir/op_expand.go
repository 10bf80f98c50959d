package ir

// Expand broadcasts x to a shape, as a view.
type Expand struct {
	viewOp
	movement
	Shape []int
}

func (Expand) Name() string { return "Expand" }

// Infer returns the shape given.
func (o Expand) Infer(in []*Value) (Type, error) {
	if s, ok := Broadcast(in[0].shape, o.Shape); !ok || !sameShape(s, o.Shape) {
		return Type{}, &ShapeError{Hint: "cannot be broadcast to " + FormatShape(o.Shape)}
	}
	return Type{o.Shape, in[0].dtype}, nil
}

func (o Expand) view(in Layout) (Layout, bool) { return in.BroadcastTo(o.Shape), true }

// Gradient returns dy summed over the broadcast dimensions.
func (Expand) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.sumTo(dy, in[0].shape)}
}
