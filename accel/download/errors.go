package download

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/internal/secret"
)

// Reasons why a download fails; an [*Error] wraps one of them, or the error of the network or of
// the file system.
var (
	// ErrInsecure: the address, or one that it redirects to, is not HTTPS, and there is neither [SHA256] nor [Check].
	ErrInsecure = errors.New("the address is not HTTPS: without encryption, only a file whose content is verified can be downloaded")
	// ErrBusy: another process, or another call, is downloading the same file.
	ErrBusy = errors.New("the file is being downloaded by another process or call")
	// ErrTooLarge: the server sends more bytes than [MaxSize] allows.
	ErrTooLarge = errors.New("the file is larger than allowed")
)

// Error reports a download that failed.
type Error struct {
	Address string // of the file on the server, with *** in place of a user, a password and a query
	Path    string // where it was to be stored
	Kept    int64  // bytes that are kept, with which the next call continues
	Err     error  // the cause
}

// failure returns an error that gives no credentials of the address away, nor does what it wraps.
func failure(address, path string, kept int64, err error) *Error {
	return &Error{secret.Address(address), path, kept, secret.Error(err)}
}

// Error names the address, the file, the reason, and what is kept.
func (e *Error) Error() string {
	text := fmt.Sprintf("download: %s to %s: %v", e.Address, e.Path, e.Err)
	if e.Kept > 0 {
		text += fmt.Sprintf("; %d bytes are kept, call again to continue", e.Kept)
	}
	return text
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// StatusError is a response of the server other than success.
type StatusError struct {
	Code   int    // such as 404
	Status string // such as "404 Not Found"
}

// Error returns the status, and for a file that needs an account what to do.
func (e *StatusError) Error() string {
	if e.Code == 401 || e.Code == 403 {
		return e.Status + ": the file may need an account; see download.Header"
	}
	return e.Status
}

// ChecksumError reports that a complete file does not have the expected content. It was removed.
type ChecksumError struct {
	Want, Got string // SHA-256 in hexadecimal
	Size      int64  // in bytes
}

// Error names both checksums.
func (e *ChecksumError) Error() string {
	return fmt.Sprintf("the file of %d bytes has SHA-256 %s, want %s; it was removed", e.Size, e.Got, e.Want)
}
