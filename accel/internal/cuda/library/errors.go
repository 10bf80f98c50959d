package library

import (
	"errors"
	"fmt"
	"strings"
)

// ErrOff is the error where the user does not want libraries.
var ErrOff = errors.New("switched off by " + Variable)

// ErrBuild is the error of a program that cannot load libraries.
var ErrBuild = errors.New("the program was built without cgo, or not for Linux")

// MissingError says that a library was not found.
type MissingError struct {
	Library *Library
	Only    string // the folders of the variable, if it is set
	Skipped error  // files that are there and are not trusted; may be nil
}

func (e *MissingError) Error() string {
	if e.Skipped != nil {
		return fmt.Sprintf("not used, since other users could have written it: %v", e.Skipped)
	}
	if e.Only != "" {
		return fmt.Sprintf("%s is not in %s (%s)", strings.Join(e.Library.Files, " or "), e.Only, Variable)
	}
	return fmt.Sprintf("not found; python3 -m pip install %s brings it, and %s can name its folder", e.Library.Package, Variable)
}

// Unwrap returns why files that are there are not used.
func (e *MissingError) Unwrap() error { return e.Skipped }

// VersionError says that a library has a version that is not used.
type VersionError struct {
	Library *Library
	Path    string
	Found   Version
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s is version %s, and %s up to, without, %s is used", e.Path, e.Found, e.Library.Oldest, e.Library.Before)
}

// DriverError says that a library is made for a later CUDA than the driver's.
type DriverError struct {
	Path         string
	CUDA, Driver int // as CUDA writes versions: 1000*major + 10*minor
}

func (e *DriverError) Error() string {
	return fmt.Sprintf("%s is made for CUDA %d, and the NVIDIA driver supports CUDA %d.%d; update the driver or install the library for CUDA %d",
		e.Path, e.CUDA/1000, e.Driver/1000, e.Driver%1000/10, e.Driver/1000)
}

// LoadError says that a library, or what it needs, cannot be loaded.
type LoadError struct {
	Path   string
	Reason string // of the loader, or the function that is missing
}

func (e *LoadError) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.Reason) }

// CallError is a call that a library refused.
type CallError struct {
	Library *Library
	Call    string // function
	Code    int    // status
	Status  string // its name, CUBLAS_STATUS_NOT_SUPPORTED
	Words   string // what the library says beyond that; may be empty
	Op      string // what was being done: op and shapes; may be empty
}

func (e *CallError) Error() string {
	text := fmt.Sprintf("%s: %s: %s", e.Library.Name, e.Call, e.Status)
	if e.Words != "" {
		text += ": " + e.Words
	}
	if e.Op != "" {
		text = e.Op + ": " + text
	}
	return text
}
