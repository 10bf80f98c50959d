package link

import "context"

// RankGroup is what a running cell can do with the ranks, that is, the workers that run
// each cell together.
type RankGroup interface {
	// Ranks returns which ranks there are, or requests a different number of them, which
	// start when the cell has ended.
	Ranks(ctx context.Context, request RanksRequest) (RanksReply, error)
	// Once passes the outcome of a step that only rank 0 executes to the other ranks.
	Once(ctx context.Context, request OnceRequest) (OnceReply, error)
}

// Host is everything that a running cell can request from the kernel process.
type Host interface {
	Notebook
	RankGroup
}

// RanksRequest asks for a number of ranks.
type RanksRequest struct {
	// Number is how many ranks are wanted, or PerGPU. 0 only asks which ranks there are.
	Number int `json:"number"`
	// Restart asks for new ranks, as many as there are. They run Program, the path of
	// another program of Quern, or the same one if it is empty.
	Restart bool   `json:"restart,omitempty"`
	Program string `json:"program,omitempty"`
}

// PerGPU, as a number of ranks, means one rank for each GPU.
const PerGPU = -1

// RanksReply answers RanksRequest with text for the user.
type RanksReply struct {
	Text    string `json:"text"`
	Refused string `json:"refused,omitempty"` // why the request was rejected; Text is empty then
}

// OnceRequest from rank 0 is the outcome of a step of a cell. From another rank it asks
// for that outcome and waits for it.
type OnceRequest struct {
	Cell int `json:"cell"`
	Step int `json:"step"` // number of the step in its cell
	// From rank 0: what the step printed, if the ranks need that, and why it failed.
	Output string `json:"output,omitempty"`
	Error  string `json:"error,omitempty"`
}

// OnceReply answers OnceRequest.
type OnceReply struct {
	Output string `json:"output,omitempty"` // what the step printed on rank 0, if the ranks need that
	Error  string `json:"error,omitempty"`  // why the step failed there
}
