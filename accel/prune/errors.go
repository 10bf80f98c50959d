package prune

import "fmt"

// SparsityError is returned for a sparsity outside [0, 1).
type SparsityError struct {
	Sparsity float64 // as requested
}

// Error names the valid range.
func (e *SparsityError) Error() string {
	return fmt.Sprintf("prune: sparsity %v is out of range: it must be at least 0 and less than 1", e.Sparsity)
}

// EmptyLayerError is returned if a layer would lose all its weights.
type EmptyLayerError struct {
	Name     string  // of the layer in the model
	Sparsity float64 // as requested
}

// Error says what to do.
func (e *EmptyLayerError) Error() string {
	return fmt.Sprintf("prune: at sparsity %v layer %s would lose all its weights: prune less, or exclude the layer with Except", e.Sparsity, e.Name)
}

// UnknownLayerError is returned if an option names a layer that the model does not have.
type UnknownLayerError struct {
	Name  string   // as given
	Known []string // prunable layers
}

// Error lists the existing layers.
func (e *UnknownLayerError) Error() string {
	return fmt.Sprintf("prune: there is no prunable layer %q; the layers are %q", e.Name, e.Known)
}

// LayerError says why a layer cannot be pruned.
type LayerError struct {
	Name string // of the layer in the model
	Err  error  // the reason
}

// Error names the layer.
func (e *LayerError) Error() string { return fmt.Sprintf("prune: layer %s: %v", e.Name, e.Err) }

// Unwrap returns the reason.
func (e *LayerError) Unwrap() error { return e.Err }
