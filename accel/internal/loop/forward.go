package loop

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Forward calls the model for a batch. If it fails because a module in one of its fields is nil, the
// panic names the field instead of an address.
func Forward(model nn.Module, b data.Batch) (y *tensor.Tensor) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if isNilCall(p) {
			if fields := nn.NilModules(model); len(fields) > 0 {
				hint := fmt.Sprintf("the model uses a module that is nil: create %s before the model is used", strings.Join(fields, " or "))
				if fields[0] == "" {
					hint = "the model is nil: create it first"
				}
				panic(&tensor.StateError{Op: "Forward", Hint: hint})
			}
		}
		panic(p)
	}()
	b.WithLengths(func() { y = model.Forward(b.X) })
	return y
}

// isNilCall reports whether a panic is that of a method called on nil, in compiled code or by the
// interpreter, which calls methods through package reflect.
func isNilCall(p any) bool {
	var null runtime.Error
	if err, ok := p.(error); ok && errors.As(err, &null) {
		return strings.Contains(null.Error(), "nil pointer dereference")
	}
	return p == "reflect: Method on nil interface value"
}
