package nn

// FileNotes are the notes in the metadata of a safetensors file. [Load] attaches them to the
// tensors of a model (tensor.SetMetadata), and [Save] writes them again.
type FileNotes struct {
	Notes map[string]string // by their keys
}

// FileNotes returns the notes.
func (n *FileNotes) FileNotes() map[string]string { return n.Notes }

// noted is metadata of tensors that is written to files.
type noted interface{ FileNotes() map[string]string }

// SharedMetadata returns the metadata that all tensors of a model have, of a type that [Save]
// writes to files: one with a method FileNotes() map[string]string. It is nil if some tensors have
// none or another one.
func SharedMetadata(model any) any {
	var found noted
	for i, p := range State(model) {
		n, _ := p.Metadata().(noted)
		if n == nil || i > 0 && n != found {
			return nil
		}
		found = n
	}
	return found
}

// notesOf returns the notes for the file of a model; nil for none.
func notesOf(model any) map[string]string {
	if n, ok := SharedMetadata(model).(noted); ok {
		return n.FileNotes()
	}
	return nil
}

// attachNotes attaches the notes of a file to the tensors of a model.
func attachNotes(model any, notes map[string]string) {
	if len(notes) == 0 {
		return
	}
	n := &FileNotes{notes}
	for _, p := range State(model) {
		p.SetMetadata(n)
	}
}
