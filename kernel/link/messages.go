package link

import (
	"encoding/json"
	"errors"
	"regexp"
	"sync/atomic"
)

// requests lists the requests that a worker answers, one of each type.
var requests = byName(Complete{}, Inspect{}, Check{}, Evaluate{}, Comm{}, Panic{})

// Execute asks the worker to run one cell.
type Execute struct {
	// Cell is the execution count of the cell, which names the cell in errors. A cell
	// that is not stored in the history has no execution count: it gets a unique number
	// above Uncounted, so that its output can be attributed to it.
	Cell   int    `json:"cell"`
	Code   string `json:"code"`
	Silent bool   `json:"silent"` // do not render the result
	// ID is the id of the cell in the front end, and Deleted has those of cells that the notebook no longer has. Both may
	// be empty.
	ID      string   `json:"id,omitempty"`
	Deleted []string `json:"deleted,omitempty"`
	// AllowInput reports whether the front end can answer an InputRequest.
	AllowInput bool `json:"allow_input"`
	// Interactive reports whether a person can use the widgets of the cell.
	Interactive bool `json:"interactive"`
	// Interrupted is set before an interrupt of this cell, which may come before the worker
	// has been chosen and the cell has been sent to it; may be nil.
	Interrupted *atomic.Bool `json:"-"`
}

// Cells without an execution count have numbers above Uncounted.
const Uncounted = 1_000_000_000

// Result answers Execute. If Error is set, the other fields are empty.
type Result struct {
	Data     map[string]any `json:"data,omitempty"` // MIME bundle of the last expression's value; empty if there is none
	Metadata map[string]any `json:"metadata,omitempty"`
	Error    *CellError     `json:"error,omitempty"`
	// Goroutines reports that goroutines or timers of the cell are still running: more
	// output may come.
	Goroutines bool `json:"goroutines,omitempty"`
	// Replacement is the text with which the front end is asked to replace the cell; empty
	// to leave the cell.
	Replacement string `json:"replacement,omitempty"`
	Output             // its mark is that of the cell's own goroutine
}

// CellError is why a cell failed, as the notebook shows it.
type CellError struct {
	Name      string   `json:"name"`      // kind: panic, runtime error, compile error, interrupted, worker died
	Value     string   `json:"value"`     // the message in one line
	Traceback []string `json:"traceback"` // the lines to show; may contain ANSI color sequences
	// Files has the paths of files in Traceback by the names that positions there have.
	Files map[string]string `json:"files,omitempty"`
	// Stuck reports that the cell was interrupted but some of its code continues, because
	// it cannot be stopped.
	Stuck bool `json:"stuck,omitempty"`
	// Earlier is the number of an earlier cell if this cell has failed only because a goroutine
	// of that cell panicked. This cell may not even have run.
	Earlier int `json:"earlier,omitempty"`
}

// Position matches a line of Traceback that begins with a position: the file or cell, the line, and what follows.
var Position = regexp.MustCompile(`^([^:\n]+):(\d+):\d+(?:: (.*)| (in .*))?$`)

// Error returns the name and the message in one line.
func (e *CellError) Error() string { return e.Name + ": " + e.Value }

// CellErrorOf returns the error that a cell shows if the worker could not answer at all.
func CellErrorOf(err error) *CellError {
	if cell, ok := errors.AsType[*CellError](err); ok {
		return cell
	}
	return &CellError{Name: "worker error", Value: err.Error(), Traceback: []string{"worker error: " + err.Error()}}
}

// Complete asks for completions at a byte offset of a cell.
type Complete struct {
	AnsweredBy[Completion] `json:"-"`

	Code   string `json:"code"`
	Offset int    `json:"offset"`
}

// Completion answers Complete: Matches replace the bytes from Start to End.
type Completion struct {
	Start   int     `json:"start"`
	End     int     `json:"end"`
	Matches []Match `json:"matches"`
}

// Match is one completion.
type Match struct {
	Text string `json:"text"`
	Kind string `json:"kind"` // function, type, const, instance, module, keyword, field
	Type string `json:"type"` // Go type or signature; may be empty
}

// Inspect asks for documentation of the name at a byte offset of a cell.
type Inspect struct {
	AnsweredBy[Inspection] `json:"-"`

	Code   string `json:"code"`
	Offset int    `json:"offset"`
	Detail int    `json:"detail"` // 0 or 1, as detail_level in the Jupyter protocol
}

// Inspection answers Inspect. Data is empty if nothing was found; then Similar is the code
// with a known name instead of one that resembles it, or empty.
type Inspection struct {
	Data    map[string]any `json:"data,omitempty"`
	Similar string         `json:"similar,omitempty"`
}

// Check asks whether a cell is complete.
type Check struct {
	AnsweredBy[Completeness] `json:"-"`

	Code string `json:"code"`
}

// Completeness answers Check.
type Completeness struct {
	Status string `json:"status"` // complete, incomplete, invalid
	Indent string `json:"indent"` // suggested for the next line if incomplete
}

// Evaluate asks for the values of user expressions after a cell.
type Evaluate struct {
	AnsweredBy[Evaluations] `json:"-"`

	Expressions map[string]string `json:"expressions"`
}

// Evaluations answers Evaluate with one Result for each expression.
type Evaluations struct {
	Values map[string]Result `json:"values"`
	Output
}

// Panic asks for a panic of a goroutine that has not failed a cell: it came after the last one.
// It does not fail the next cell then.
type Panic struct {
	AnsweredBy[PanicReply] `json:"-"`

	Next bool `json:"next"` // the error is for the next cell, which will not run
}

// PanicReply answers Panic. Error is nil if there is none.
type PanicReply struct {
	Error *CellError `json:"error,omitempty"`
}

// Display is an event: the cell shows, replaces or clears output while it runs.
type Display struct {
	Cell     int            `json:"cell"`
	Kind     string         `json:"kind"` // display, update, clear, as in package display
	ID       string         `json:"id,omitempty"`
	Data     map[string]any `json:"data,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
	Wait     bool           `json:"wait,omitempty"`
	// Mark is the number of the mark in the output streams that says where the display
	// belongs. Packages worker and child set and use it.
	Mark uint64 `json:"mark,omitempty"`
}

// Comm is a message of a Jupyter comm between an object in the front end and one in the
// worker, in either direction.
type Comm struct {
	AnsweredBy[CommReply] `json:"-"`

	Kind     string          `json:"kind"` // open, message, close
	ID       string          `json:"id"`
	Target   string          `json:"target,omitempty"` // for open: the target name
	Data     json.RawMessage `json:"data,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Buffers  [][]byte        `json:"buffers,omitempty"`
	Cell     int             `json:"cell,omitempty"` // from the worker: the cell that has sent it
}

// The kinds of a Comm.
const (
	CommOpen    = "open"
	CommMessage = "message"
	CommClose   = "close"
)

// CommReply answers a Comm of the front end when it has been handled.
type CommReply struct {
	Unknown bool `json:"unknown"` // for open: the target is not registered
	Output
}

// InputRequest asks the front end for a line of text on behalf of a cell.
type InputRequest struct {
	Prompt   string `json:"prompt"`
	Password bool   `json:"password"`
	// Mark is the number of the mark in the output streams after which the prompt
	// belongs. Packages worker and child set and use it.
	Mark uint64 `json:"mark,omitempty"`
}

// EndOfInput, as a line, ends the input: Control-D.
const EndOfInput = "\x04"

// InputReply answers InputRequest. EOF is set if no line is available, and Reason may say why.
type InputReply struct {
	Line   string `json:"line"`
	EOF    bool   `json:"eof"`
	Reason string `json:"reason,omitempty"`
}
