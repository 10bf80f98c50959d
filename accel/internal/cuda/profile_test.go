package cuda

import (
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/trace"
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
