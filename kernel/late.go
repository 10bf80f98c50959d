package kernel

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/wire"
)

// Goroutines of a cell may produce output after the cell has ended: late output. It is
// published with the cell's own request as parent, so JupyterLab shows it under that
// cell. But nbclient, on which nbconvert --execute and papermill are built, drops all
// messages whose parent is not the running cell. The one exception is
// update_display_data, which replaces the content of a display wherever it is shown.
//
// So a cell whose goroutines outlive it gets an empty display at its end, its late area.
// At the end of each later cell that display is updated with all late output so far. This
// is done only for clients that behave like nbclient: the only client, without a user
// (allow_stdin is false), which sends one cell after the other and nothing else. Other
// clients would show late output twice.

// lateOutput keeps the output of cells that have ended.
type lateOutput struct {
	mu      sync.Mutex
	session string                  // of the first client
	asked   bool                    // a cell has arrived and has not been answered
	off     bool                    // the client is not nbclient, so nothing is kept
	running int                     // the running cell; 0 between cells
	parent  json.RawMessage         // the header of its request
	areas   map[int]*lateArea       // by cell
	order   []int                   // the cells in areas, oldest first
	size    int                     // of all areas, in bytes
	updates map[string]link.Display // the last late update of each display that was shown by a running cell
	comms   []wire.Outgoing         // comm messages that came between cells
}

// Limits for late output.
const (
	maxAreas     = 1_000
	maxLateComms = 256
)

// observe records a request. A request that nbclient does not send ends the keeping of
// late output.
func (l *lateOutput) observe(r *request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == "" {
		l.session = r.Header.Session
	}
	switch typ := r.Header.Type; {
	case r.Header.Session != l.session:
		l.stop()
	case typ == wire.ExecuteRequest && !l.asked:
		l.asked = true
	case typ != wire.KernelInfoRequest && typ != wire.ShutdownRequest:
		l.stop()
	}
}

// stop ends the keeping of late output. The lock is held.
func (l *lateOutput) stop() {
	l.off = true
	l.areas, l.order, l.size, l.updates = nil, nil, 0, nil
}

// answered records that a cell will be answered now.
func (l *lateOutput) answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = false
}

// begin records that a cell begins; parent is the header of its request, and user is whether
// its client has a user. It returns the messages to publish for the cell.
func (l *lateOutput) begin(cell int, parent json.RawMessage, user bool) []wire.Outgoing {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running, l.parent = cell, parent
	if user {
		l.stop()
	}
	comms := l.comms
	l.comms = nil
	return comms
}

// endSilent records that a silent cell has ended, for which nothing may be published.
func (l *lateOutput) endSilent() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = 0
}

// end records that a cell has ended and whether some of its goroutines continue. It returns
// the messages to publish for the cell.
func (l *lateOutput) end(cell int, goroutines bool) []wire.Outgoing {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = 0
	if l.off {
		return nil
	}
	if goroutines {
		l.area(cell).changed = true
	}
	var messages []wire.Outgoing
	for _, id := range slices.Sorted(maps.Keys(l.updates)) {
		d := l.updates[id]
		messages = append(messages, wire.Outgoing{Type: wire.UpdateDisplayData, Content: wire.NewDisplay(d.ID, d.Data, d.Metadata)})
	}
	clear(l.updates)
	for _, of := range l.order {
		a := l.areas[of]
		if !a.changed {
			continue
		}
		data, metadata := a.bundle()
		m := wire.Outgoing{Type: wire.UpdateDisplayData, Content: wire.NewDisplay(lateID(of), data, metadata)}
		if !a.shown { // not created at the cell's end, since the output is not from one of its goroutines
			m.Type = wire.DisplayData
		}
		a.shown, a.changed = true, false
		messages = append(messages, m)
	}
	return messages
}

func lateID(cell int) string { return fmt.Sprintf("late-%d", cell) }

// area returns the area of a cell and creates it if necessary. The lock is held.
func (l *lateOutput) area(cell int) *lateArea {
	a := l.areas[cell]
	if a == nil {
		if l.areas == nil {
			l.areas = map[int]*lateArea{}
		}
		a = &lateArea{total: &l.size}
		l.areas[cell] = a
		l.order = append(l.order, cell)
		if len(l.order) > maxAreas {
			l.areas[l.order[0]].clear()
			delete(l.areas, l.order[0])
			l.order = l.order[1:]
		}
	}
	return a
}

// takes reports whether output of a cell is kept. The lock is held.
func (l *lateOutput) takes(cell int) bool { return !l.off && cell != l.running && cell != 0 }

// stream keeps late text of a cell.
func (l *lateOutput) stream(cell int, text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.takes(cell) {
		l.area(cell).print(text)
	}
}

// display keeps a late display of a cell.
func (l *lateOutput) display(d link.Display) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.takes(d.Cell) {
		return
	}
	switch d.Kind {
	case "display":
		l.area(d.Cell).show(d)
	case "update":
		for _, a := range l.areas {
			if a.update(d) {
				return
			}
		}
		if l.updates == nil {
			l.updates = map[string]link.Display{}
		}
		l.updates[d.ID] = d
	case "clear":
		if a := l.areas[d.Cell]; a != nil {
			a.clear()
		}
	}
}

// comm returns a comm message with a parent under which nbclient accepts it, or false if
// the message waits for the next cell. Other clients ignore the parent of comm messages.
func (l *lateOutput) comm(cell int, m wire.Outgoing) (wire.Outgoing, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.takes(cell):
	case l.running != 0:
		m.Parent = l.parent
	case len(l.comms) < maxLateComms:
		l.comms = append(l.comms, m)
		return m, false
	}
	return m, true
}
