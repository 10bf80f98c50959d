//go:build linux && cgo

package driver

// #include "shim.h"
import "C"

func (c *context) NewStream() (Stream, error) {
	var s C.handle
	err := failure(C.quern_stream_create(c.table, c.handle, &s), "cuStreamCreate", "")
	return Stream(s), err
}

func (c *context) CloseStream(s Stream) error {
	if s == 0 {
		return &Error{Code: InvalidHandle, Call: "cuStreamDestroy", Op: "the default stream cannot be closed"}
	}
	return failure(C.quern_stream_destroy(c.table, c.handle, C.handle(s)), "cuStreamDestroy", "")
}

func (c *context) SyncStream(s Stream) error {
	c.count(func(n *Counts) { n.Syncs++ })
	return failure(C.quern_stream_sync(c.table, c.handle, c.stream(s)), "cuStreamSynchronize", "")
}

func (c *context) Sync() error {
	c.count(func(n *Counts) { n.Syncs++ })
	return failure(C.quern_sync(c.table, c.handle), "cuCtxSynchronize", "")
}

func (c *context) NewEvent(timed bool) (Event, error) {
	var e C.handle
	var flag C.int
	if timed {
		flag = 1
	}
	err := failure(C.quern_event_create(c.table, c.handle, &e, flag), "cuEventCreate", "")
	return Event(e), err
}

func (c *context) CloseEvent(e Event) error {
	return failure(C.quern_event_destroy(c.table, c.handle, C.handle(e)), "cuEventDestroy", "")
}

func (c *context) Record(e Event, s Stream) error {
	return failure(C.quern_event_record(c.table, c.handle, C.handle(e), c.stream(s)), "cuEventRecord", "")
}

func (c *context) Wait(s Stream, e Event) error {
	return failure(C.quern_stream_wait(c.table, c.handle, c.stream(s), C.handle(e)), "cuStreamWaitEvent", "")
}

func (c *context) Done(e Event) (bool, error) {
	code := C.quern_event_query(c.table, c.handle, C.handle(e))
	if Code(code) == NotReady {
		return false, nil
	}
	return code == 0, failure(code, "cuEventQuery", "")
}

func (c *context) SyncEvent(e Event) error {
	c.count(func(n *Counts) { n.Syncs++ })
	return failure(C.quern_event_sync(c.table, c.handle, C.handle(e)), "cuEventSynchronize", "")
}

func (c *context) Elapsed(from, to Event) (float64, error) {
	var ms C.float
	err := failure(C.quern_event_elapsed(c.table, c.handle, &ms, C.handle(from), C.handle(to)), "cuEventElapsedTime", "")
	return float64(ms), err
}
