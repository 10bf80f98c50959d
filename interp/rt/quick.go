package rt

import (
	"errors"
	"fmt"
	"go/types"
	"math/rand"
	"reflect"
	"testing/quick"
)

// Package testing/quick generates values for the parameters of a function, by a method
// Generate if the type has one. For functions of cells this file does the same.

// generates reports whether the method Generate of t generates its values. Two packages
// have a type rand.Rand; only that of math/rand counts.
func generates(t *Type) bool {
	set := t.set.Load()
	if set == nil || !set.hasSignature("Generate", "func(*rand.Rand, int) reflect.Value") {
		return false
	}
	name := typeName(set.find("Generate").Type().(*types.Signature).Params().At(0).Type())
	return name.Pkg().Path() == "math/rand"
}

// quickSize is the initial size limit in package testing/quick.
const quickSize = 50

// quickFunctions returns the replacements for functions of testing/quick.
func (r *Registry) quickFunctions() map[string]reflect.Value {
	return map[string]reflect.Value{
		"Config": reflect.ValueOf((*QuickConfig)(nil)),
		"Check": reflect.ValueOf(func(f any, config *QuickConfig) error {
			b, ok := r.unbox(f)
			if !ok {
				return quick.Check(f, config.compiled(plainArgument))
			}
			return r.quickRun(b, config, func(c *quick.Config) error { return quick.Check(b.V, c) })
		}),
		"CheckEqual": reflect.ValueOf(func(f, g any, config *QuickConfig) error {
			b, ok := r.unbox(f)
			if !ok {
				return quick.CheckEqual(f, r.Value(g), config.compiled(plainArgument))
			}
			if c, ok := r.unbox(g); ok && c.T != b.T {
				return quick.SetupError("functions have different types")
			}
			return r.quickRun(b, config, func(c *quick.Config) error { return quick.CheckEqual(b.V, r.Value(g), c) })
		}),
		"Value": reflect.ValueOf(func(t reflect.Type, rand *rand.Rand) (ReflectValue, bool) {
			w := viewOfType(t)
			v, ok := r.quickValue(w, rand, quickSize)
			if !ok {
				return ReflectValue{}, false
			}
			return r.reflected(v, w.d), true
		}),
	}
}

// QuickConfig replaces quick.Config in cells, because reflect.Value is replaced.
type QuickConfig struct {
	MaxCount      int
	MaxCountScale float64
	Rand          *rand.Rand
	Values        func([]ReflectValue, *rand.Rand)
}

func (QuickConfig) compiledName() string { return "quick.Config" }

// compiled returns the configuration for the package. argument converts argument i to its
// raw value.
func (c *QuickConfig) compiled(argument func(i int, v ReflectValue) reflect.Value) *quick.Config {
	if c == nil {
		return nil
	}
	made := &quick.Config{MaxCount: c.MaxCount, MaxCountScale: c.MaxCountScale, Rand: c.Rand}
	if c.Values != nil {
		made.Values = func(args []reflect.Value, rand *rand.Rand) {
			values := make([]ReflectValue, len(args))
			c.Values(values, rand)
			for i, v := range values {
				args[i] = argument(i, v)
			}
		}
	}
	return made
}

func plainArgument(_ int, v ReflectValue) reflect.Value { return v.Value }

// quickRun runs a check of the function f with values from quickValue.
func (r *Registry) quickRun(f Box, config *QuickConfig, check func(*quick.Config) error) (err error) {
	if reflect.TypeOf(f.V).Kind() != reflect.Func {
		return check(config.compiled(plainArgument))
	}
	s := r.signatureOf(view{f.T, reflect.TypeOf(f.V)})
	var c quick.Config
	if config != nil {
		c = *config.compiled(func(i int, v ReflectValue) reflect.Value { return r.assigned(v, s.in(i), "reflect.Value.Call") })
	}
	if c.Values == nil {
		c.Values = func(args []reflect.Value, rand *rand.Rand) {
			for i := range args {
				v, ok := r.quickValue(s.in(i), rand, quickSize)
				if !ok {
					panic(quick.SetupError(fmt.Sprintf("cannot create arbitrary value of type %s for argument %d", s.in(i), i)))
				}
				args[i] = v
			}
		}
	}
	defer func() {
		v := recover()
		if setup, ok := v.(quick.SetupError); ok {
			err = setup
		} else if v != nil {
			panic(v)
		}
	}()
	err = check(&c)
	boxed := func(values []any, of func(int) view) {
		for i, x := range values {
			if w := of(i); w.d != nil {
				values[i] = w.d.box(x)
			}
		}
	}
	var failed *quick.CheckError
	var unequal *quick.CheckEqualError
	switch {
	case errors.As(err, &failed):
		boxed(failed.In, s.in)
	case errors.As(err, &unequal):
		boxed(unequal.In, s.in)
		boxed(unequal.Out1, s.out)
		boxed(unequal.Out2, s.out)
	}
	return err
}

// quickValue returns an arbitrary value of a type, generated as package quick does.
func (r *representations) quickValue(w view, rand *rand.Rand, size int) (reflect.Value, bool) {
	if w.d == nil {
		if size == quickSize || !composite(w.t.Kind()) {
			return quick.Value(w.t, rand)
		}
		if g, ok := reflect.Zero(w.t).Interface().(quick.Generator); ok {
			return g.Generate(rand, size), true
		}
	} else if generates(w.d) {
		return call2[ReflectValue](Box{w.d, reflect.Zero(w.t).Interface()}, "Generate", rand, size).Value, true
	}
	v := reflect.New(w.t).Elem()
	switch w.kind() {
	case reflect.Map:
		n := rand.Intn(size)
		v.Set(reflect.MakeMap(w.t))
		for range n {
			key, ok := r.quickValue(w.key(), rand, size)
			elem, also := r.quickValue(w.elem(), rand, size)
			if !ok || !also {
				return reflect.Value{}, false
			}
			v.SetMapIndex(key, elem)
		}
	case reflect.Pointer:
		if rand.Intn(size) == 0 {
			break
		}
		elem, ok := r.quickValue(w.elem(), rand, size)
		if !ok {
			return reflect.Value{}, false
		}
		v.Set(reflect.New(w.t.Elem()))
		v.Elem().Set(elem)
	case reflect.Slice, reflect.Array:
		if w.kind() == reflect.Slice {
			n := rand.Intn(size)
			size -= n
			v.Set(reflect.MakeSlice(w.t, n, n))
		}
		for i := range v.Len() {
			elem, ok := r.quickValue(w.elem(), rand, size)
			if !ok {
				return reflect.Value{}, false
			}
			v.Index(i).Set(elem)
		}
	case reflect.Struct:
		n := v.NumField()
		if n > size {
			size = 1
		} else if n > 0 {
			size /= n
		}
		for i := range n {
			f, of := w.field(i)
			elem, ok := r.quickValue(of, rand, size)
			if !ok {
				return reflect.Value{}, false
			}
			if !f.exported {
				panic("reflect: reflect.Value.Set using value obtained using unexported field")
			}
			v.Field(i).Set(elem)
		}
	default:
		x, ok := quick.Value(w.t, rand)
		if !ok {
			return reflect.Value{}, false
		}
		v.Set(x.Convert(w.t))
	}
	return v, true
}

func composite(k reflect.Kind) bool {
	switch k {
	case reflect.Map, reflect.Pointer, reflect.Slice, reflect.Array, reflect.Struct:
		return true
	}
	return false
}
