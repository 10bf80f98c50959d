//go:build !windows

package supplement

import "reflect"

// platform returns the symbols that yaegi's table of syscall lacks on this platform: none.
func platform() map[string]map[string]reflect.Value { return nil }
