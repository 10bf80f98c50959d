package kernel

import (
	"maps"
	"slices"
	"sync"

	"github.com/quernlab/quern/kernel/wire"
)

// openComms holds the target name of each open comm, by comm id.
type openComms struct {
	mu      sync.Mutex
	targets map[string]string
}

// maxComms bounds the memory for a client that opens comms and never closes them.
const maxComms = 1 << 16

// open adds a comm. It returns false if there are too many.
func (o *openComms) open(id, target string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.targets == nil {
		o.targets = map[string]string{}
	}
	if len(o.targets) >= maxComms {
		return false
	}
	o.targets[id] = target
	return true
}

// close removes a comm and reports whether it was open.
func (o *openComms) close(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.targets[id]
	delete(o.targets, id)
	return ok
}

func (o *openComms) has(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.targets[id]
	return ok
}

// list returns the comms of a target, or all comms if target is empty.
func (o *openComms) list(target string) map[string]wire.CommTarget {
	o.mu.Lock()
	defer o.mu.Unlock()
	found := map[string]wire.CommTarget{}
	for id, name := range o.targets {
		if target == "" || target == name {
			found[id] = wire.CommTarget{Name: name}
		}
	}
	return found
}

// clear removes all comms and returns their ids.
func (o *openComms) clear() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	ids := slices.Sorted(maps.Keys(o.targets))
	clear(o.targets)
	return ids
}
