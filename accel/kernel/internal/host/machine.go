package host

import (
	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// machine runs blocks one after the other.
type machine struct {
	grid     *grid
	n        int // threads
	block    int // number of the block
	id       [3]int
	vars     [][]uint64 // by variable and thread
	memories []memory
	root     *left // of the body of the kernel: the threads that have returned
	all      []int32
	body     code
	special  [12][]uint64
	steps    int
}

// code runs for a list of threads, in ascending order, and returns those that continue behind it.
type code func(threads []int32) []int32

// left are the threads that have left a block.
type left struct {
	threads, merged []int32
}

// stopped is panicked to end a block.
type stopped struct{ err error }

func newMachine(g *grid) *machine {
	m := &machine{grid: g, n: g.Block[0] * g.Block[1] * g.Block[2]}
	for range g.program.Vars {
		m.vars = append(m.vars, make([]uint64, m.n))
	}
	for _, p := range g.program.Memories {
		m.memories = append(m.memories, m.newMemory(p))
	}
	for i := range m.n {
		m.all = append(m.all, int32(i))
	}
	for i := range m.special {
		m.special[i] = make([]uint64, m.n)
	}
	for i := range m.n {
		at := m.thread(i)
		for axis := range 3 {
			m.special[int(program.ThreadX)+axis][i] = uint64(at[axis])
			m.special[int(program.BlockDimX)+axis][i] = uint64(g.Block[axis])
			m.special[int(program.GridDimX)+axis][i] = uint64(g.Grid[axis])
		}
	}
	blocks := map[*program.Block]*left{}
	m.body = m.compileBlock(g.program.Body, blocks)
	m.root = blocks[g.program.Body]
	return m
}

// thread returns the position of a thread in its block.
func (m *machine) thread(i int) [3]int {
	b := m.grid.Block
	return [3]int{i % b[0], i / b[0] % b[1], i / (b[0] * b[1])}
}

// run runs a block.
func (m *machine) run(number int) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case stopped:
			err = p.err
		default:
			panic(p)
		}
	}()
	g := m.grid
	m.block = number
	m.id = [3]int{number % g.Grid[0], number / g.Grid[0] % g.Grid[1], number / (g.Grid[0] * g.Grid[1])}
	for axis := range 3 {
		fill(m.special[int(program.BlockX)+axis], uint64(m.id[axis]))
	}
	for i, p := range g.program.Params {
		if p.Scalar != nil {
			fill(m.vars[p.Scalar.ID], g.Scalars[i])
		} else {
			fill(m.vars[p.Len.ID], uint64(len(g.Memory[i])/p.Slice.Elem.Size()))
		}
	}
	for i := range m.memories {
		clear(m.memories[i].written)
	}
	m.body(m.all)
	return nil
}

func fill(s []uint64, v uint64) {
	for i := range s {
		s[i] = v
	}
}

// fault ends the block with a fault of a thread.
func (m *machine) fault(i *program.Instr, thread int, index, length uint64, detail string) {
	panic(stopped{&program.Fault{
		Instr: i, Kernel: m.grid.program.Name, Block: m.id, Thread: m.thread(thread), Index: int64(index), Length: int64(length), Detail: detail,
	}})
}

// compileList compiles statements.
func (m *machine) compileList(list []program.Stmt, blocks map[*program.Block]*left) code {
	var parts []code
	for _, s := range list {
		switch s := s.(type) {
		case *program.Instr:
			f := m.compileInstr(s)
			parts = append(parts, func(t []int32) []int32 { f(t); return t })
		case *program.Block:
			parts = append(parts, m.compileBlock(s, blocks))
		case *program.Loop:
			parts = append(parts, m.compileLoop(s, blocks))
		case *program.If:
			parts = append(parts, m.compileIf(s, blocks))
		case *program.Leave:
			l := blocks[s.Block]
			parts = append(parts, func(t []int32) []int32 {
				l.threads = append(l.threads, t...)
				return nil
			})
		}
	}
	return func(t []int32) []int32 {
		for _, f := range parts {
			if len(t) == 0 {
				return nil
			}
			t = f(t)
		}
		return t
	}
}

func (m *machine) compileBlock(b *program.Block, blocks map[*program.Block]*left) code {
	l := &left{}
	blocks[b] = l
	body := m.compileList(b.Body, blocks)
	return func(t []int32) []int32 {
		l.threads = l.threads[:0]
		rest := body(t)
		if len(l.threads) == 0 {
			return rest
		}
		l.merged = merge(l.merged[:0], rest, sorted(l.threads))
		return l.merged
	}
}

// sorted sorts a list of threads that consists of a few ascending ones.
func sorted(t []int32) []int32 {
	for i := 1; i < len(t); i++ {
		if t[i] < t[i-1] {
			return insertion(t)
		}
	}
	return t
}

func insertion(t []int32) []int32 {
	present := make([]bool, t[len(t)-1]+1)
	for _, x := range t {
		if int(x) >= len(present) {
			present = append(present, make([]bool, int(x)+1-len(present))...)
		}
		present[x] = true
	}
	t = t[:0]
	for i, p := range present {
		if p {
			t = append(t, int32(i))
		}
	}
	return t
}

// merge appends two ascending lists to to, which shares memory with neither.
func merge(to, a, b []int32) []int32 {
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			to, a = append(to, a[0]), a[1:]
		} else {
			to, b = append(to, b[0]), b[1:]
		}
	}
	return append(append(to, a...), b...)
}

// pollEvery is how many iterations of loops pass between looks at the context.
const pollEvery = 256

func (m *machine) compileLoop(l *program.Loop, blocks map[*program.Block]*left) code {
	body := m.compileList(l.Body, blocks)
	return func(t []int32) []int32 {
		for len(t) > 0 {
			if m.steps++; m.steps%pollEvery == 0 {
				if err := m.grid.ctx.Err(); err != nil {
					panic(stopped{err})
				}
				if int64(m.block) > m.grid.stop.Load() {
					panic(stopped{nil})
				}
			}
			t = body(t)
		}
		return nil
	}
}

func (m *machine) compileIf(s *program.If, blocks map[*program.Block]*left) code {
	cond := m.source(s.Cond)
	then, otherwise := m.compileList(s.Then, blocks), m.compileList(s.Else, blocks)
	var yes, no, merged []int32
	return func(t []int32) []int32 {
		yes, no = yes[:0], no[:0]
		for _, i := range t {
			if cond[i] != 0 {
				yes = append(yes, i)
			} else {
				no = append(no, i)
			}
		}
		if len(no) == 0 {
			return then(yes)
		}
		if len(yes) == 0 {
			return otherwise(no)
		}
		a, b := then(yes), otherwise(no)
		if len(a) == 0 {
			return b
		}
		if len(b) == 0 {
			return a
		}
		merged = merge(merged[:0], a, b)
		return merged
	}
}

// source returns the values of an operand by thread.
func (m *machine) source(x program.Operand) []uint64 {
	if x.Var != nil {
		return m.vars[x.Var.ID]
	}
	s := make([]uint64, m.n)
	fill(s, x.Bits)
	return s
}
