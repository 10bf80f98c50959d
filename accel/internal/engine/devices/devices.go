// Package devices is the registry of devices other than the CPU, by the names that
// accel.SetDevice accepts. A package registers its devices when it is imported, as database
// drivers and image formats do.
package devices

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Opener opens a device, which stays open until the process ends.
type Opener func() (ir.Device, error)

var (
	mu      sync.Mutex
	openers = map[string]Opener{}
)

// Register adds a device. It panics if the name is already registered.
func Register(name string, open Opener) {
	mu.Lock()
	defer mu.Unlock()
	if openers[name] != nil {
		panic(fmt.Sprintf("devices: %q is registered twice", name))
	}
	openers[name] = open
}

// Find returns the opener of the device with a name, or nil.
func Find(name string) Opener {
	mu.Lock()
	defer mu.Unlock()
	return openers[name]
}

// Names returns the names of the registered devices, sorted.
func Names() []string {
	mu.Lock()
	defer mu.Unlock()
	return slices.Sorted(maps.Keys(openers))
}
