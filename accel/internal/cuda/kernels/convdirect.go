package kernels

import "github.com/quernlab/quern/accel/internal/tensortype"

type directForwardParams struct {
	Y, X, W        Pointer
	Images         images
	Bias           Pointer
	ReLU, Output16 uint32
}

type directGradientParams struct {
	DX, A, B Pointer
	Images   images
	Output16 uint32
}

var directTypes = []string{"f32", "f64", "bf16", "f16"}

var (
	directForward = declare[directForwardParams]("convdirect", "convdirect_forward", directTypes, 256)
	directInput   = declare[directGradientParams]("convdirect", "convdirect_input", directTypes, 256)
	directWeight  = declare[directGradientParams]("convdirect", "convdirect_weight", directTypes, 256)
)

// direct reports whether the groups are too small for matrix multiplication.
func (o Conv2D) direct() bool {
	return o.Groups > 1 && o.O/o.Groups <= 4 && o.C/o.Groups <= 4
}

// directType returns the variant for a type of images.
func directType(d tensortype.DType) string {
	if d.Is16Bit() {
		return tensorType(d)
	}
	return real(d)
}

func (o Conv2D) directLaunches(y, x, w, bias Pointer, relu, output16 bool) []Launch {
	plane := o.OH * o.OW
	return []Launch{directForward.launch(directType(o.DType), linear(o.N*o.O*plane), directForwardParams{y, x, w, o.images(plane, o.OW), bias, flag(relu), flag(output16)})}
}

func (o Conv2D) directInput(dx, dy, w Pointer, output16 bool) []Launch {
	plane := o.H * o.W
	return []Launch{directInput.launch(directType(o.DType), linear(o.N*o.C*plane), directGradientParams{dx, dy, w, o.images(plane, o.W), flag(output16)})}
}

func (o Conv2D) directWeight(dw, x, dy Pointer, output16 bool) []Launch {
	weights := o.O * (o.C / o.Groups) * o.KH * o.KW
	return []Launch{directWeight.launch(directType(o.DType), weights, directGradientParams{dw, x, dy, o.images(o.OH*o.OW, o.OW), flag(output16)})}
}
