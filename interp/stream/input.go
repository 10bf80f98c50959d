package stream

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/goroutine"
)

// An Input is the standard input of cells.
//
// If it is not the standard input of the process, os.Stdin in cells is a placeholder file
// that cannot be read. Functions that are called with that file read the Input instead.
type Input struct {
	source io.Reader
	reader io.Reader
	own    *os.File // the placeholder
	file   *os.File // the variable os.Stdin, which cells may set
}

// ender ends what the calling goroutine does if its run is stopped.
type ender interface {
	Member() *goroutine.Member
	EndWait(*goroutine.Member)
}

// noFile is part of the error of code that reads os.Stdin in a way that is not replaced.
const noFile = "os.Stdin (a notebook reads it by fmt.Scan, fmt.Fscan, bufio.NewScanner, bufio.NewReader and package io, and may give it to a child)"

// NewInput returns an Input that reads source. An error other than io.EOF ends the cell,
// since few programs check for it.
func NewInput(source io.Reader, e ender) (*Input, error) {
	if source == os.Stdin {
		return &Input{source, source, os.Stdin, os.Stdin}, nil
	}
	file, err := syscall.Open(os.DevNull, syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", os.DevNull, err)
	}
	own := os.NewFile(uintptr(file), noFile)
	return &Input{source, &cellReader{e, source}, own, own}, nil
}

// Source returns the reader that NewInput was given.
func (i *Input) Source() io.Reader { return i.source }

// Reader returns the reader of cells.
func (i *Input) Reader() io.Reader { return i.reader }

// Current returns the reader of what os.Stdin in cells is now.
func (i *Input) Current() io.Reader { return i.Replace(i.file) }

// File returns the variable that is os.Stdin in cells.
func (i *Input) File() **os.File { return &i.file }

// Replace returns the reader of cells if r is the placeholder file, and otherwise r.
func (i *Input) Replace(r io.Reader) io.Reader {
	if r == io.Reader(i.own) {
		return i.reader
	}
	return r
}

// IsSubstitute reports whether r is the placeholder file.
func (i *Input) IsSubstitute(r io.Reader) bool {
	return r == io.Reader(i.own) && i.source != io.Reader(os.Stdin)
}

// A cellReader ends the calling cell if a read fails.
type cellReader struct {
	ender ender
	r     io.Reader
}

// Read implements io.Reader.
func (r *cellReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	if m := r.ender.Member(); m != nil {
		r.ender.EndWait(m)
	}
	panic(diagnostics.NewCommandError(fmt.Errorf("standard input: %w", err)))
}
