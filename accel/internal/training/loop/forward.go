package loop

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/layer"
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
			if fields := layer.NilModules(model); len(fields) > 0 {
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
	if y == nil {
		panic(&tensor.StateError{Op: "Forward", Hint: "the model has returned nil: it must return a tensor"})
	}
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

// missingParameters returns a [*history.MissingParametersError] if a prediction of the model depends on
// parameters that nn.Parameters does not find.
func missingParameters(model nn.Module, prediction *tensor.Tensor) error {
	seen := nn.Parameters(model)
	if shapes := tensors.OtherParameters(prediction, seen); len(shapes) > 0 {
		return &history.MissingParametersError{Shapes: shapes, Found: len(seen)}
	}
	return nil
}

// locatable reports whether locate can find the example that caused an error.
func locatable(err error) bool {
	var index *tensor.IndexError
	var length *nn.LengthError
	var known *data.ExampleError
	return (errors.As(err, &index) || errors.As(err, &length)) && !errors.As(err, &known)
}

// locate returns an error that an index out of range or a sequence that is too long caused, with the
// layer and the example, as a [*data.ExampleError], and other errors unchanged. forward computes what
// failed for a batch. The values of a batch are read after the layers have run, so locate runs the
// model again, in evaluation mode, with halves of the batch until one example is left. set is nil for
// examples that are no data set.
func locate(err error, model nn.Module, set *data.Dataset, b data.Batch, forward func(data.Batch)) error {
	if !locatable(err) || b.Len() == 0 {
		return err
	}
	var index *tensor.IndexError
	var length *nn.LengthError
	name := "the input"
	if set != nil {
		name = set.Name()
	}
	if errors.As(err, &length) { // all sequences of a batch have the length of the longest one
		return &data.ExampleError{Dataset: name, Example: b.Index[b.Longest()], Err: err}
	}
	if set != nil { // the tensors of the batch may be results of ops that were lost with the failure
		read, failed := readAgain(set, b.Index)
		if failed != nil {
			return errors.Join(err, failed)
		}
		b = read
	}
	defer nn.Eval(model)()
	fails := func(from, to int) (err error) {
		defer nn.Catch(&err)
		tensor.NoGrad(func() {
			tensors.FlushScopes(func() { forward(b.Slice(from, to)) })
			tensor.Synchronize()
		})
		return nil
	}
	from, to := 0, b.Len()
	again := fails(from, to)
	if !errors.As(again, &index) {
		return err
	}
	for to-from > 1 {
		middle := (from + to) / 2
		if half := fails(from, middle); errors.As(half, &index) {
			to, again = middle, half
			continue
		}
		half := fails(middle, to)
		if !errors.As(half, &index) { // no example causes it alone
			return again
		}
		from, again = middle, half
	}
	if errors.As(again, &index) {
		index.Element = -1 // it is that of a batch of one example
	}
	return &data.ExampleError{Dataset: name, Example: b.Index[from], Err: again}
}

// readAgain returns a batch of these examples.
func readAgain(set *data.Dataset, examples []int) (b data.Batch, err error) {
	defer nn.Catch(&err)
	part, err := set.Subset(examples)
	if err != nil {
		return b, err
	}
	if b, err = part.Tensors(); err != nil {
		return b, err
	}
	tensor.Flush()
	b.Index = examples
	return b, nil
}
