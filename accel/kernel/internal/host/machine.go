package host

import (
	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// machine runs groups of blocks, one after the other. The blocks of a group are neighbors along x.
type machine struct {
	grid      *grid
	block     [3]int // threads of a block
	blocks    int    // the maximum number of blocks of a group
	unchecked bool
	threads   int       // of a block
	n         int       // the maximum number of threads of a group
	lanes     int       // the number of those of the current one
	sizes     [axes]int // of the block, and the number of blocks
	group     int       // number of the group
	first     [3]int    // position of its first block
	vars      []*column
	constants map[program.Operand]*column
	memories  []*memory
	declaring map[*program.Instr]bool
	body      code
	returned  *union // the threads that have returned
	steps     int    // iterations of loops

	operations []operation // deferred ones of the group

	pending *program.Fault // of the thread limit: the threads before it go on up to a barrier, as one of them may have one, too
	limit   int
}

// code runs for a set of threads, which is not empty, and returns those that continue behind it. It is nil if there is nothing to do.
type code func(t threads) threads

// stopped is panicked to end a block.
type stopped struct{ err error }

func newMachine(g *grid) *machine {
	m := &machine{grid: g, block: g.Block, blocks: g.blocks, unchecked: g.Unchecked, threads: g.Block[0] * g.Block[1] * g.Block[2], constants: map[program.Operand]*column{}}
	m.n = m.threads * g.blocks
	for _, v := range g.program.Vars {
		m.vars = append(m.vars, m.newColumn(v.Type))
	}
	for _, p := range g.program.Memories {
		m.memories = append(m.memories, m.newMemory(p))
	}
	m.declaring = declarations(g.program)
	blocks := map[*program.Block]*union{}
	m.body = m.compileBlock(g.program.Body, blocks)
	m.returned = blocks[g.program.Body]
	return m
}

// begin prepares a machine for a grid with the blocks for which it was made.
func (m *machine) begin(g *grid) {
	m.grid = g
	for i, p := range g.program.Memories {
		if p.Space == program.Global {
			data := g.Memory[p.Param]
			m.memories[i].data, m.memories[i].n = data, len(data)/p.Elem.Size()
		}
	}
}

// end forgets the grid.
func (m *machine) end() {
	for i, p := range m.grid.program.Memories {
		if p.Space == program.Global {
			m.memories[i].data = nil
		}
	}
	m.grid = nil
}

func (m *machine) newColumn(t program.Type) *column { return &column{typ: t, domain: m.n} }

// operand returns the column of an operand.
func (m *machine) operand(x program.Operand) *column {
	if x.Var != nil {
		return m.vars[x.Var.ID]
	}
	c, ok := m.constants[x]
	if !ok {
		c = m.newColumn(x.Type)
		c.setBits(x.Bits)
		m.constants[x] = c
	}
	return c
}

// declares reports whether an instruction declares its variable: all others that use it are executed behind it, by the same threads.
func (m *machine) declares(i *program.Instr) bool { return m.declaring[i] }

// run runs a group.
func (m *machine) run(number int) (err error) {
	g := m.grid
	wide := g.groupsX()
	m.first = [3]int{number % wide * g.blocks, number / wide % g.Grid[1], number / (wide * g.Grid[1])}
	m.sizes = [axes]int{g.Block[0], g.Block[1], g.Block[2], min(g.blocks, g.Grid[0]-m.first[0])}
	m.lanes = m.threads * m.sizes[blockAxis]
	m.group, m.pending, m.limit = number, nil, m.lanes
	defer func() {
		switch p := recover().(type) {
		case nil:
		case stopped:
			err = p.err
		default:
			panic(p)
		}
		if m.pending != nil {
			err = m.pending
		}
	}()
	for i, p := range g.program.Params {
		if p.Scalar != nil {
			m.vars[p.Scalar.ID].setBits(g.Scalars[i])
		} else {
			m.vars[p.Len.ID].setBits(uint64(len(g.Memory[i]) / p.Slice.Elem.Size()))
		}
	}
	for _, p := range m.memories {
		p.reset(m.sizes[blockAxis])
	}
	m.body(threads{hi: m.lanes})
	return nil
}

// fault records that thread k, one of t, has a fault, and returns the threads before it, which go on.
func (m *machine) fault(i *program.Instr, t threads, k int, index, length int64, detail string) threads {
	if k < m.limit {
		m.limit, m.steps = k, 0
		b, block := m.grid.Block, m.first
		block[0] += k / m.threads
		n := k % m.threads
		m.pending = &program.Fault{
			Instr: i, Kernel: m.grid.program.Name, Block: block, Thread: [3]int{n % b[0], n / b[0] % b[1], n / (b[0] * b[1])},
			Index: index, Length: length, Detail: detail,
		}
	}
	return t.below(k)
}

const (
	// pollEvery is how many iterations of loops pass between looks at the context.
	pollEvery = 64
	// afterFault is how many iterations the threads before one with a fault may do. They may wait for that thread.
	afterFault = 1 << 16
)

// poll is called in each iteration of a loop.
func (m *machine) poll() {
	m.steps++
	if m.pending != nil && m.steps > afterFault {
		panic(stopped{})
	}
	if m.steps%pollEvery == 0 {
		if err := m.grid.ctx.Err(); err != nil {
			m.pending = nil
			panic(stopped{err})
		}
		if int64(m.group) > m.grid.stop.Load() {
			m.pending = nil
			panic(stopped{nil})
		}
	}
}
