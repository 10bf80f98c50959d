package ptxsim

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Module is a compiled PTX module.
type Module struct {
	syntax  *module
	kernels map[string]*Kernel
}

// Parse compiles all entries of a module, or those with the given names. It fails with a *ParseError.
func Parse(ptx string, only ...string) (m *Module, err error) {
	defer catch(&err)
	tree := parseModule(ptx)
	parsed := &Module{tree, map[string]*Kernel{}}
	for _, name := range tree.order {
		if f := tree.functions[name]; f.entry && f.body != nil && (len(only) == 0 || slices.Contains(only, name)) {
			parsed.kernels[name] = compileKernel(tree, f)
		}
	}
	return parsed, nil
}

// Version returns the PTX version, 10*major + minor.
func (m *Module) Version() int { return m.syntax.version }

// Target returns the target architecture, such as sm_80.
func (m *Module) Target() string { return m.syntax.target }

// Kernels returns the names of the entries, in source order.
func (m *Module) Kernels() []string {
	var names []string
	for _, name := range m.syntax.order {
		if m.kernels[name] != nil {
			names = append(names, name)
		}
	}
	return names
}

// Param is a parameter of an entry and its location in Launch.Params.
type Param struct {
	Name                string
	Offset, Size, Align int // bytes
}

// Kernel is a compiled entry.
type Kernel struct {
	name            string
	module          *module
	function        *function
	lines           []string
	params          []Param
	paramBytes      int
	code            []instruction
	predicates      int
	truth           int // 1 + index of a predicate that is always true, 0 for none
	start           []lanes
	fixed           []fixed
	variableAddress []variableAddress
	special         []special
	sites           int // number of memory instructions
	local           int // bytes of local memory per thread
	prints          bool

	static       []span
	staticBytes  int
	sharedEnd    int
	dynamicAlign int
	dynamicStart int
}

func (k *Kernel) text(line int) string {
	if line < 1 || line > len(k.lines) {
		return ""
	}
	return strings.TrimSpace(k.lines[line-1])
}

// Loaded is a module with its variables allocated in a memory.
type Loaded struct {
	module    *Module
	memory    *Memory
	variables map[string]uint64
}

// Load allocates the module's variables. It fails with a *ParseError or an error that wraps
// ErrOutOfMemory.
func (m *Memory) Load(mod *Module) (*Loaded, error) {
	l := &Loaded{mod, m, map[string]uint64{}}
	tree := mod.syntax
	for i := range tree.variables {
		v := &tree.variables[i]
		if v.space != "global" && v.space != "const" {
			continue
		}
		if v.open {
			v.count = len(v.initial)
		}
		address, err := m.Alloc(max(v.bytes(), 1))
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", v.name, err)
		}
		l.variables[v.name] = address
	}
	for i := range tree.variables {
		if v := &tree.variables[i]; l.variables[v.name] != 0 {
			if err := l.initialize(v); err != nil {
				return nil, err
			}
		}
	}
	return l, nil
}

// initialize writes a variable's initial value, zeros by default.
func (l *Loaded) initialize(v *variable) error {
	data := make([]byte, v.bytes())
	n := v.typ.bytes()
	if len(v.initial)*n > len(data) {
		return l.module.syntax.failure(v.line, "%d initial values for %d elements", len(v.initial), len(data)/n)
	}
	for i, o := range v.initial {
		value := o.bits
		switch {
		case o.kind == operandName:
			address, ok := l.variables[o.name]
			if !ok || n != 8 {
				return l.module.syntax.failure(v.line, "initial value %s is not supported", o.name)
			}
			value = address + uint64(o.offset)
		case o.kind == operandFloat && o.width != v.typ.bits:
			return l.module.syntax.failure(v.line, "initial value of another width than the variable's")
		case o.kind != operandInteger && o.kind != operandFloat:
			return l.module.syntax.failure(v.line, "initial value is not supported")
		}
		putBits(data[i*n:], value, n)
	}
	address := l.variables[v.name]
	if err := l.memory.Write(address, data); err != nil {
		return err
	}
	l.memory.find(address).fixed = v.space == "const"
	return nil
}

// Unload frees the module's variables.
func (l *Loaded) Unload() error {
	for _, address := range l.variables {
		if err := l.memory.Free(address); err != nil {
			return err
		}
	}
	return nil
}

// Variable returns the address and the size, in bytes, of a .global or .const variable.
func (l *Loaded) Variable(name string) (address uint64, bytes int, ok bool) {
	address, ok = l.variables[name]
	if ok {
		bytes = l.memory.find(address).size
	}
	return address, bytes, ok
}

// Kernel returns an entry by name, nil if there is none.
func (l *Loaded) Kernel(name string) *LoadedKernel {
	k := l.module.kernels[name]
	if k == nil {
		return nil
	}
	return &LoadedKernel{k, l}
}

// LoadedKernel is an entry that can run.
type LoadedKernel struct {
	kernel *Kernel
	loaded *Loaded
}

// Name returns the entry's name.
func (k *LoadedKernel) Name() string { return k.kernel.name }

// Params returns the parameters.
func (k *LoadedKernel) Params() []Param { return k.kernel.params }

// ParamBytes returns the required length of Launch.Params.
func (k *LoadedKernel) ParamBytes() int { return k.kernel.paramBytes }

// Shared returns the size of static shared memory in bytes.
func (k *LoadedKernel) Shared() int { return k.kernel.staticBytes }

// Local returns the size of a thread's local memory in bytes.
func (k *LoadedKernel) Local() int { return k.kernel.local }

// MaxThreads returns the maximum number of threads per block of the entry.
func (k *LoadedKernel) MaxThreads() int {
	if n := k.kernel.function.maxThreads; n > 0 {
		return n
	}
	return 1024
}

// Dim is a number of blocks or threads along x, y and z; zero counts as one.
type Dim struct{ X, Y, Z uint32 }

func (d Dim) x() int     { return int(max(d.X, 1)) }
func (d Dim) y() int     { return int(max(d.Y, 1)) }
func (d Dim) z() int     { return int(max(d.Z, 1)) }
func (d Dim) count() int { return d.x() * d.y() * d.z() }

// Launch describes a kernel launch.
type Launch struct {
	Grid   Dim
	Block  Dim
	Shared int    // bytes of dynamic shared memory
	Params []byte // ParamBytes of them
	// MaxSteps is the maximum number of instructions of all warps together; 0 for no limit.
	MaxSteps int64
	// Workers is the number of blocks that run at the same time; 0 for GOMAXPROCS.
	Workers int
	// Races stops the run if blocks race for global memory. The blocks then run one after
	// the other.
	Races bool
	// Early is true for a grid that begins before the grids that it depends on have ended: a thread must execute
	// griddepcontrol.wait before it accesses global or constant memory, and before it ends, since the grids that depend
	// on this one wait only for its end.
	Early bool
	// Watch counts what accesses cost, and completes the races of Races. It is nil for a run that is not watched.
	Watch *Watch
	// Output gets what the kernel prints, in the order of the blocks, which then run one after the other; nil for nothing.
	Output io.Writer
	// Coarse makes mma and wgmma accumulate in float32 with as few bits as tensor cores do.
	Coarse bool
}

// Stats counts the work of a run.
type Stats struct {
	Steps  int64 // warp instructions
	Blocks int
}

// run is a running launch.
type run struct {
	kernel          *Kernel
	memory          *Memory
	launch          Launch
	variableAddress []uint64
	ctx             context.Context
	steps           atomic.Int64
	next            atomic.Int64
	stop            atomic.Int64 // blocks with this index or a higher one need not run
	races           *races       // nil without Launch.Races
	printer         printer      // only if blocks run one after the other

	mutex sync.Mutex
	fault *Fault // of the block with the lowest index
}

// Run runs all blocks. The error is a *Fault, that of the first block with a fault, or
// describes what is wrong with the launch.
func (k *LoadedKernel) Run(ctx context.Context, l Launch) (Stats, error) {
	r := &run{kernel: k.kernel, memory: k.loaded.memory, launch: l, ctx: ctx}
	if err := r.check(); err != nil {
		return Stats{}, err
	}
	for _, p := range k.kernel.variableAddress {
		r.variableAddress = append(r.variableAddress, k.loaded.variables[p.name]+uint64(p.offset))
	}
	blocks := l.Grid.count()
	r.stop.Store(int64(blocks))
	workers := l.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if l.Races {
		workers, r.races = 1, newRaces()
	}
	if l.Output != nil && k.kernel.prints {
		workers, r.printer.to = 1, l.Output
	}
	if l.Watch != nil {
		l.Watch.work, l.Watch.counts, l.Watch.cells = Work{}, map[Source]*Counts{}, map[watched]*watchedCell{}
	}
	workers = min(workers, blocks)
	var group sync.WaitGroup
	for range workers - 1 {
		group.Go(r.work)
	}
	r.work()
	group.Wait()
	stats := Stats{r.steps.Load(), blocks}
	if r.fault != nil {
		return stats, r.fault
	}
	return stats, nil
}

func (r *run) check() error {
	k, l := r.kernel, &r.launch
	if len(l.Params) != k.paramBytes {
		return fmt.Errorf("kernel %s: %d bytes of parameters; it needs %d", k.name, len(l.Params), k.paramBytes)
	}
	threads := l.Block.count()
	if threads > 1024 || k.function.maxThreads > 0 && threads > k.function.maxThreads {
		return fmt.Errorf("kernel %s: blocks of %d threads are too large", k.name, threads)
	}
	if q := k.function.reqThreads; q[0] > 0 && q != [3]int{l.Block.x(), l.Block.y(), l.Block.z()} {
		return fmt.Errorf("kernel %s: it requires blocks of %v threads", k.name, q)
	}
	if l.Grid.x() > 1<<31-1 || l.Grid.y() > 1<<16-1 || l.Grid.z() > 1<<16-1 {
		return fmt.Errorf("kernel %s: grid of %v blocks is too large", k.name, l.Grid)
	}
	if l.Shared < 0 || l.Shared+k.staticBytes > maxSharedBytes {
		return fmt.Errorf("kernel %s: %d bytes of shared memory are more than a block can have", k.name, l.Shared+k.staticBytes)
	}
	return nil
}

// work runs blocks until none are left.
func (r *run) work() {
	b := newBlock(r)
	g := r.launch.Grid
	for {
		n := r.next.Add(1) - 1
		if n >= r.stop.Load() || r.launch.Watch.enough(r.steps.Load()) {
			return
		}
		i := int(n)
		if f := r.block(b, [3]int{i % g.x(), i / g.x() % g.y(), i / (g.x() * g.y())}, n); f != nil {
			r.mutex.Lock()
			if n < r.stop.Load() {
				r.stop.Store(n)
				r.fault = f
			}
			r.mutex.Unlock()
		}
	}
}

func (r *run) block(b *block, id [3]int, number int64) (f *Fault) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Fault:
			f = p
		case abandoned:
		default:
			panic(p)
		}
	}()
	b.number = number
	b.begin(id)
	b.execute()
	return nil
}

// abandoned is panicked to end a block after an earlier block has faulted.
type abandoned struct{}

// spend counts steps and stops the run at the limit.
func (r *run) spend(w *warp, n int) {
	total := r.steps.Add(int64(n))
	if w.block.number > r.stop.Load() {
		panic(abandoned{})
	}
	if w.state == ended {
		return
	}
	if r.launch.MaxSteps > 0 && total > r.launch.MaxSteps {
		panic(w.fault(BudgetSpent, 0, "more than %d instructions of warps", r.launch.MaxSteps))
	}
	if err := r.ctx.Err(); err != nil {
		f := w.fault(BudgetSpent, 0, "%v", err)
		f.Cause = err
		panic(f)
	}
}

// putBits and getBits move little-endian values of 1, 2, 4 or 8 bytes.
func putBits(b []byte, v uint64, n int) {
	switch n {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(b, v)
	}
}

func getBits(b []byte, n int) uint64 {
	switch n {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}
