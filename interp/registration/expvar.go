package registration

import (
	"expvar"
	"reflect"
	"sync/atomic"
)

// vars publishes variables of package expvar.
type vars struct{ names *names }

// A replaceableVar is registered with package expvar instead of a cell's variable, to which
// it forwards.
type replaceableVar struct{ current atomic.Pointer[expvar.Var] }

// String implements expvar.Var.
func (v *replaceableVar) String() string { return (*v.current.Load()).String() }

// published returns the variable that a cell has published as v.
func published(v expvar.Var) expvar.Var {
	if v, ok := v.(*replaceableVar); ok {
		return *v.current.Load()
	}
	return v
}

// publish is expvar.Publish.
func (p *vars) publish(name string, v expvar.Var) {
	k := key{kind: "expvar", name: name}
	if r, ok := p.names.earlier(k).(*replaceableVar); ok {
		r.current.Store(&v)
		return
	}
	r := &replaceableVar{}
	r.current.Store(&v)
	expvar.Publish(name, r)
	p.names.add(k, r)
}

// functions returns the replacements for the functions of package expvar that publish variables or return published
// ones.
func (p *vars) functions() map[string]reflect.Value {
	return map[string]reflect.Value{
		"Publish":   reflect.ValueOf(p.publish),
		"NewInt":    reflect.ValueOf(func(name string) *expvar.Int { v := new(expvar.Int); p.publish(name, v); return v }),
		"NewFloat":  reflect.ValueOf(func(name string) *expvar.Float { v := new(expvar.Float); p.publish(name, v); return v }),
		"NewMap":    reflect.ValueOf(func(name string) *expvar.Map { v := new(expvar.Map).Init(); p.publish(name, v); return v }),
		"NewString": reflect.ValueOf(func(name string) *expvar.String { v := new(expvar.String); p.publish(name, v); return v }),
		"Get":       reflect.ValueOf(func(name string) expvar.Var { return published(expvar.Get(name)) }),
		"Do": reflect.ValueOf(func(f func(expvar.KeyValue)) {
			expvar.Do(func(kv expvar.KeyValue) { f(expvar.KeyValue{Key: kv.Key, Value: published(kv.Value)}) })
		}),
	}
}
