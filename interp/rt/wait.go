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

// Lock is l.Lock() for a wait that can be ended.
func (r *Registry) Lock(l *sync.Mutex) { r.lock(l) }

// LockRW is l.Lock() for a wait that can be ended.
func (r *Registry) LockRW(l *sync.RWMutex) { r.lock(l) }

// RLock is l.RLock() for a wait that can be ended.
func (r *Registry) RLock(l *sync.RWMutex) { r.lock(readLocker{l}) }

// WaitGroupWait is w.Wait() for a wait that can be ended.
func (r *Registry) WaitGroupWait(w *sync.WaitGroup) { r.await(w.Wait, func() {}) }

func (r *Registry) lock(l locker) {
	if !l.TryLock() {
		r.await(l.Lock, l.Unlock)
	}
}

// await calls wait in a goroutine of its own. When the caller is to stop, the
// wait goes on without it, and undo follows.
func (r *Registry) await(wait, undo func()) {
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
		// Deferred calls of interrupted code are spared for a while.
		select {
		case <-done:
			return
		case <-time.After(askAgain):
		}
	}
}

// stop ends the calling goroutine by a panic, unless it is spared; leave is
// called before it goes.
func (r *Registry) stop(leave func()) {
	ended := true
	defer func() {
		if ended {
			leave()
		}
	}()
	r.config.Stop()
	ended = false
}
