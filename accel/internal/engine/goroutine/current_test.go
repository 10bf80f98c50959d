package goroutine

import (
	"sync"
	"testing"
)

// grow makes the stack move.
func grow(n int) byte {
	var room [1024]byte
	room[n%len(room)] = byte(n)
	if n == 0 {
		return room[0]
	}
	return grow(n-1) + room[n%len(room)]
}

func TestCurrent(t *testing.T) {
	const goroutines = 64
	var (
		mu    sync.Mutex
		alive = map[Identity]bool{}
		all   sync.WaitGroup // all of them live at once
		done  sync.WaitGroup
	)
	all.Add(goroutines)
	for range goroutines {
		done.Go(func() {
			me := Current()
			mu.Lock()
			if alive[me] {
				t.Errorf("two goroutines are %#x", me)
			}
			alive[me] = true
			mu.Unlock()
			all.Done()
			all.Wait()
			grow(500)
			if now := Current(); now != me {
				t.Errorf("the goroutine was %#x and is %#x", me, now)
			}
		})
	}
	done.Wait()
}

func BenchmarkCurrent(b *testing.B) {
	for b.Loop() {
		Current()
	}
}
