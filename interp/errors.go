package interp

import "github.com/quernlab/quern/interp/diagnostics"

// Error is why a cell failed. Its Name is "compile error", "panic", "runtime error", "error"
// (the cell ended in a non-nil error), "interrupted" or "internal error".
type Error = diagnostics.Error
