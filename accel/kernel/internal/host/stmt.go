package host

import (
	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// compileList compiles statements.
func (m *machine) compileList(list []program.Stmt, blocks map[*program.Block]*union) code {
	var parts []code
	for _, s := range list {
		var f code
		switch s := s.(type) {
		case *program.Instr:
			f = m.compileInstr(s)
		case *program.Block:
			f = m.compileBlock(s, blocks)
		case *program.Loop:
			f = m.compileLoop(s, blocks)
		case *program.If:
			f = m.compileIf(s, blocks)
		case *program.Leave:
			out := blocks[s.Block]
			f = func(t threads) threads { out.add(t); return threads{} }
		}
		if f != nil {
			parts = append(parts, f)
		}
	}
	return func(t threads) threads {
		for _, f := range parts {
			if t.hi == 0 {
				break
			}
			t = f(t)
		}
		return t
	}
}

func (m *machine) compileBlock(b *program.Block, blocks map[*program.Block]*union) code {
	out := &union{marks: make([]bool, m.n)}
	blocks[b] = out
	body := m.compileList(b.Body, blocks)
	var before []int32
	return func(t threads) threads {
		out.reset()
		t = t.kept(&before)
		rest := body(t)
		if out.n == 0 {
			return rest
		}
		if rest.n()+out.n == t.n() {
			return t // all come here
		}
		out.add(rest)
		return out.take().below(m.limit)
	}
}

func (m *machine) compileLoop(l *program.Loop, blocks map[*program.Block]*union) code {
	body := m.compileList(l.Body, blocks)
	return func(t threads) threads {
		for t.hi > 0 {
			m.poll()
			if t = body(t); m.pending != nil {
				t = t.below(m.limit)
			}
		}
		return t
	}
}

func (m *machine) compileIf(s *program.If, blocks map[*program.Block]*union) code {
	cond := m.operand(s.Cond)
	then, otherwise := m.compileList(s.Then, blocks), m.compileList(s.Else, blocks)
	var yes, no, before []int32
	both := &union{marks: make([]bool, m.n)}
	return func(t threads) threads {
		if cond.kind == uniform {
			if one[uint8](cond)[0] != 0 {
				return then(t)
			}
			return otherwise(t)
		}
		t = t.kept(&before)
		a, b := t.split(vec[uint8](m, cond), &yes, &no)
		if b.hi == 0 {
			return then(a)
		}
		if a.hi == 0 {
			return otherwise(b)
		}
		a = then(a)
		b = otherwise(b)
		if a.hi == 0 || b.hi == 0 {
			if a.hi == 0 {
				a = b
			}
			return a
		}
		if a.n()+b.n() == t.n() {
			return t
		}
		both.reset()
		both.add(a)
		both.add(b)
		return both.take()
	}
}

// declarations returns the instructions that declare a variable: the first one that mentions it, if all others are in the same list or in
// lists inside, behind it. Go's scopes make nearly all of them so.
func declarations(p *program.Program) map[*program.Instr]bool {
	d := scopesOf(p)
	all := map[*program.Instr]bool{}
	for v, i := range d.first {
		all[i] = !d.wrong[v]
	}
	return all
}

// scopesOf finds where variables are declared and used.
func scopesOf(p *program.Program) *scopes {
	d := &scopes{
		first: map[*program.Var]*program.Instr{}, list: map[*program.Var]*[]program.Stmt{}, open: map[*[]program.Stmt]bool{},
		wrong: map[*program.Var]bool{}, used: map[*program.Var]bool{},
	}
	for _, x := range p.Params {
		for _, v := range []*program.Var{x.Scalar, x.Len} {
			if v != nil {
				d.wrong[v] = true // the launch assigns to it
			}
		}
	}
	d.walk(&p.Body.Body)
	return d
}

type scopes struct {
	first map[*program.Var]*program.Instr
	list  map[*program.Var]*[]program.Stmt // that of first
	open  map[*[]program.Stmt]bool
	wrong map[*program.Var]bool
	used  map[*program.Var]bool // as an operand
}

func (d *scopes) walk(list *[]program.Stmt) {
	d.open[list] = true
	for _, s := range *list {
		switch s := s.(type) {
		case *program.Instr:
			for _, x := range s.Args {
				d.use(x.Var)
				d.used[x.Var] = true
			}
			if s.Dst == nil {
				break
			}
			if d.first[s.Dst] != nil {
				d.use(s.Dst)
			} else {
				d.first[s.Dst], d.list[s.Dst] = s, list
			}
		case *program.Block:
			d.walk(&s.Body)
		case *program.Loop:
			d.walk(&s.Body)
		case *program.If:
			d.use(s.Cond.Var)
			d.used[s.Cond.Var] = true
			d.walk(&s.Then)
			d.walk(&s.Else)
		}
	}
	d.open[list] = false
}

func (d *scopes) use(v *program.Var) {
	if v != nil && !d.open[d.list[v]] {
		d.wrong[v] = true
	}
}
