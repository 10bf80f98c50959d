package registration

import (
	"archive/zip"
	"image"
	"io"
	"reflect"
	"runtime/pprof"
	"strconv"
	"sync"

	"github.com/quernlab/quern/interp/rt"
)

// Registrations has the names that the cells of a session have registered.
type Registrations struct {
	flags    *flags
	handlers *handlers
	vars     *vars
	drivers  *drivers
	decoders *decoders
	profiles *profiles
}

// New returns registrations without any names. exit ends a program, or the process.
func New(r runs, exit func(code int)) *Registrations {
	n := &names{runs: r, entries: map[key]*entry{}, holders: map[any]bool{}}
	f := &flags{names: n, exit: exit}
	f.newCommandLine()
	return &Registrations{flags: f, handlers: &handlers{n}, vars: &vars{n}, drivers: &drivers{n}, decoders: &decoders{n}, profiles: &profiles{n}}
}

// NewCommandLine sets flag.CommandLine of cells to an empty flag set, as at the start of a program.
func (r *Registrations) NewCommandLine() { r.flags.newCommandLine() }

// Overrides returns the functions and variables that cells use instead of those of compiled
// packages, by package and name; and, methods under rt.Methods.
func (r *Registrations) Overrides() map[string]map[string]reflect.Value {
	methods := r.flags.methods()
	for name, method := range r.handlers.methods() {
		methods[name] = method
	}
	return map[string]map[string]reflect.Value{
		"flag/flag":        r.flags.functions(),
		"net/http/http":    {"Handle": reflect.ValueOf(r.handlers.handleDefault), "HandleFunc": reflect.ValueOf(r.handlers.handleFuncDefault)},
		"net/rpc/rpc":      {"HandleHTTP": reflect.ValueOf(r.handlers.handleRPC)},
		"expvar/expvar":    r.vars.functions(),
		"database/sql/sql": {"Register": reflect.ValueOf(r.drivers.register)},
		"archive/zip/zip": {
			"RegisterCompressor":   reflect.ValueOf(r.decoders.registerCompressor),
			"RegisterDecompressor": reflect.ValueOf(r.decoders.registerDecompressor),
		},
		"image/image":         {"RegisterFormat": reflect.ValueOf(r.decoders.registerFormat)},
		"runtime/pprof/pprof": {"NewProfile": reflect.ValueOf(r.profiles.newProfile)},
		rt.Methods:            methods,
	}
}

// profiles registers profiles of package pprof.
type profiles struct{ names *names }

// newProfile is pprof.NewProfile. It returns the profile of an earlier cell without its
// entries, because package pprof cannot forget it.
func (p *profiles) newProfile(name string) *pprof.Profile {
	k := key{kind: "pprof", name: name}
	if earlier, ok := p.names.earlier(k).(*pprof.Profile); ok {
		v := reflect.ValueOf(earlier).Elem()
		mu := accessible(v, "mu").Addr().Interface().(*sync.Mutex)
		mu.Lock()
		defer mu.Unlock()
		accessible(v, "m").Clear()
		return earlier
	}
	profile := pprof.NewProfile(name)
	p.names.add(k, profile)
	return profile
}

// decoders registers compression methods of package zip and formats of package image.
type decoders struct{ names *names }

// registerCompressor is zip.RegisterCompressor.
func (d *decoders) registerCompressor(method uint16, c zip.Compressor) {
	replaceable(d.names, key{kind: "zip compressor", name: strconv.Itoa(int(method))}, c, func(current func() zip.Compressor) {
		zip.RegisterCompressor(method, func(w io.Writer) (io.WriteCloser, error) { return current()(w) })
	})
}

// registerDecompressor is zip.RegisterDecompressor.
func (d *decoders) registerDecompressor(method uint16, v zip.Decompressor) {
	replaceable(d.names, key{kind: "zip decompressor", name: strconv.Itoa(int(method))}, v, func(current func() zip.Decompressor) {
		zip.RegisterDecompressor(method, func(r io.Reader) io.ReadCloser { return current()(r) })
	})
}

// A format decodes images.
type format struct {
	decode func(io.Reader) (image.Image, error)
	config func(io.Reader) (image.Config, error)
}

// registerFormat is image.RegisterFormat, which would always use the first of two formats.
func (d *decoders) registerFormat(name, magic string, decode func(io.Reader) (image.Image, error), config func(io.Reader) (image.Config, error)) {
	replaceable(d.names, key{kind: "image", name: name + "\x00" + magic}, format{decode, config}, func(current func() format) {
		image.RegisterFormat(name, magic, func(r io.Reader) (image.Image, error) { return current().decode(r) },
			func(r io.Reader) (image.Config, error) { return current().config(r) })
	})
}
