package prune

import "fmt"

// SparsityError says that a share of weights to prune is not in [0, 1).
type SparsityError struct{ Sparsity float64 }

// Error tells the range.
func (e *SparsityError) Error() string {
	return fmt.Sprintf("prune: a share of %v cannot be pruned: it must be at least 0 and less than 1", e.Sparsity)
}

// WholeLayerError says that nothing would be left of a layer.
type WholeLayerError struct {
	Name     string
	Sparsity float64 // that was asked for
}

// Error tells what to do.
func (e *WholeLayerError) Error() string {
	return fmt.Sprintf("prune: at %v nothing would be left of layer %s: prune less, or leave it out with Except", e.Sparsity, e.Name)
}

// UnknownLayerError says that a model has no layer of a name.
type UnknownLayerError struct {
	Name  string
	Known []string // layers that can be pruned
}

// Error names the layers that there are.
func (e *UnknownLayerError) Error() string {
	return fmt.Sprintf("prune: there is no layer %q to prune; there are %q", e.Name, e.Known)
}

// LayerError says why a layer cannot be pruned.
type LayerError struct {
	Name string
	Err  error
}

// Error names the layer.
func (e *LayerError) Error() string { return fmt.Sprintf("prune: layer %s: %v", e.Name, e.Err) }

// Unwrap is the reason.
func (e *LayerError) Unwrap() error { return e.Err }
