package nn

import (
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/layer"
)

// noted is metadata of tensors that is written to files.
type noted interface{ FileNotes() map[string]string }

func init() {
	layer.Provide(layer.Models{NilModules: nilModules, SharedMetadata: sharedMetadata, RetainsNothing: func(module any) bool {
		m, ok := module.(Module)
		return ok && retainsNothing(m)
	}})
}

// sharedMetadata implements [layer.SharedMetadata].
func sharedMetadata(model any) any {
	var found noted
	for i, p := range State(model) {
		n, _ := tensors.Metadata(p.Tensor).(noted)
		if n == nil || i > 0 && n != found {
			return nil
		}
		found = n
	}
	return found
}

// notesOf returns the notes for the file of a model; nil for none.
func notesOf(model any) map[string]string {
	if n, ok := sharedMetadata(model).(noted); ok {
		return n.FileNotes()
	}
	return nil
}

// attachNotes attaches the notes of a file to the tensors of a model.
func attachNotes(model any, notes map[string]string) {
	if len(notes) == 0 {
		return
	}
	n := &layer.FileNotes{Notes: notes}
	for _, p := range State(model) {
		tensors.SetMetadata(p.Tensor, n)
	}
}
