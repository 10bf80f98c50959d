package driver

import (
	"errors"
	"fmt"
	"strings"
)

// Code is a CUresult. It is an error, so errors.Is(err, OutOfMemory) works.
type Code int

// The codes that the back end handles, named as in cuda.h.
const (
	InvalidValue          Code = 1
	OutOfMemory           Code = 2
	NotInitialized        Code = 3
	Deinitialized         Code = 4
	StubLibrary           Code = 34
	NoDevice              Code = 100
	InvalidDevice         Code = 101
	InvalidContext        Code = 201
	NoBinaryForGPU        Code = 209
	ECCUncorrectable      Code = 214
	InvalidPTX            Code = 218
	NVLinkUncorrectable   Code = 220
	UnsupportedPTXVersion Code = 222
	Contained             Code = 226
	InvalidHandle         Code = 400
	NotFound              Code = 500
	NotReady              Code = 600
	IllegalAddress        Code = 700
	LaunchOutOfResources  Code = 701
	LaunchTimeout         Code = 702
	Assert                Code = 710
	HardwareStack         Code = 714
	IllegalInstruction    Code = 715
	MisalignedAddress     Code = 716
	InvalidAddressSpace   Code = 717
	InvalidPC             Code = 718
	LaunchFailed          Code = 719
	TensorMemoryLeak      Code = 721
	SystemNotReady        Code = 802
	SystemDriverMismatch  Code = 803
	DeviceUnavailable     Code = 46
	NotSupported          Code = 801
	ServerEnded           Code = 810
	CaptureUnsupported    Code = 900
	CaptureInvalidated    Code = 901
	UpdateFailure         Code = 910
	ExternalDevice        Code = 911
	Unknown               Code = 999
)

// Name returns CUDA's name of the code.
func (c Code) Name() string {
	if name, ok := names[c]; ok {
		return name
	}
	return fmt.Sprintf("CUDA error %d", int(c))
}

func (c Code) Error() string { return c.Name() }

// Sticky reports whether every later CUDA call of the process fails: the contents of device
// memory are lost and a new process is needed.
func (c Code) Sticky() bool {
	switch c {
	case ECCUncorrectable, NVLinkUncorrectable, Contained, IllegalAddress, LaunchTimeout, Assert, HardwareStack, IllegalInstruction,
		MisalignedAddress, InvalidAddressSpace, InvalidPC, LaunchFailed, TensorMemoryLeak, ServerEnded, ExternalDevice, Deinitialized, Unknown:
		return true
	}
	return false
}

// Lost reports whether an error means that nothing runs on the device any more.
func Lost(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code.Sticky()
}

// Error is a call that the driver rejected, or work on the device that failed.
type Error struct {
	Code Code
	Call string // CUDA function that returned it, such as cuLaunchKernel
	Op   string // what was being done: Launch.Label, or sizes in bytes; may be empty
	Log  string // log of the PTX compiler, or more details; may be empty
	// Cause has details that only a driver other than CUDA's provides; otherwise nil.
	Cause error
}

// Error returns the op, the call, the code and a hint.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	fmt.Fprintf(&b, "%s: %s", e.Call, e.Code.Name())
	if e.Log != "" {
		b.WriteString(": " + strings.TrimSpace(e.Log))
	}
	if hint := e.Code.hint(); hint != "" {
		b.WriteString(" (" + hint + ")")
	}
	return b.String()
}

// hint says what to do.
func (c Code) hint() string {
	switch c {
	case DeviceUnavailable:
		return "another process uses the GPU exclusively; nvidia-smi lists it"
	case UnsupportedPTXVersion:
		return "the NVIDIA driver is too old for this kernel; update it"
	case NoBinaryForGPU:
		return "the kernel was compiled for another kind of GPU"
	case ECCUncorrectable:
		return "the GPU's memory has an uncorrectable ECC error; restart the session, and have the GPU checked if it happens again"
	}
	if c.Sticky() {
		return "the contents of GPU memory are lost; restart the session to use the GPU again"
	}
	return ""
}

// Unwrap returns the code and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Code}
	}
	return []error{e.Code, e.Cause}
}
