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

// Goroutines of a cell may put something out after its end. That is published with
// the cell's own request as parent, and JupyterLab shows it under that cell. nbclient,
// on which nbconvert --execute and papermill are built, drops each message whose parent
// is not the cell that it runs. One message reaches another cell even there:
// update_display_data, which replaces a display wherever that is shown.
//
// So a cell whose goroutines outlive it gets an empty display at its end, its late
// area, and at the end of each later cell that display is updated with all that has
// come meanwhile. This is done only for what may be nbclient: the only client, without
// a user (allow_stdin is false), which sends nothing but one cell after the other. The
// others would show late output twice.

// late keeps what cells put out after their end.
type late struct {
	mu      sync.Mutex
	session string                  // of the client that was heard first
	asked   bool                    // a cell has come that is not answered
	off     bool                    // the client is not nbclient: nothing is kept
	running int                     // the cell that runs; 0 between cells
	areas   map[int]*area           // by cell
	order   []int                   // the cells in areas, oldest first
	size    int                     // of all areas, in bytes
	updates map[string]link.Display // the last update of each display that a cell showed before its end
	comms   []wire.Outgoing         // messages to objects of the client that came between cells
}

// Bounds of what late output may cost.
const (
	maxAreas     = 1_000
	maxLate      = 64 << 20 // bytes, of all areas
	maxLateComms = 256
)

// heard notes that a request has come. Once one has that nbclient does not send, nothing
// is kept any more.
func (l *late) heard(r *request) {
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

// stop keeps nothing from now on. The lock is held.
func (l *late) stop() {
	l.off = true
	l.areas, l.order, l.size, l.updates = nil, nil, 0, nil
}

// answered says that a cell will be answered.
func (l *late) answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = false
}

// begin says that a cell runs, for a client with or without a user. It returns the
// messages to publish for it.
func (l *late) begin(cell int, user bool) []wire.Outgoing {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = cell
	if user {
		l.stop()
	}
	comms := l.comms
	l.comms = nil
	return comms
}

// endSilent says that a cell has ended for which nothing may be published.
func (l *late) endSilent() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = 0
}

// end says that a cell has ended, and whether goroutines of it go on. It returns the
// messages to publish for it.
func (l *late) end(cell int, goroutines bool) []wire.Outgoing {
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
		if !a.shown { // what prints is no goroutine of the cell: it has no area yet
			m.Type = wire.DisplayData
		}
		a.shown, a.changed = true, false
		messages = append(messages, m)
	}
	return messages
}

func lateID(cell int) string { return fmt.Sprintf("late-%d", cell) }

// area returns the area of a cell. The lock is held.
func (l *late) area(cell int) *area {
	a := l.areas[cell]
	if a == nil {
		if l.areas == nil {
			l.areas = map[int]*area{}
		}
		a = &area{total: &l.size}
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

// takes reports whether output of a cell is to be kept. The lock is held.
func (l *late) takes(cell int) bool { return !l.off && cell != l.running && cell != 0 }

// stream keeps what a cell prints after its end.
func (l *late) stream(cell int, text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.takes(cell) {
		l.area(cell).print(text)
	}
}

// display keeps what a cell displays after its end.
func (l *late) display(d link.Display) {
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

// comm returns the message with the parent under which the client takes it, or false
// where the message waits for the next cell. Where a message to an object belongs makes
// no difference to clients that take all of them.
func (l *late) comm(cell int, m wire.Outgoing, running json.RawMessage) (wire.Outgoing, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.takes(cell):
	case l.running != 0:
		m.Parent = running
	case len(l.comms) < maxLateComms:
		l.comms = append(l.comms, m)
		return m, false
	}
	return m, true
}
