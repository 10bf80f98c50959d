package link

import "encoding/json"

// Execute asks the worker to run one cell.
type Execute struct {
	// Cell is the execution count of the cell, for its name in errors. A cell that is
	// not stored in the history has none: its number is above Uncounted, and no other
	// cell has it either, so that output finds its cell.
	Cell   int    `json:"cell"`
	Code   string `json:"code"`
	Silent bool   `json:"silent"` // leave the result unrendered
	// AllowInput says whether the front end can answer an InputRequest.
	AllowInput bool `json:"allow_input"`
}

// Uncounted is the number above which those of cells without an execution count begin.
const Uncounted = 1_000_000_000

// Result answers Execute. Exactly one of Error and the successful fields is
// meaningful: a cell that failed has no Data.
type Result struct {
	Data     map[string]any `json:"data,omitempty"` // MIME bundle of the last expression; empty if it has no value
	Metadata map[string]any `json:"metadata,omitempty"`
	Error    *CellError     `json:"error,omitempty"`
	// Goroutines says that goroutines of the cell, or its timers, outlive it: more output may come.
	Goroutines bool `json:"goroutines,omitempty"`
	// Mark is the number of the mark in the output streams behind which there
	// is no output of the cell's own goroutine. The supervision of the worker
	// sets and uses it.
	Mark uint64 `json:"mark,omitempty"`
}

// CellError is why a cell failed, in the words that the notebook shows.
type CellError struct {
	Name      string   `json:"name"`      // kind: panic, runtime error, compile error, interrupted, worker died
	Value     string   `json:"value"`     // the message in one line
	Traceback []string `json:"traceback"` // what is shown, a line each; may hold ANSI colours
	// Stuck says that the cell was interrupted and something of it goes on, since it
	// cannot be stopped.
	Stuck bool `json:"stuck,omitempty"`
}

// Error is the message in one line, with its kind.
func (e *CellError) Error() string { return e.Name + ": " + e.Value }

// Complete asks for the completions at a byte offset of a cell.
type Complete struct {
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

// Inspect asks what is known of the name at a byte offset of a cell.
type Inspect struct {
	Code   string `json:"code"`
	Offset int    `json:"offset"`
	Detail int    `json:"detail"` // 0 or 1, as in the protocol
}

// Inspection answers Inspect. Data is empty when nothing was found.
type Inspection struct {
	Data map[string]any `json:"data,omitempty"`
}

// Check asks whether a cell is complete.
type Check struct {
	Code string `json:"code"`
}

// Completeness answers Check.
type Completeness struct {
	Status string `json:"status"` // complete, incomplete, invalid
	Indent string `json:"indent"` // proposed for the next line when incomplete
}

// Evaluate asks for the values of user expressions after a cell.
type Evaluate struct {
	Expressions map[string]string `json:"expressions"`
}

// Evaluations answers Evaluate, one Result for each expression.
type Evaluations struct {
	Values map[string]Result `json:"values"`
	// Mark is as in Result, for the output of all expressions.
	Mark uint64 `json:"mark,omitempty"`
}

// Display is an event: the cell shows, replaces or clears output while it runs.
type Display struct {
	Cell     int            `json:"cell"`
	Kind     string         `json:"kind"` // display, update, clear, as in package display
	ID       string         `json:"id,omitempty"`
	Data     map[string]any `json:"data,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
	Wait     bool           `json:"wait,omitempty"`
	// Mark is the number of the mark in the output streams where the display
	// belongs. The supervision of the worker sets and uses it.
	Mark uint64 `json:"mark,omitempty"`
}

// Comm is a message between an object of the front end and one of the worker, in
// either direction.
type Comm struct {
	Kind     string          `json:"kind"` // open, message, close
	ID       string          `json:"id"`
	Target   string          `json:"target,omitempty"` // of open: what the comm is for
	Data     json.RawMessage `json:"data,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Buffers  [][]byte        `json:"buffers,omitempty"`
	Cell     int             `json:"cell,omitempty"` // from the worker: the cell that sent it
}

// The kinds of a Comm.
const (
	CommOpen    = "open"
	CommMessage = "message"
	CommClose   = "close"
)

// CommReply answers a Comm of the front, when it has been handled.
type CommReply struct {
	Unknown bool `json:"unknown"` // of open: nobody has registered the target
	// Mark is as in Result, for the output of the handler.
	Mark uint64 `json:"mark,omitempty"`
}

// InputRequest asks the front end for a line of text on behalf of a cell.
type InputRequest struct {
	Prompt   string `json:"prompt"`
	Password bool   `json:"password"`
	// Mark is the number of the mark in the output streams behind which the
	// prompt belongs. The supervision of the worker sets and uses it.
	Mark uint64 `json:"mark,omitempty"`
}

// EndOfInput, as a line, is the end of the input: Control-D.
const EndOfInput = "\x04"

// InputReply answers InputRequest. EOF is set when no line can be had.
type InputReply struct {
	Line string `json:"line"`
	EOF  bool   `json:"eof"`
}
