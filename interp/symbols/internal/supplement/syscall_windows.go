package supplement

import (
	"reflect"
	"syscall"
)

// platform has what yaegi's table of syscall lacks on this platform; the generator sees one platform only.
func platform() map[string]map[string]reflect.Value {
	return map[string]map[string]reflect.Value{
		"syscall/syscall": {"WSAENOPROTOOPT": reflect.ValueOf(syscall.WSAENOPROTOOPT)},
	}
}
