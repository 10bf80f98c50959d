package ir

// Storage is memory on a device. Only the device that allocated it can access it.
type Storage interface {
	Size() int // bytes
}

// Device runs programs. It must be used by one goroutine at a time.
type Device interface {
	// Name returns the name of the device in errors, for example "cpu".
	Name() string
	// Alloc allocates at least this many bytes with undefined content. It fails with an
	// *OutOfMemoryError.
	Alloc(bytes int) (Storage, error)
	// Free frees memory that is no longer used. Memory that is never freed must be
	// reclaimed when it becomes unreachable.
	Free(Storage)
	// Write copies host bytes to dst, starting at an offset in bytes.
	Write(dst Storage, offset int, src []byte) error
	// Read copies bytes of src, starting at an offset, to the host.
	Read(dst []byte, src Storage, offset int) error
	// Compile prepares a program to run many times. The error names the op that the device
	// does not implement.
	Compile(*Program) (Executable, error)
}

// Executable is a compiled program.
type Executable interface {
	// Run runs every step in order. bind holds the storage of each slot of kind External
	// and Output (nil for arena slots); words holds the values that change from run to run
	// (see Dynamic). The error is that of the first failing step, for example an
	// *IndexError; done is the number of steps that ran before it.
	Run(bind []Storage, words []uint64) (done int, err error)
}

// HostMemory is implemented by a device whose storage the host can read without waiting.
// Indices are then checked where an op is called.
type HostMemory interface {
	Bytes(Storage) []byte
}

// IsView reports whether an op may be a view of its input. Then devices need a kernel for it
// only if they cannot take the view of every layout.
func IsView(op Op) bool {
	_, ok := op.(viewer)
	return ok
}
