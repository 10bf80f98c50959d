package link

import "context"

// World is what a running cell may ask about the ranks: the workers that run each
// cell together.
type World interface {
	// Ranks tells which there are, or has others start when the cell has ended.
	Ranks(ctx context.Context, request RanksRequest) (RanksReply, error)
	// Once hands the outcome of what only rank 0 does to the other ranks.
	Once(ctx context.Context, request OnceRequest) (OnceReply, error)
}

// Host is all that a running cell may ask of the front.
type Host interface {
	Front
	World
}

// RanksRequest asks for a number of ranks.
type RanksRequest struct {
	// Number is how many are wanted, or PerGPU; 0 only asks which there are.
	Number int `json:"number"`
}

// PerGPU, as a number of ranks, is one for each GPU.
const PerGPU = -1

// RanksReply answers RanksRequest, for a user to read.
type RanksReply struct {
	Text    string `json:"text"`
	Refused string `json:"refused,omitempty"` // why there will be no others; then there is no Text
}

// OnceRequest is, from rank 0, the outcome of a step of a cell. From another rank it
// asks for that, and waits.
type OnceRequest struct {
	Cell  int    `json:"cell"`
	Step  int    `json:"step"`            // the number of the step in its cell
	Error string `json:"error,omitempty"` // from rank 0: why the step failed
}

// OnceReply answers OnceRequest.
type OnceReply struct {
	Error string `json:"error,omitempty"` // why the step failed on rank 0
}
