package errors_test

import (
	standard "errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/quernlab/quern/interp/generic/errors"
)

type timeout interface {
	error
	Timeout() bool
}

func TestAsType(t *testing.T) {
	path := &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}
	for _, err := range []error{nil, fs.ErrNotExist, path, fmt.Errorf("in a: %w", path), standard.Join(fs.ErrExist, fmt.Errorf("%w", path)), standard.New("x")} {
		got, ok := errors.AsType[*fs.PathError](err)
		want, wantOK := standard.AsType[*fs.PathError](err)
		if got != want || ok != wantOK {
			t.Errorf("%v: %v, %v, want %v, %v", err, got, ok, want, wantOK)
		}
		gotTimeout, ok := errors.AsType[timeout](err)
		wantTimeout, wantOK := standard.AsType[timeout](err)
		if gotTimeout != wantTimeout || ok != wantOK {
			t.Errorf("%v: %v, %v, want %v, %v", err, gotTimeout, ok, wantTimeout, wantOK)
		}
	}
}
