// Package trace collects what the engine does while a profile is being taken.
//
// The parts of accel ask [Active] whether anybody wants to know, which costs one
// load of a pointer, and tell what they do. Package prof makes a report of it.
// There is one collector at a time, as there is one engine.
package trace

import (
	"sync"
	"sync/atomic"
	"time"
)

// Phase is a part of a step of training.
type Phase uint8

// The phases.
const (
	Forward Phase = iota
	Backward
	Update
)

// Scope is a layer, or another part of a program, under whose name ops are
// recorded.
type Scope struct {
	Number string        // of a layer in its chain; "" for what is no layer
	Name   func() string // asked when the profile is over
	Phase  Phase
}

// Note says where an op of a list came from.
type Note struct {
	Op    string
	Path  string        // numbers of the layers around it, "2.0"; "" outside of chains
	Name  func() string // of the innermost scope; nil outside of all
	Phase Phase
	Root  any  // the outermost chain around it; nil outside of chains
	Owner any  // of the parameter that it uses; nil without
	Leaf  bool // the value is a parameter's
}

// Operand is a tensor that a step reads or writes.
type Operand struct {
	Slot  int
	Shape []int
	Size  int // bytes of an element
}

// Step is one loop or whole-tensor op of a program.
type Step struct {
	Ops     []string // several for a loop, or for an op with what it does to its result
	Nodes   []int    // of the list
	In, Out []Operand
}

// SlotKind says whose memory a slot is.
type SlotKind uint8

// The kinds of slots.
const (
	Temporary SlotKind = iota // of the program
	Result                    // outlives the list
	Before                    // is from before the list
)

// Slot is a piece of memory of a program.
type Slot struct {
	Kind        SlotKind
	Bytes       int
	First, Last int // the steps between which a temporary is needed
	External    int // number among those from before the list; -1 for others
}

// Program is a plan.
type Program struct {
	Device string
	Steps  []Step
	Slots  []Slot
	Arena  int // bytes of all temporaries
}

// External is what a value from before a list is.
type External struct {
	Parameter bool
	Replaced  bool // by the list: an optimiser's state, or a statistic
	Gradient  bool
}

// Flush is one run of a list.
type Flush struct {
	Begin, End time.Duration
	Planning   time.Duration // 0 where a plan was replayed
	Made       bool          // a plan
	Program    *Program
	Notes      []*Note // of the list's nodes; nil for those from before the profile
	Externals  []External
	// Times are the moments before the first step and after each.
	Times []time.Duration
	// Work is what the device did, where it works while the host goes on; nil for
	// others.
	Work *Work
}

// Work is one run of a list on a device of its own.
type Work struct {
	Launched time.Duration // when the host did so
	// Kernels are filled in when the device has run them.
	Kernels []Kernel
}

// Kernel is one kernel that a device ran.
type Kernel struct {
	Name       string
	Step       int // of the program
	Begin, End time.Duration
	Blocks     int
	Threads    int // of a block
}

// Kind is what the host did.
type Kind uint8

// The kinds of host work.
const (
	Waiting       Kind = iota // for data
	Reading                   // results of the device
	Writing                   // data to the device
	Marked                    // a span of the user's
	Planning                  // the launch of a list
	Launching                 // work of the device
	Synchronising             // waiting for work of the device
	Exchanging                // waiting for other processes that train the model, too
	Communicating             // numbers on their way to them, beside other work
)

// Event is something that the host did.
type Event struct {
	Kind       Kind
	Name       string
	Begin, End time.Duration
	Bytes      int
}

// Collector keeps what it receives from any goroutine. Where several record ops at
// once, their scopes mix.
type Collector struct {
	start  time.Time
	ranges *Ranges    // nil for a collector that keeps what it receives
	before *Collector // that was active before; one of ranges, or nil

	mu      sync.Mutex
	scopes  []Scope
	path    string
	root    any    // the outermost chain
	buffer  []Note // for the next ones
	flushes []Flush
	events  []Event
	names   map[any]string // of parameters, by their owner
	met     map[any]bool
}

var active atomic.Pointer[Collector]

// batch is the number of notes and events that are allocated at once.
const batch = 256

// Active returns the collector of the profile that is being taken, nil without one.
func Active() *Collector { return active.Load() }

// Start makes a collector the active one. It is false where there is one already.
func Start() (c *Collector, ok bool) {
	c = &Collector{start: time.Now(), names: map[any]string{}, met: map[any]bool{}, buffer: make([]Note, batch), events: make([]Event, 0, batch)}
	c.before = active.Load()
	if c.before != nil && c.before.ranges == nil {
		return c, false
	}
	return c, active.CompareAndSwap(c.before, c)
}

// Stop ends the profile of a collector.
func (c *Collector) Stop() { active.CompareAndSwap(c, c.before) }

// Begun is when it was started.
func (c *Collector) Begun() time.Time { return c.start }

// Now returns the time since the start.
func (c *Collector) Now() time.Duration { return time.Since(c.start) }

// Enter opens a scope; what is returned closes it.
func (c *Collector) Enter(s Scope) (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	outer := c.path
	c.scopes = append(c.scopes, s)
	depth := len(c.scopes)
	if s.Number != "" {
		if c.path != "" {
			c.path += "."
		}
		c.path += s.Number
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.scopes) >= depth { // else a panic has closed it
			c.scopes = c.scopes[:depth-1]
		}
		c.path = outer
	}
}

// Within says that the layers of a chain follow; what is returned says that they
// are over. A chain within a chain changes nothing.
func (c *Collector) Within(chain any) (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.root != nil {
		return func() {}
	}
	c.root = chain
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.root = nil
	}
}

// Note returns a note of an op in the present scope.
func (c *Collector) Note(op string) *Note {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.buffer) == 0 {
		c.buffer = make([]Note, batch) // allocating them one by one would cost more than the ops that they describe
	}
	n := &c.buffer[0]
	c.buffer = c.buffer[1:]
	n.Op, n.Path, n.Root = op, c.path, c.root
	if k := len(c.scopes); k > 0 {
		n.Name, n.Phase = c.scopes[k-1].Name, c.scopes[k-1].Phase
	}
	return n
}

// Event keeps what the host did since begin.
func (c *Collector) Event(kind Kind, name string, begin time.Duration, bytes int) {
	if c.ranges != nil {
		return
	}
	c.Add(Event{kind, name, begin, c.Now(), bytes})
}

// Add keeps what was done at a time that somebody else has measured.
func (c *Collector) Add(e Event) {
	if c.ranges != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, e)
}

// Ran keeps the run of a list.
func (c *Collector) Ran(f Flush) {
	if c.ranges != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flushes = append(c.flushes, f)
}

// Flushes returns the runs of lists so far.
func (c *Collector) Flushes() []Flush {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Flush(nil), c.flushes...)
}

// Events returns those so far.
func (c *Collector) Events() []Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Event(nil), c.events...)
}

// First reports whether this is the first time that it is asked about x.
func (c *Collector) First(x any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	met := c.met[x]
	c.met[x] = true
	return !met
}

// Call gives a parameter, known by its owner, a name.
func (c *Collector) Call(owner any, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names[owner] = name
}

// Called returns the name of a parameter; "" where it has none.
func (c *Collector) Called(owner any) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.names[owner]
}
