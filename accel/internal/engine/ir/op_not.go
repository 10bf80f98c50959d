package ir

// Not computes y = 1 where x is 0, else 0, as float32, elementwise.
type Not struct {
	maskOp
	noGradient
}

func (Not) Name() string     { return "Not" }
func (Not) Formula() Formula { return Apply(Eq{}, X, Constant(0)) }

// maskOp is embedded by ops on masks: float32 inputs in which only 0 counts as false.
type maskOp struct{}

func (maskOp) typedBy(int) (from, to int)  { return 0, 0 }
func (maskOp) Class([]*Value) Class        { return Elementwise }
func (maskOp) AppendKey(key []byte) []byte { return key }
func (maskOp) Infer(in []*Value) (Type, error) {
	if err := wantFloat32(in...); err != nil {
		return Type{}, err
	}
	return inferBroadcast(in, Float32)
}
