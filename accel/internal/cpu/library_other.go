//go:build !darwin || purego

package cpu

// systemLibrary is for macOS only.
func systemLibrary() (sgemm, string, error) { return nil, "", nil }
