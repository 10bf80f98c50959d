package wire

import (
	"encoding/json"
	"errors"
	"slices"
)

// Execute is the content of execute_request.
type Execute struct {
	Code            string            `json:"code"`
	Silent          bool              `json:"silent"`
	StoreHistory    bool              `json:"store_history"`
	UserExpressions map[string]string `json:"user_expressions"`
	AllowStdin      bool              `json:"allow_stdin"`
	StopOnError     bool              `json:"stop_on_error"`
}

// UnmarshalJSON decodes an execute_request with the protocol's defaults.
func (e *Execute) UnmarshalJSON(text []byte) error {
	type plain Execute
	in := struct {
		*plain
		Code *string `json:"code"`
	}{plain: &plain{StoreHistory: true, AllowStdin: true, StopOnError: true}}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	if in.Code == nil {
		return errors.New("code is missing")
	}
	*e = Execute(*in.plain)
	e.Code = *in.Code
	e.StoreHistory = e.StoreHistory && !e.Silent
	return nil
}

// ExecuteMetadata has what front ends send in the metadata of execute_request. It is not a part of the protocol: JupyterLab,
// Notebook and VS Code send the id of the cell, and JupyterLab the ids of cells that were deleted since the last one.
type ExecuteMetadata struct {
	CellID  string   `json:"cellId"`
	Deleted []string `json:"deletedCells"`
}

// NewExecuteMetadata decodes the metadata of execute_request. What is of another type or longer than an id is left out.
func NewExecuteMetadata(text json.RawMessage) ExecuteMetadata {
	var in struct {
		ID      json.RawMessage `json:"cellId"`
		Deleted json.RawMessage `json:"deletedCells"`
	}
	var out ExecuteMetadata
	if json.Unmarshal(text, &in) != nil {
		return out
	}
	var list []string
	if json.Unmarshal(in.ID, &out.CellID) != nil || len(out.CellID) > maxID {
		out.CellID = ""
	}
	if json.Unmarshal(in.Deleted, &list) == nil {
		out.Deleted = slices.DeleteFunc(list, func(id string) bool { return len(id) > maxID })
	}
	return out
}

// maxID bounds the id of a cell, in bytes. That of VS Code contains the path of the notebook.
const maxID = 8192

// ExecuteOK is the content of execute_reply for a cell that succeeded.
type ExecuteOK struct {
	Status          string                `json:"status"`
	ExecutionCount  int                   `json:"execution_count"`
	Payload         []Payload             `json:"payload"`
	UserExpressions map[string]Expression `json:"user_expressions"`
}

// Payload asks the front end for something after a cell: a Page or a NextInput. The protocol
// calls payloads deprecated but offers no replacement.
type Payload interface{ payload() }

// Page is text that the front end shows beside the notebook.
type Page struct {
	Source string         `json:"source"`
	Data   map[string]any `json:"data"`
	Start  int            `json:"start"` // first line to show
}

// NewPage returns a payload that shows data.
func NewPage(data map[string]any) Page { return Page{Source: "page", Data: data} }

func (Page) payload() {}

// NextInput is the text of a cell, which replaces the cell that has run or follows it.
type NextInput struct {
	Source  string `json:"source"`
	Text    string `json:"text"`
	Replace bool   `json:"replace"`
}

// NewReplacement returns a payload that replaces the text of the cell.
func NewReplacement(text string) NextInput {
	return NextInput{Source: "set_next_input", Text: text, Replace: true}
}

func (NextInput) payload() {}

// Expression is the value of a user expression, or its error.
type Expression struct {
	Status   string         `json:"status"`
	Data     map[string]any `json:"data,omitzero"`
	Metadata map[string]any `json:"metadata,omitzero"`
	*Failure
}

// NewExpression returns the value of a user expression.
func NewExpression(data, metadata map[string]any) Expression {
	return Expression{Status: statusOK, Data: orEmpty(data), Metadata: orEmpty(metadata)}
}

// NewFailedExpression returns the error of a user expression.
func NewFailedExpression(failure Failure) Expression {
	return Expression{Status: statusError, Failure: &failure}
}

// NewExecuteOK returns the reply to a cell that succeeded.
func NewExecuteOK(count int, expressions map[string]Expression, payload ...Payload) ExecuteOK {
	if expressions == nil {
		expressions = map[string]Expression{}
	}
	return ExecuteOK{Status: statusOK, ExecutionCount: count, Payload: append([]Payload{}, payload...), UserExpressions: expressions}
}

// ExecuteFailed is the content of execute_reply for a cell that failed.
type ExecuteFailed struct {
	Status         string `json:"status"`
	ExecutionCount int    `json:"execution_count"`
	Failure
	Payload         []any          `json:"payload"`
	UserExpressions map[string]any `json:"user_expressions"`
}

// NewExecuteFailed returns the reply to a cell that failed.
func NewExecuteFailed(count int, failure Failure) ExecuteFailed {
	return ExecuteFailed{Status: statusError, ExecutionCount: count, Failure: failure, Payload: []any{}, UserExpressions: map[string]any{}}
}

// ExecuteAborted is the content of execute_reply for a cell that did not run because an
// earlier one failed.
type ExecuteAborted struct {
	Status         string `json:"status"`
	ExecutionCount int    `json:"execution_count"`
}

// NewExecuteAborted returns the reply to a cell that did not run.
func NewExecuteAborted(count int) ExecuteAborted {
	return ExecuteAborted{Status: statusAborted, ExecutionCount: count}
}

// Input is the content of execute_input.
type Input struct {
	Code           string `json:"code"`
	ExecutionCount int    `json:"execution_count"`
}

// Result is the content of execute_result.
type Result struct {
	ExecutionCount int            `json:"execution_count"`
	Data           map[string]any `json:"data"`
	Metadata       map[string]any `json:"metadata"`
}

// NewResult returns the content of execute_result; metadata may be nil.
func NewResult(count int, data, metadata map[string]any) Result {
	return Result{ExecutionCount: count, Data: orEmpty(data), Metadata: orEmpty(metadata)}
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// Prompt is the content of input_request.
type Prompt struct {
	Prompt   string `json:"prompt"`
	Password bool   `json:"password"`
}

// Line is the content of input_reply.
type Line struct {
	Value string `json:"value"`
}

// Values of status in a reply.
const (
	statusOK      = "ok"
	statusError   = "error"
	statusAborted = "aborted"
)

// Failure is the error of a request or cell. It is the content of an error message on
// iopub and a part of each error reply.
type Failure struct {
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Traceback []string `json:"traceback"` // the lines to show
}

// NewFailure returns a Failure; traceback may be nil.
func NewFailure(name, value string, traceback []string) Failure {
	if traceback == nil {
		traceback = []string{}
	}
	return Failure{Name: name, Value: value, Traceback: traceback}
}

// ErrorReply is the content of the reply to a request that failed.
type ErrorReply struct {
	Status string `json:"status"`
	Failure
}

// NewErrorReply returns the content of an error reply.
func NewErrorReply(failure Failure) ErrorReply {
	return ErrorReply{Status: statusError, Failure: failure}
}

// EmptyReply is the content of a successful reply without further fields.
type EmptyReply struct {
	Status string `json:"status"`
}

// NewEmptyReply returns an EmptyReply.
func NewEmptyReply() EmptyReply { return EmptyReply{statusOK} }
