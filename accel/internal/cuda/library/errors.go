package library

import (
	"errors"
	"fmt"
	"strings"
)

// ErrOff means that the user switched the libraries off.
var ErrOff = errors.New("switched off by " + Variable)

// ErrBuild means that this build of the program cannot load libraries.
var ErrBuild = errors.New("the program was built without cgo, or not for Linux")

// MissingError means that a library was not found.
type MissingError struct {
	Library *Library
	Only    string // the folders of QUERN_CUDA_LIBRARIES, if it is set
	Skipped error  // files that exist and are not trusted; may be nil
}

func (e *MissingError) Error() string {
	if e.Skipped != nil {
		return fmt.Sprintf("not used, since other users could have written it: %v", e.Skipped)
	}
	if e.Only != "" {
		return fmt.Sprintf("%s is not in %s (%s)", strings.Join(e.Library.Files, " or "), e.Only, Variable)
	}
	return fmt.Sprintf("not found; install it with python3 -m pip install %s, or set %s to its folder", e.Library.Package, Variable)
}

// Unwrap returns why existing files are not used.
func (e *MissingError) Unwrap() error { return e.Skipped }

// VersionError means that the version of a library is not supported.
type VersionError struct {
	Library *Library
	Path    string
	Found   Version
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has version %s, but only versions from %s to below %s are supported", e.Path, e.Found, e.Library.Oldest, e.Library.Before)
}

// DriverError means that a library needs a later CUDA than the driver supports.
type DriverError struct {
	Path         string
	CUDA, Driver int // 1000*major + 10*minor, CUDA's format
}

func (e *DriverError) Error() string {
	return fmt.Sprintf("%s requires CUDA %d, but the NVIDIA driver supports CUDA %d.%d; update the driver or install the library for CUDA %d",
		e.Path, e.CUDA/1000, e.Driver/1000, e.Driver%1000/10, e.Driver/1000)
}

// LoadError means that a library, or one that it depends on, cannot be loaded.
type LoadError struct {
	Path   string
	Reason string // message of the dynamic linker, or the missing function
}

func (e *LoadError) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.Reason) }

// CallError is a call that a library rejected.
type CallError struct {
	Library *Library
	Call    string // function
	Code    int    // status
	Status  string // name of the status, CUBLAS_STATUS_NOT_SUPPORTED for instance
	Words   string // the library's message; may be empty
	Op      string // op and shapes; may be empty
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

// Version is a library's version.
type Version struct{ Major, Minor, Patch int }

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// number returns a version in the format of NVIDIA's libraries.
func (v Version) number() int { return 10000*v.Major + 100*v.Minor + v.Patch }

// numbered parses the version that a library returns.
func numbered(n int) Version { return Version{n / 10000, n / 100 % 100, n % 100} }

// check returns a [*VersionError] for a version that is not supported.
func (l *Library) check(path string, number int) (Version, error) {
	v := numbered(number)
	if v.number() < l.Oldest.number() || v.number() >= l.Before.number() {
		return v, &VersionError{Library: l, Path: path, Found: v}
	}
	return v, nil
}
