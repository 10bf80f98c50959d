package kernels

type directForwardParams struct {
	Y, X, W Pointer
	Images  images
	Bias    Pointer
	ReLU    uint32
}

type directGradientParams struct {
	DX, A, B Pointer
	Images   images
}

var (
	directForward = declare[directForwardParams]("convdirect", "convdirect_forward", reals, 256)
	directInput   = declare[directGradientParams]("convdirect", "convdirect_input", reals, 256)
	directWeight  = declare[directGradientParams]("convdirect", "convdirect_weight", reals, 256)
)

// direct reports whether the groups are too small for matrix multiplication.
func (o Conv2D) direct() bool {
	return o.Groups > 1 && o.O/o.Groups <= 4 && o.C/o.Groups <= 4
}

func (o Conv2D) directLaunch(kind ConvKind, c convolution, y, a, b, bias Pointer, relu bool) Launch {
	v := real(o.DType)
	switch kind {
	case ConvForward:
		return directForward.launch(v, linear(c.size()), directForwardParams{y, a, b, c.images, bias, flag(relu)})
	case ConvInput:
		return directInput.launch(v, linear(c.size()), directGradientParams{y, a, b, c.images})
	}
	return directWeight.launch(v, c.size(), directGradientParams{y, a, b, c.images})
}
