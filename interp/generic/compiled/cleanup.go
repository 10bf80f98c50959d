package compiled

import (
	"reflect"
	"runtime"
)

// AddCleanup is runtime.AddCleanup for a pointer of any type. A session replaces it by a function that runs cleanup as a part
// of the cell.
func AddCleanup(pointer reflect.Value, cleanup func()) runtime.Cleanup {
	return runtime.AddCleanup((*byte)(pointer.UnsafePointer()), func(f func()) { f() }, cleanup)
}
