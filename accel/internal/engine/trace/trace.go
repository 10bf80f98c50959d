// Package trace collects the events of training while a profile is being recorded.
//
// Packages of accel call [Active], which costs one load of a pointer, and report events to
// the [Collector] that it returns. At most one collector is active, since the process has
// one recorder of ops (package ir). Package prof turns the events into a report.
//
// A list is a sequence of recorded ops that run together, as in package ir; a [Flush] is
// one run of a list. A plan is the program compiled from a list; a chain is an
// nn.Sequential.
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

// Scope is a layer or another part of a program. Ops are recorded under its name.
type Scope struct {
	Number string        // index of a layer in its chain; "" if it is not a layer of a chain
	Name   func() string // called when the profile has ended
	Phase  Phase
}

// Note describes the origin of an op of a list.
type Note struct {
	Op    string
	Path  string        // indices of the layers around the op, such as "2.0"; "" outside of chains
	Name  func() string // name of the innermost scope; nil outside of scopes
	Phase Phase
	Root  any  // the outermost chain around the op; nil outside of chains
	Owner any  // owner of the parameter that the op uses; nil if it uses none
	Leaf  bool // the value is a parameter
}

// Operand is a tensor that a step reads or writes.
type Operand struct {
	Slot  int
	Shape []int
	Size  int // bytes of an element
}

// Step is one fused kernel or whole-tensor op of a program.
type Step struct {
	Ops     []string // several for a fused kernel, or for an op with an epilogue
	Nodes   []int    // indices of its nodes in the list
	In, Out []Operand
	FLOPs   float64
}

// SlotKind says how long the memory of a slot is needed.
type SlotKind uint8

// The kinds of slots.
const (
	Temporary SlotKind = iota // used only within the program
	Result                    // outlives the list
	Before                    // existed before the list
)

// Slot is a piece of memory of a program.
type Slot struct {
	Kind        SlotKind
	Bytes       int
	First, Last int // the first and last step that need a temporary
	External    int // index in Flush.Externals of a slot of kind Before; otherwise -1
}

// Program describes a plan.
type Program struct {
	Device string
	Steps  []Step
	Slots  []Slot
	Arena  int // bytes of all temporaries
}

// External describes a value that existed before a list.
type External struct {
	Parameter bool
	Replaced  bool // the list replaces it: optimizer state, or a running statistic
	Gradient  bool
}

// Flush is one run of a list.
type Flush struct {
	Begin, End time.Duration
	Planning   time.Duration // 0 if an existing plan was used
	Made       bool          // a new plan was made
	Program    *Program
	Notes      []*Note // of the nodes of the list; nil for a node from before the profile
	Externals  []External
	// Times has the time before the first step and after each step.
	Times []time.Duration
	// Work is what an asynchronous device, such as a GPU, did; nil for other devices.
	Work *Work
}

// Work is one run of a list on an asynchronous device.
type Work struct {
	Launched time.Duration // when the host launched it
	// EventCost is how much longer the device takes because of each event that it records
	// between kernels.
	EventCost time.Duration
	// Kernels is filled in when the device has run them.
	Kernels []Kernel
}

// Kernel is one kernel that a device ran.
type Kernel struct {
	Name       string
	Step       int // index in the program
	Begin, End time.Duration
	Blocks     int
	Threads    int // per block

	Registers   int      // of a thread; 0 on a simulated GPU and for a kernel of a library
	SharedBytes int      // of a block
	Occupancy   float64  // the part of an SM's warps that are resident; 0 if it is not known
	LimitedBy   []string // what allows no further block on an SM
}

// Kind is a kind of host work.
type Kind uint8

// The kinds of host work.
const (
	Waiting           Kind = iota // waiting for data
	Reading                       // copying results from the device
	Writing                       // copying data to the device
	UserSpan                      // a span of prof.Span
	Planning                      // planning a list
	Launching                     // launching work of the device
	Synchronizing                 // waiting for work of the device
	CommunicationWait             // waiting for the other ranks
	Communicating                 // transfers to other ranks, concurrent with other work
	Profiling                     // work of the profile itself
)

// Event is a period of host work.
type Event struct {
	Kind       Kind
	Name       string
	Begin, End time.Duration
	Bytes      int
}

// Collector collects events from all goroutines. If several goroutines record ops at the
// same time, their scopes are mixed up.
type Collector struct {
	start  time.Time
	ranges *Ranges    // nil if the collector stores a profile
	before *Collector // the previously active collector, which reports ranges; or nil

	mu      sync.Mutex
	scopes  []Scope
	path    string
	root    any    // the outermost chain
	buffer  []Note // preallocated for the next notes
	flushes []Flush
	events  []Event
	names   map[any]string // names of parameters by owner
	seen    map[any]bool
}

var active atomic.Pointer[Collector]

// batch is the number of notes and events that are allocated at once.
const batch = 256

// Active returns the active collector, or nil.
func Active() *Collector { return active.Load() }

// Start activates a collector that stores a profile. ok is false if such a collector is
// already active. One that reports ranges pauses until Stop.
func Start() (c *Collector, ok bool) {
	c = &Collector{start: time.Now(), names: map[any]string{}, seen: map[any]bool{}, buffer: make([]Note, batch), events: make([]Event, 0, batch)}
	c.before = active.Load()
	if c.before != nil && c.before.ranges == nil {
		return c, false
	}
	return c, active.CompareAndSwap(c.before, c)
}

// Stop deactivates a collector and activates the previous one again.
func (c *Collector) Stop() { active.CompareAndSwap(c, c.before) }

// Begun returns when the collector was started.
func (c *Collector) Begun() time.Time { return c.start }

// Now returns the time since the start.
func (c *Collector) Now() time.Duration { return time.Since(c.start) }

// Enter opens a scope. leave closes it.
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
		if len(c.scopes) >= depth { // otherwise a panic has closed it
			c.scopes = c.scopes[:depth-1]
		}
		c.path = outer
	}
}

// EnterChain records that the layers of a chain follow, until leave is called. For a chain
// within a chain it does nothing.
func (c *Collector) EnterChain(chain any) (leave func()) {
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

// Note returns a note of an op in the current scope.
func (c *Collector) Note(op string) *Note {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.buffer) == 0 {
		c.buffer = make([]Note, batch) // allocating them one by one would take longer than recording the ops
	}
	n := &c.buffer[0]
	c.buffer = c.buffer[1:]
	n.Op, n.Path, n.Root = op, c.path, c.root
	if k := len(c.scopes); k > 0 {
		n.Name, n.Phase = c.scopes[k-1].Name, c.scopes[k-1].Phase
	}
	return n
}

// Event adds host work that began at begin and ends now.
func (c *Collector) Event(kind Kind, name string, begin time.Duration, bytes int) {
	if c.ranges != nil {
		return
	}
	c.Add(Event{kind, name, begin, c.Now(), bytes})
}

// Add adds an event whose times the caller has measured.
func (c *Collector) Add(e Event) {
	if c.ranges != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, e)
}

// AddFlush adds the run of a list.
func (c *Collector) AddFlush(f Flush) {
	if c.ranges != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flushes = append(c.flushes, f)
}

// Flushes returns the runs of lists that were added so far.
func (c *Collector) Flushes() []Flush {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Flush(nil), c.flushes...)
}

// Events returns the events that were added so far.
func (c *Collector) Events() []Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Event(nil), c.events...)
}

// First reports whether this is its first call with x.
func (c *Collector) First(x any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.seen[x]
	c.seen[x] = true
	return !seen
}

// SetName sets the name of the parameter with an owner.
func (c *Collector) SetName(owner any, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names[owner] = name
}

// ParameterName returns the name of the parameter with an owner, or "".
func (c *Collector) ParameterName(owner any) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.names[owner]
}
