package registration

import (
	"reflect"

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
