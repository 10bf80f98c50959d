package nn

import (
	"reflect"
	"strings"

	"github.com/quernlab/quern/accel/internal/trace"
	"github.com/quernlab/quern/accel/tensor"
)

// Tensor is the tensors that modules compute with.
type Tensor = tensor.Tensor

// Module computes an output from an input, one example a row. A struct with
// this method is a module, whether it is declared in a package or in a cell;
// its parameters are those of its fields.
type Module interface {
	// Forward returns the output for x. It panics with the tensor package's
	// errors, such as *tensor.ShapeError, when x does not fit.
	Forward(x *Tensor) *Tensor
}

// modal is a module that computes differently while it is being trained.
type modal interface {
	setTraining(on bool)
	// mode gives a function that puts the module back into the mode that it is in.
	mode() (restore func())
}

// Train puts a model into training mode, or with false into evaluation mode,
// in which Dropout lets everything pass. New modules are in training mode.
func Train(model any, on bool) {
	nameFor(trace.Active(), model)
	walk(model, func(_ []string, v any) {
		if m, ok := v.(modal); ok {
			m.setTraining(on)
		}
	})
}

// Eval puts a model into evaluation mode; the function that it returns puts
// each of its modules back into the mode that it was in.
func Eval(model any) (restore func()) {
	var undo []func()
	walk(model, func(_ []string, v any) {
		if m, ok := v.(modal); ok {
			undo = append(undo, m.mode())
		}
	})
	Train(model, false)
	return func() {
		for _, f := range undo {
			f()
		}
	}
}

// nameFor tells a profile, if one is being taken, what the parameters of a model
// are called: once, since a model is put into a mode again and again.
func nameFor(c *trace.Collector, model any) {
	if c == nil || reflect.ValueOf(model).Kind() != reflect.Pointer || !c.First(model) {
		return
	}
	for _, p := range NamedParameters(model) {
		p.SetName(p.Name)
	}
}

// Parameter is a parameter and where it is in its model, such as "0.weight".
type Parameter struct {
	Name string
	*Tensor
}

// NamedModule is a module and where it is in a model, such as "0.up".
type NamedModule struct {
	Name string
	Module
}

// NamedModules returns all modules that a model is made of, the model itself first, each
// once, in the order of declaration.
func NamedModules(model any) []NamedModule {
	var found []NamedModule
	walk(model, func(path []string, v any) {
		if m, ok := v.(Module); ok {
			found = append(found, NamedModule{strings.Join(path, "."), m})
		}
	})
	return found
}

// Parameters returns the tensors of a model that training changes: those that
// require a gradient. It finds them in whatever the model is made of: modules,
// structs with exported or private fields, slices, maps, tensors. Each comes
// once, in the order of declaration, even if it is used twice.
//
// A value of a type that was declared in a notebook's cell is looked into even
// where it arrives in a box: through its method Raw() any.
//
// What a function has captured cannot be found: give [Lambda] the modules that
// its function uses.
func Parameters(model any) []*Tensor {
	var found []*Tensor
	walk(model, func(_ []string, v any) {
		if t, ok := v.(*Tensor); ok && t.RequiresGrad() {
			found = append(found, t)
		}
	})
	return found
}

// NamedParameters returns the parameters of a model with their names.
func NamedParameters(model any) []Parameter {
	var found []Parameter
	walk(model, func(path []string, v any) {
		if t, ok := v.(*Tensor); ok && t.RequiresGrad() {
			found = append(found, Parameter{strings.Join(path, "."), t})
		}
	})
	return found
}
