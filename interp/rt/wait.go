package rt

import (
	"sync"
	"time"
)

// locker is a lock of package sync, for writing or for reading.
type locker interface {
	Lock()
	Unlock()
	TryLock() bool
}

// readLocker is the reading side of a sync.RWMutex.
type readLocker struct{ *sync.RWMutex }

func (l readLocker) Lock()         { l.RLock() }
func (l readLocker) Unlock()       { l.RUnlock() }
func (l readLocker) TryLock() bool { return l.TryRLock() }

// Lock is l.Lock(), which an interrupt can end.
func (r *routines) Lock(l *sync.Mutex) { r.lock(l) }

// LockRW is l.Lock(), which an interrupt can end.
func (r *routines) LockRW(l *sync.RWMutex) { r.lock(l) }

// RLock is l.RLock(), which an interrupt can end.
func (r *routines) RLock(l *sync.RWMutex) { r.lock(readLocker{l}) }

// WaitGroupWait is w.Wait(), which an interrupt can end.
func (r *routines) WaitGroupWait(w *sync.WaitGroup) { r.await(w.Wait, func() {}) }

func (r *routines) lock(l locker) {
	if !l.TryLock() {
		r.await(l.Lock, l.Unlock)
	}
}

// await calls wait in a new goroutine. If the caller must stop, the wait continues without
// it, and undo is called after it.
func (r *routines) await(wait, undo func()) {
	if r.config.Stopped == nil {
		wait()
		return
	}
	done := make(chan struct{})
	go func() {
		wait()
		close(done)
	}()
	stopped := r.stopped()
	for {
		select {
		case <-done:
			return
		case <-stopped:
		}
		r.stop(func() {
			go func() {
				<-done
				undo()
			}()
		})
		// Deferred calls of interrupted code may continue for a while.
		select {
		case <-done:
			return
		case <-time.After(stopRetryInterval):
		}
	}
}

// stop ends the calling goroutine by a panic, unless it may continue for now. It calls leave
// before the goroutine ends.
func (r *routines) stop(leave func()) {
	ended := true
	defer func() {
		if ended {
			leave()
		}
	}()
	r.config.Stop()
	ended = false
}
