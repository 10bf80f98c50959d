package library

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/vm"
)

// kernelPackage is the key of the package whose function Compile takes the source of a function, and compiles it for a GPU.
const kernelPackage = "github.com/quernlab/quern/accel/kernel/kernel"

// kernels passes the source of functions of cells to package kernel, and ends its kernels when their cell is interrupted.
type kernels struct {
	tracebacks   Tracebacks
	declarations Declarations
	contexts     *contexts
	functions    map[string]reflect.Value // of the package
}

// wrap makes kernel.Compile accept a function of a cell: it passes what kernel.Source returns for the function instead.
func (k *kernels) wrap(packages Packages) {
	k.functions = packages[kernelPackage]
	compile, source := packages[kernelPackage]["Compile"], packages[kernelPackage]["Source"]
	if !compile.IsValid() || !source.IsValid() {
		return
	}
	k.interrupt(packages, compile.Type().Out(0))
	k.interruptOps(packages)
	packages[kernelPackage]["Compile"] = reflect.MakeFunc(compile.Type(), func(args []reflect.Value) []reflect.Value {
		if f := args[0].Elem(); f.IsValid() && f.Kind() == reflect.Func {
			text, name, err := k.source(f)
			if err != nil {
				return []reflect.Value{reflect.Zero(compile.Type().Out(0)), reflect.ValueOf(&err).Elem()}
			}
			args[0] = source.Call([]reflect.Value{reflect.ValueOf(text), reflect.ValueOf(name)})[0]
		}
		return compile.CallSlice(args)
	})
}

// interrupt makes cells call LaunchContext and CheckContext, which end with their cell, instead of Launch and Check.
func (k *kernels) interrupt(packages Packages, kernel reflect.Type) {
	functions := packages[kernelPackage]
	if launch, ok := kernel.MethodByName("Launch"); ok {
		if with, ok := kernel.MethodByName("LaunchContext"); ok {
			name := fmt.Sprintf("(*%s.%s).Launch", kernel.Elem().PkgPath(), kernel.Elem().Name())
			packages[rt.Methods][name] = withBackground(launch.Func.Type(), k.contexts.pass(with.Func, 1), 1)
		}
	}
	if check, with := functions["Check"], functions["CheckContext"]; check.IsValid() && with.IsValid() {
		functions["Check"] = withBackground(check.Type(), with, 0)
	}
}

// interruptOps makes kernel.Op return operations that end with the run of the goroutine that runs them, which may be that of a later cell.
func (k *kernels) interruptOps(packages Packages) {
	op, option := packages[kernelPackage]["Op"], packages[kernelPackage]["Context"]
	if !op.IsValid() || !option.IsValid() {
		return
	}
	of := option.Call([]reflect.Value{reflect.ValueOf(func() context.Context {
		if m := k.contexts.goroutines.Member(); m != nil {
			return m.Context()
		}
		return context.Background()
	})})[0]
	packages[kernelPackage]["Op"] = reflect.MakeFunc(op.Type(), func(args []reflect.Value) []reflect.Value {
		return op.Call(append([]reflect.Value{args[0], of}, elements(args[1])...))
	})
}

// elements returns the elements of a slice.
func elements(list reflect.Value) (all []reflect.Value) {
	for i := range list.Len() {
		all = append(all, list.Index(i))
	}
	return all
}

// withBackground returns a variadic function of a type that calls f, which also has a context as parameter at.
func withBackground(t reflect.Type, f reflect.Value, at int) reflect.Value {
	background := reflect.ValueOf(context.Background())
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value { return f.CallSlice(slices.Insert(args, at, background)) })
}

// source returns the source of a function, and its name there.
func (k *kernels) source(f reflect.Value) (text, name string, err error) {
	id, ok := vm.Identify(f)
	if !ok {
		return "", "", errors.New("kernel: this function is not declared in a cell, so its source is not known; pass kernel.Source(text, name)")
	}
	at, _ := k.tracebacks.Function(id)
	if id.Literal != 0 {
		return "", "", fmt.Errorf("kernel: %s:%d: a function literal cannot be a kernel: declare a function", at.File, at.Line)
	}
	name, ok = strings.CutPrefix(at.Function, "main.")
	if ok {
		text, ok = k.declarations.SourceOf(name)
	}
	if !ok {
		return "", "", errors.New("kernel: only a function that a cell declares, without type parameters and receiver, can be a kernel")
	}
	return text, name, nil
}

// CompileCUDA compiles a program in CUDA C++ and returns its kernels by their names, as kernel.CompileCUDAAll.
func (l *Library) CompileCUDA(text string, flags []string) (map[string]reflect.Value, error) {
	compile, option := l.kernels.functions["CompileCUDAAll"], l.kernels.functions["CompilerFlags"]
	if !compile.IsValid() || !option.IsValid() {
		return nil, errors.New("this program was built without package kernel")
	}
	results := compile.Call([]reflect.Value{reflect.ValueOf(text), option.CallSlice([]reflect.Value{reflect.ValueOf(flags)})[0]})
	if err, _ := results[1].Interface().(error); err != nil {
		return nil, err
	}
	kernels := map[string]reflect.Value{}
	for all := results[0].MapRange(); all.Next(); {
		kernels[all.Key().String()] = all.Value()
	}
	return kernels, nil
}
