package plots

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quernlab/quern/display"
)

// page records the frames of one output.
type page struct {
	mu     sync.Mutex
	frames []shown // guarded by mu
}

// seen returns what has been displayed so far.
func (p *page) seen() []shown {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.frames)
}

type shown struct {
	at       time.Time
	text     string
	svg, png bool
}

// newPage returns the page on which everything is displayed during the test.
func newPage(t *testing.T) *page {
	p := &page{}
	previous := display.SetSink(p)
	t.Cleanup(func() { display.SetSink(previous) })
	return p
}

func (p *page) Display(m display.Message) {
	text, _ := m.Data["text/plain"].(string)
	_, svg := m.Data["image/svg+xml"]
	_, png := m.Data["image/png"]
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frames = append(p.frames, shown{time.Now(), text, svg, png})
}

// numbered returns a figure whose subtitle is a number.
func numbered(i int) func() *Figure {
	return func() *Figure { return Line("", nil).Subtitle(strconv.Itoa(i)).Size(100, 60) }
}

// These tests run in a synctest bubble: its time advances immediately, but
// only while every goroutine is blocked.

func TestLiveDrawsTheNewest(t *testing.T) {
	t.Setenv(formatEnv, "")
	synctest.Test(t, func(t *testing.T) {
		p := newPage(t)
		l := NewLive(t.Context())
		for i := range 100 {
			l.Update(numbered(i))
			synctest.Wait()
			time.Sleep(100 * time.Millisecond)
		}
		l.Close()
		l.Close()
		l.Update(numbered(100)) // after the end: nothing

		frames := p.seen()
		if n := len(frames); n < 20 || n > 22 {
			t.Errorf("%d frames in 10 s, want two per second", n)
		}
		for i, f := range frames {
			final := i == len(frames)-1
			if !f.svg || f.png != final {
				t.Errorf("frame %d of %d: SVG %v, PNG %v", i+1, len(frames), f.svg, f.png)
			}
			if i > 0 && !final && f.at.Sub(frames[i-1].at) < minInterval {
				t.Errorf("frame %d came %v after the previous one", i+1, f.at.Sub(frames[i-1].at))
			}
		}
		if last := frames[len(frames)-1]; last.text != "99" {
			t.Errorf("the last frame is %q", last.text)
		}
	})
}

// A caller that checks Due passes only figures that are drawn.
func TestLiveDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPage(t)
		l := NewLive(t.Context())
		passed := 0
		for i := range 100 {
			if l.Due() {
				l.Update(numbered(i))
				passed++
			}
			synctest.Wait()
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		if n := len(p.seen()); n != passed || n < 19 || n > 21 {
			t.Errorf("%d figures passed and %d frames drawn in 10 s", passed, n)
		}
		l.Close()
	})
}

func TestLiveSlowsDownInLongRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPage(t)
		l := NewLive(t.Context())
		defer l.Close()
		for i := range 4000 {
			l.Update(numbered(i))
			time.Sleep(time.Second)
		}
		frames := p.seen()
		n := len(frames)
		if gap := frames[n-1].at.Sub(frames[n-2].at); gap < 18*time.Second || gap > 21*time.Second {
			t.Errorf("after %d s frames are %v apart, want about 20 s", 4000, gap)
		}
	})
}

func TestLiveEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := newPage(t)
		l := NewLive(ctx)
		l.Update(numbered(1))
		l.Update(numbered(2))
		cancel()
		<-l.ended
		frames := p.seen()
		if n := len(frames); n == 0 || frames[n-1].text != "2" || !frames[n-1].png {
			t.Errorf("frames %v", frames)
		}
	})
}

func TestLiveWithoutUpdatesShowsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPage(t)
		l := NewLive(t.Context())
		l.Close()
		if frames := p.seen(); len(frames) != 0 {
			t.Errorf("frames %v", frames)
		}
	})
}

func TestLiveSurvivesPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPage(t)
		l := NewLive(t.Context())
		l.Update(func() *Figure { panic("no ink") })
		time.Sleep(time.Second)
		l.Update(func() *Figure { return nil })
		time.Sleep(time.Second)
		l.Update(numbered(3))
		l.Close()
		frames := p.seen()
		if n := len(frames); n == 0 || frames[n-1].text != "3" {
			t.Errorf("frames %v", frames)
		}
	})
}

func TestLiveSurvivesHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPage(t)
		l := NewLive(t.Context())
		release := make(chan struct{})
		l.Update(func() *Figure { <-release; return nil })
		time.Sleep(2 * deadline)
		start := time.Now()
		l.Update(numbered(2)) // skipped: the previous frame hangs
		time.Sleep(time.Second)
		if len(p.seen()) != 0 || time.Since(start) != time.Second {
			t.Errorf("frames %v, Update took %v", p.seen(), time.Since(start)-time.Second)
		}
		close(release)
		synctest.Wait()
		l.Update(numbered(3))
		l.Close()
		frames := p.seen()
		if n := len(frames); n == 0 || frames[n-1].text != "3" {
			t.Errorf("frames %v", frames)
		}
	})
}

func TestLiveAbandonsTheLastFigure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		l := NewLive(t.Context())
		l.Update(func() *Figure { <-release; return nil })
		synctest.Wait()
		start := time.Now()
		l.Close()
		if waited := time.Since(start); waited > deadline+lastDeadline {
			t.Errorf("Close waited %v", waited)
		}
		close(release)
	})
}
