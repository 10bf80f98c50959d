package layer

// Models is what package nn does for other packages of accel and not for users. Package nn provides it once, as package
// tensor provides package tensors.
type Models struct {
	NilModules     func(model any) (paths []string)
	RetainsNothing func(module any) bool
	SharedMetadata func(model any) any
}

var models Models

// Provide is called by package nn when it is initialized.
func Provide(m Models) { models = m }

// NilModules returns the paths of the fields of a model that hold modules and are nil, such as
// "Head". They may be nil on purpose, if Forward does not use them.
func NilModules(model any) (paths []string) { return models.NilModules(model) }

// RetainsNothing reports whether a module keeps no reference to its input and output, so that the
// caller of Forward may release them when it has used them. The layers of package nn keep none. A
// module of another package may keep references, unless it has a method RetainsNothing() bool that
// returns true.
func RetainsNothing(module any) bool { return models.RetainsNothing(module) }

// SharedMetadata returns the metadata that all tensors of a model have, of a type that nn.Save
// writes to files: one with a method FileNotes() map[string]string. It is nil if some tensors have
// none or another one.
func SharedMetadata(model any) any { return models.SharedMetadata(model) }

// FileNotes are the notes in the metadata of a safetensors file. nn.Load attaches them to the
// tensors of a model (tensors.SetMetadata), and nn.Save writes them again.
type FileNotes struct {
	Notes map[string]string // by their keys
}

// FileNotes returns the notes.
func (n *FileNotes) FileNotes() map[string]string { return n.Notes }
