package cuda

import (
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/engine/trace"
)

// A profile whose beginning failed begins again: without the time of its origin, all times
// would be wrong.
func TestProfileBeginsAgain(t *testing.T) {
	gpu, d := openFake(t)
	c, ok := trace.Start()
	if !ok {
		t.Fatal("a profile is active")
	}
	defer c.Stop()
	gpu.Inject(fake.Injection{Call: "SyncEvent", Code: driver.OutOfMemory})
	if err := d.profile.begin(c); err == nil {
		t.Fatal("the profile did not fail")
	}
	if err := d.profile.begin(c); err != nil {
		t.Fatal(err)
	}
	if d.profile.at == 0 {
		t.Error("the time of the origin is not known")
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// A profile knows what its events cost, and measures it once.
func TestEventCost(t *testing.T) {
	for _, cost := range []time.Duration{0, 1500 * time.Nanosecond} {
		gpu, err := fake.Open(fake.Options{Modules: modules, Instant: true, EventTime: cost, KernelTime: func(string, driver.Dim, driver.Dim) time.Duration { return time.Millisecond }})
		if err != nil {
			t.Fatal(err)
		}
		d, err := Open("cuda:0", gpu, 0, Libraries{})
		if err != nil {
			t.Fatal(err)
		}
		launches := 0
		for range 2 {
			c, ok := trace.Start()
			if !ok {
				t.Fatal("a profile is active")
			}
			if err := d.profile.begin(c); err != nil {
				t.Fatal(err)
			}
			c.Stop()
			if d.profile.eventCost != cost {
				t.Errorf("an event costs %v, want %v", d.profile.eventCost, cost)
			}
			if n := d.Counts().GraphLaunches; launches != 0 && n != launches {
				t.Errorf("the second profile measures again: %d launches after %d", n, launches)
			} else {
				launches = n
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
