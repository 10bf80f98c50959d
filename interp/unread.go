package interp

import (
	"go/token"
	"sync"

	"github.com/quernlab/quern/interp/diagnostics"
)

// unreadErrors records which error variables that a cell sets in loops and branches are unread; see check.Cell.Tracks. The
// keys are the names of the variables in lowered code.
type unreadErrors struct {
	mu  sync.Mutex
	set map[string]token.Position // where unread errors were set
}

// Begin records that an error is read if line is 0, and otherwise where it was set and not read since.
func (u *unreadErrors) Begin(key string, cell, line, column int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.note(key, cell, line, column)
}

func (u *unreadErrors) note(key string, cell, line, column int) {
	if line == 0 {
		delete(u.set, key)
		return
	}
	if u.set == nil {
		u.set = map[string]token.Position{}
	}
	u.set[key] = token.Position{Filename: diagnostics.Filename(cell), Line: line, Column: column}
}

// Overwrite ends the cell if err is unread and not nil, before the statement at line overwrites it; line is 0 for a
// statement that cannot set an error.
func (u *unreadErrors) Overwrite(key string, err error, name string, cell, line, column int) {
	u.Check(key, err, name)
	u.Begin(key, cell, line, column)
}

// Lose ends the cell if err, which was set at line and is never read, is not nil.
func (u *unreadErrors) Lose(err error, name string, cell, line, column int) {
	if err != nil {
		panic(&diagnostics.UnreadError{Err: err, Name: name, Set: token.Position{Filename: diagnostics.Filename(cell), Line: line, Column: column}})
	}
}

// Check ends the cell if err is unread and not nil.
func (u *unreadErrors) Check(key string, err error, name string) {
	if failure := u.failure(key, err, name); failure != nil {
		panic(failure)
	}
}

// failure returns the error of the cell if err is unread and not nil, and otherwise nil.
func (u *unreadErrors) failure(key string, err error, name string) *diagnostics.UnreadError {
	u.mu.Lock()
	defer u.mu.Unlock()
	at, unread := u.set[key]
	if !unread || err == nil {
		return nil
	}
	return &diagnostics.UnreadError{Err: err, Name: name, Set: at}
}
