package ir

// Storage is memory on a device. Only the device that made it can look inside.
type Storage interface {
	Size() int // bytes
}

// Device runs programs. A device is used by one goroutine at a time.
type Device interface {
	// Name is what errors call the device, for example "cpu".
	Name() string
	// Alloc gives memory of at least this many bytes with undefined content.
	// The error is an *OutOfMemoryError.
	Alloc(bytes int) (Storage, error)
	// Free hands memory back that nobody will use again. Memory that is never
	// handed back must be reclaimed when it becomes unreachable.
	Free(Storage)
	// Write copies host bytes to dst, from an offset in bytes on.
	Write(dst Storage, offset int, src []byte) error
	// Read copies bytes of src, from an offset on, to the host.
	Read(dst []byte, src Storage, offset int) error
	// Compile makes a program ready to run many times. The error says which
	// op the device lacks.
	Compile(*Program) (Executable, error)
}

// Executable is a compiled program.
type Executable interface {
	// Run executes every step in order. bind holds the storage of each slot of
	// kind External and Output (nil for arena slots); words holds the values
	// that change from run to run (see Dynamic). The error is the first that
	// a step met, for example an *IndexError; done is the number of steps
	// that ran before it.
	Run(bind []Storage, words []uint64) (done int, err error)
}

// HostMemory is implemented by a device whose storage the host can look at
// without waiting; index tensors are then checked where an op is called.
type HostMemory interface {
	Bytes(Storage) []byte
}
