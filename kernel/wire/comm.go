package wire

import (
	"encoding/json"
	"errors"
)

// CommInfo is the content of comm_info_request.
type CommInfo struct {
	Target string `json:"target_name"` // list only comms of this target; empty means all
}

// Comms is the content of comm_info_reply.
type Comms struct {
	Status string                `json:"status"`
	Comms  map[string]CommTarget `json:"comms"` // by comm id
}

// CommTarget is the target of a comm.
type CommTarget struct {
	Name string `json:"target_name"`
}

// NewComms returns the content of comm_info_reply.
func NewComms(comms map[string]CommTarget) Comms {
	if comms == nil {
		comms = map[string]CommTarget{}
	}
	return Comms{Status: statusOK, Comms: comms}
}

// CommOpened is the content of comm_open.
type CommOpened struct {
	ID     string          `json:"comm_id"`
	Target string          `json:"target_name"`
	Data   json.RawMessage `json:"data"`
}

// NewCommOpened returns the content of comm_open; data may be nil.
func NewCommOpened(id, target string, data json.RawMessage) CommOpened {
	if data == nil {
		data = json.RawMessage("{}")
	}
	return CommOpened{ID: id, Target: target, Data: data}
}

func (c *CommOpened) check() error { return commID(c.ID) }

// CommData is the content of comm_msg and of comm_close.
type CommData struct {
	ID   string          `json:"comm_id"`
	Data json.RawMessage `json:"data"`
}

func (c *CommData) check() error { return commID(c.ID) }

func commID(id string) error {
	if id == "" {
		return errors.New("comm_id is missing")
	}
	return nil
}

// NewCommData returns the content of comm_msg and of comm_close; data may be
// nil.
func NewCommData(id string, data json.RawMessage) CommData {
	if data == nil {
		data = json.RawMessage("{}")
	}
	return CommData{ID: id, Data: data}
}
