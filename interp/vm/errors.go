package vm

// UncompiledError reports that a function of a package could not be compiled when it was called for the first time.
type UncompiledError struct {
	Function string
	Err      error
}

func (e *UncompiledError) Error() string { return e.Function + " cannot be called: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *UncompiledError) Unwrap() error { return e.Err }
