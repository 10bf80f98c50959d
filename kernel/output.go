package kernel

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/wire"
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

// Stream publishes output of a cell. Name is stdout or stderr. It does not keep text.
func (k *Kernel) Stream(cell int, name string, text []byte) {
	k.publisher.stream(k.parents.get(cell), name, text)
	k.late.stream(cell, text)
}

// Display publishes a display of a cell.
func (k *Kernel) Display(d link.Display) error {
	parent := k.parents.get(d.Cell)
	switch d.Kind {
	case "display":
		k.publisher.publish(wire.DisplayData, parent, wire.NewDisplay(d.ID, d.Data, d.Metadata))
	case "update":
		k.publisher.publish(wire.UpdateDisplayData, parent, wire.NewDisplay(d.ID, d.Data, d.Metadata))
	case "clear":
		k.publisher.publish(wire.ClearOutput, parent, wire.Clear{Wait: d.Wait})
	default:
		return fmt.Errorf("display of unknown kind %q", d.Kind)
	}
	k.late.display(d)
	return nil
}
