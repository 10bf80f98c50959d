package nn

import (
	"reflect"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/accel/tensor"
)

// Tensor is the type of tensors.
type Tensor = tensor.Tensor

// Module computes an output from an input, whose first dimension is the batch. A struct with
// this method is a module, whether it is declared in a package or in a cell; its parameters are
// those of its fields.
type Module interface {
	// Forward returns the output for x. If x is not a valid input, it panics with an error of
	// package tensor, such as *tensor.ShapeError.
	Forward(x *Tensor) *Tensor
}

// modeSetter is a module that computes differently in training mode.
type modeSetter interface {
	setTraining(on bool)
	// saveMode returns a function that restores the current mode.
	saveMode() (restore func())
}

// Train puts a model into training mode or, if on is false, into evaluation mode, in which for
// instance Dropout does nothing. New modules are in training mode.
func Train(model any, on bool) {
	nameFor(trace.Active(), model)
	walk(model, func(_ []string, v any) {
		if m, ok := v.(modeSetter); ok {
			m.setTraining(on)
		}
	})
}

// Eval puts a model into evaluation mode. The function that it returns restores the previous
// mode of each module.
func Eval(model any) (restore func()) {
	var undo []func()
	walk(model, func(_ []string, v any) {
		if m, ok := v.(modeSetter); ok {
			undo = append(undo, m.saveMode())
		}
	})
	Train(model, false)
	return func() {
		for _, f := range undo {
			f()
		}
	}
}

// nameFor passes the names of a model's parameters to the active profile, if any; once, since
// modes are set again and again.
func nameFor(c *trace.Collector, model any) {
	if c == nil || reflect.ValueOf(model).Kind() != reflect.Pointer || !c.First(model) {
		return
	}
	for _, p := range NamedParameters(model) {
		tensors.SetName(p.Tensor, p.Name)
	}
}

// Parameter is a parameter with its name in the model, such as "0.weight".
type Parameter struct {
	Name string // unique in the model
	*Tensor
}

// NamedModule is a module with its name in the model, such as "0.up".
type NamedModule struct {
	Name string // unique in the model
	Module
}

// NamedModules returns all modules of a model, each once, in the order of declaration. The
// model itself comes first.
func NamedModules(model any) []NamedModule {
	var found []NamedModule
	walk(model, func(path []string, v any) {
		if m, ok := v.(Module); ok {
			found = append(found, NamedModule{strings.Join(path, "."), m})
		}
	})
	return found
}

// Parameters returns the tensors of a model that training updates: those that require a
// gradient. It finds them in modules, structs with exported or unexported fields, slices, maps,
// and tensors. Each tensor is returned once, in the order of declaration.
//
// Parameters cannot look into functions: pass the modules that a function calls to [Lambda].
func Parameters(model any) []*Tensor {
	var found []*Tensor
	walk(model, func(_ []string, v any) {
		if t, ok := v.(*Tensor); ok && t.RequiresGrad() {
			found = append(found, t)
		}
	})
	return found
}

// NamedParameters returns the parameters of a model with their names: the names of the fields from
// the model to the parameter and the indices in slices and chains, with dots between them. A struct
// tag gives a field another name, such as that of a file of PyTorch:
//
//	type block struct {
//		Attention nn.Module `nn:"self_attn"`
//	}
//
// Embedded fields, and fields with the tag `nn:""`, add no name of their own.
func NamedParameters(model any) []Parameter {
	var found []Parameter
	walk(model, func(path []string, v any) {
		if t, ok := v.(*Tensor); ok && t.RequiresGrad() {
			found = append(found, Parameter{strings.Join(path, "."), t})
		}
	})
	return found
}
