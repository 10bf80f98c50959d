package vm

import (
	"go/types"
	"reflect"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/quernlab/quern/interp/rt"
)

// Config is what a Machine needs to know of the session.
type Config struct {
	// Registry is the run time of the cells.
	Registry *rt.Registry
	// Packages is the table of compiled symbols, keyed "path/name".
	Packages map[string]map[string]reflect.Value
	// Interpreted reports whether a named type has no compiled counterpart.
	Interpreted func(*types.Named) bool
	// Type is the compiled form of a type.
	Type func(types.Type) (reflect.Type, error)
	// Go starts a goroutine of a cell; nil if there are none.
	Go func(cell int, f func())
	// Stopping is the flag that a cell is to be interrupted.
	Stopping *atomic.Bool
	// Stop is called, again and again, while the flag is up; it panics if it is
	// the code of the calling goroutine that is to end.
	Stop func()
}

// A Frame is an active function of the VM.
type Frame struct {
	Name     string // in lowered code
	Position int    // number of the position of its statement
}

// Machine holds the compiled functions of a session. It compiles on one
// goroutine at a time; what it compiled may run on any number of them.
type VM struct {
	config      Config
	stop        *atomic.Bool
	functions   map[any]*Function                 // by the key that Unit.Add was given
	interpreted map[string][]weak.Pointer[global] // functions that yaegi runs and code of the VM calls
	types       map[reflect.Type]*memoryType
	threads     sync.Pool
	methods     sync.Map      // methodKey to *Function, for calls through interfaces
	epoch       atomic.Uint64 // counts how often methods have changed
}

// New makes a machine without any function.
func New(config Config) *VM {
	vm := &VM{config: config, stop: config.Stopping, functions: map[any]*Function{}, interpreted: map[string][]weak.Pointer[global]{}, types: map[reflect.Type]*memoryType{}}
	if vm.stop == nil {
		vm.stop = new(atomic.Bool)
	}
	if vm.config.Stop == nil {
		vm.config.Stop = func() {}
	}
	vm.threads.New = func() any { return newThread(vm) }
	return vm
}
