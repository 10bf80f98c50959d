package interp

import (
	"archive/zip"
	"context"
	"database/sql"
	"database/sql/driver"
	"expvar"
	"image"
	"io"
	"reflect"
	"strconv"
	"sync/atomic"
)

// replaceableVar is what a cell publishes.
type replaceableVar struct{ current atomic.Pointer[expvar.Var] }

// String implements expvar.Var.
func (v *replaceableVar) String() string { return (*v.current.Load()).String() }

// published is what a cell has published as v.
func published(v expvar.Var) expvar.Var {
	if v, ok := v.(*replaceableVar); ok {
		return *v.current.Load()
	}
	return v
}

// publish is expvar.Publish.
func (s *Session) publish(name string, v expvar.Var) {
	key := registration{kind: "expvar", name: name}
	if held, ok := s.earlier(key).(*replaceableVar); ok {
		held.current.Store(&v)
		return
	}
	held := &replaceableVar{}
	held.current.Store(&v)
	expvar.Publish(name, held)
	s.register(key, held)
}

// expvarFunctions are those of package expvar that publish variables, and that look at what is published.
func (s *Session) expvarFunctions() map[string]reflect.Value {
	return map[string]reflect.Value{
		"Publish":   reflect.ValueOf(s.publish),
		"NewInt":    reflect.ValueOf(func(name string) *expvar.Int { v := new(expvar.Int); s.publish(name, v); return v }),
		"NewFloat":  reflect.ValueOf(func(name string) *expvar.Float { v := new(expvar.Float); s.publish(name, v); return v }),
		"NewMap":    reflect.ValueOf(func(name string) *expvar.Map { v := new(expvar.Map).Init(); s.publish(name, v); return v }),
		"NewString": reflect.ValueOf(func(name string) *expvar.String { v := new(expvar.String); s.publish(name, v); return v }),
		"Get":       reflect.ValueOf(func(name string) expvar.Var { return published(expvar.Get(name)) }),
		"Do": reflect.ValueOf(func(f func(expvar.KeyValue)) {
			expvar.Do(func(kv expvar.KeyValue) { f(expvar.KeyValue{Key: kv.Key, Value: published(kv.Value)}) })
		}),
	}
}

// A replaceableDriver is what a cell registers with database/sql.
type replaceableDriver struct{ current atomic.Pointer[driver.Driver] }

// Open implements driver.Driver.
func (d *replaceableDriver) Open(name string) (driver.Conn, error) {
	return (*d.current.Load()).Open(name)
}

// OpenConnector implements driver.DriverContext: the connections of a database come from the driver that it was opened with.
func (d *replaceableDriver) OpenConnector(name string) (driver.Connector, error) {
	current := *d.current.Load()
	if c, ok := current.(driver.DriverContext); ok {
		return c.OpenConnector(name)
	}
	return connector{current, name}, nil
}

// A connector is one of a driver without connectors.
type connector struct {
	driver driver.Driver
	name   string
}

// Connect implements driver.Connector.
func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.name) }

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return c.driver }

// registerDriver is sql.Register.
func (s *Session) registerDriver(name string, d driver.Driver) {
	if d == nil {
		sql.Register(name, d) // panics
		return
	}
	key := registration{kind: "sql", name: name}
	if held, ok := s.earlier(key).(*replaceableDriver); ok {
		held.current.Store(&d)
		return
	}
	held := &replaceableDriver{}
	held.current.Store(&d)
	sql.Register(name, held)
	s.register(key, held)
}

// registerCompressor is zip.RegisterCompressor.
func (s *Session) registerCompressor(method uint16, c zip.Compressor) {
	replaceable(s, registration{kind: "zip compressor", name: strconv.Itoa(int(method))}, c, func(current func() zip.Compressor) {
		zip.RegisterCompressor(method, func(w io.Writer) (io.WriteCloser, error) { return current()(w) })
	})
}

// registerDecompressor is zip.RegisterDecompressor.
func (s *Session) registerDecompressor(method uint16, d zip.Decompressor) {
	replaceable(s, registration{kind: "zip decompressor", name: strconv.Itoa(int(method))}, d, func(current func() zip.Decompressor) {
		zip.RegisterDecompressor(method, func(r io.Reader) io.ReadCloser { return current()(r) })
	})
}

// A format is how an image is decoded.
type format struct {
	decode func(io.Reader) (image.Image, error)
	config func(io.Reader) (image.Config, error)
}

// registerFormat is image.RegisterFormat, which would go on to use the first of two.
func (s *Session) registerFormat(name, magic string, decode func(io.Reader) (image.Image, error), config func(io.Reader) (image.Config, error)) {
	replaceable(s, registration{kind: "image", name: name + "\x00" + magic}, format{decode, config}, func(current func() format) {
		image.RegisterFormat(name, magic, func(r io.Reader) (image.Image, error) { return current().decode(r) },
			func(r io.Reader) (image.Config, error) { return current().config(r) })
	})
}

// replaceable registers v by a call of add, which gets a function that gives the current value; or replaces what an earlier
// cell has registered.
func replaceable[T any](s *Session, key registration, v T, add func(current func() T)) {
	if held, ok := s.earlier(key).(*atomic.Pointer[T]); ok {
		held.Store(&v)
		return
	}
	held := &atomic.Pointer[T]{}
	held.Store(&v)
	add(func() T { return *held.Load() })
	s.register(key, held)
}
