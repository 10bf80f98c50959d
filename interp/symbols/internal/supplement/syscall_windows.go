package supplement

import (
	"reflect"
	"syscall"
)

// platform returns the symbols that yaegi's table of syscall lacks on this platform, because its generator
// ran on another one.
func platform() map[string]map[string]reflect.Value {
	return map[string]map[string]reflect.Value{
		"syscall/syscall": {"WSAENOPROTOOPT": reflect.ValueOf(syscall.WSAENOPROTOOPT)},
	}
}
