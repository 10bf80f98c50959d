package kernel

import (
	"encoding/json"
	"sync"
)

// parents maps cells to the headers of their requests, also after the end of a cell: its
// goroutines may still produce output.
type parents struct {
	mu     sync.Mutex
	byCell map[int]json.RawMessage
	order  []int // the cells in byCell, oldest first
}

// maxParents is the number of cells that late output can be attributed to.
const maxParents = 10_000

func (p *parents) set(cell int, header json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byCell == nil {
		p.byCell = map[int]json.RawMessage{}
	}
	if _, again := p.byCell[cell]; !again {
		p.order = append(p.order, cell)
	}
	p.byCell[cell] = header
	if len(p.order) > maxParents {
		delete(p.byCell, p.order[0])
		p.order = p.order[1:]
	}
}

func (p *parents) get(cell int) json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byCell[cell]
}
