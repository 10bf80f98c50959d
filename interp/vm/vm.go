package vm

import (
	"go/types"
	"reflect"
	"sync"

	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/shared"
	"github.com/quernlab/quern/interp/stopflag"
)

// Config connects a VM to its session.
type Config struct {
	// Registry is the runtime library of interpreted code.
	Registry *rt.Registry
	// Packages is the table of compiled symbols, with keys "path/name", and under rt.Methods the methods that code of cells calls
	// instead of compiled ones.
	Packages map[string]map[string]reflect.Value
	// Interpreted reports whether a named type has no compiled counterpart.
	Interpreted func(*types.Named) bool
	// Type returns the reflect.Type that represents a checked type.
	Type func(types.Type) (reflect.Type, error)
	// Guard returns what calls f on a goroutine that belongs to a cell. Nil: go statements are not compiled.
	Guard func(cell int, f func()) func()
	// Compile compiles the function with this key, which a unit has declared by Later, in a unit of its own, commits that, and calls
	// Publish. It may be called from any goroutine that runs code. Nil: Later is not used.
	Compile func(key any) error
	// Stopping is set while a cell is being interrupted.
	Stopping *stopflag.Flag
	// Stop is called repeatedly while Stopping is set. It panics if the calling goroutine runs the code to
	// be interrupted.
	Stop func()
}

// A Frame is an active call of a compiled function.
type Frame struct {
	Name     string // name of the function in lowered code
	Position int    // index of the source position of its current statement
}

// VM holds the compiled functions of a session. It compiles on one goroutine at a time; the compiled
// functions may run on any number of goroutines.
type VM struct {
	config      Config
	stop        *stopflag.Flag
	functions   map[any]*Function // by Declaration.Key
	types       map[reflect.Type]*memoryType
	unpublished []*Function // see Publish
	threads     sync.Pool
	epoch       shared.Uint64 // incremented when methods change; invalidates the caches of call sites
}

// New returns a VM without functions.
func New(config Config) *VM {
	vm := &VM{config: config, stop: config.Stopping, functions: map[any]*Function{}, types: map[reflect.Type]*memoryType{}}
	if vm.stop == nil {
		vm.stop = new(stopflag.Flag)
	}
	if vm.config.Stop == nil {
		vm.config.Stop = func() {}
	}
	vm.threads.New = func() any { return newThread(vm) }
	return vm
}
