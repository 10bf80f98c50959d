//go:build !windows

package supplement

import "reflect"

// platform has what yaegi's table of syscall lacks on this platform: nothing.
func platform() map[string]map[string]reflect.Value { return nil }
