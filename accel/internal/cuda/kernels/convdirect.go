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

func (o Conv2D) directLaunches(y, x, w, bias Pointer, relu bool) []Launch {
	plane := o.OH * o.OW
	return []Launch{directForward.launch(real(o.DType), linear(o.N*o.O*plane), directForwardParams{y, x, w, o.images(plane, o.OW), bias, flag(relu)})}
}

func (o Conv2D) directInput(dx, dy, w Pointer) []Launch {
	plane := o.H * o.W
	return []Launch{directInput.launch(real(o.DType), linear(o.N*o.C*plane), directGradientParams{dx, dy, w, o.images(plane, o.W)})}
}

func (o Conv2D) directWeight(dw, x, dy Pointer) []Launch {
	weights := o.O * (o.C / o.Groups) * o.KH * o.KW
	return []Launch{directWeight.launch(real(o.DType), weights, directGradientParams{dw, x, dy, o.images(o.OH*o.OW, o.OW)})}
}
