package kernel

import (
	"fmt"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/wire"
)

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
