package loop

import "time"

// pause lets a browser draw figures and deliver an interrupt during a training, which has the only thread.
type pause struct{ last time.Time }

// letOthersRun waits for a moment if it has not done so for a while.
func (p *pause) letOthersRun() {
	if time.Since(p.last) > 50*time.Millisecond {
		time.Sleep(time.Millisecond)
		p.last = time.Now()
	}
}
