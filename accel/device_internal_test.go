package accel

import (
	"strings"
	"testing"
)

func TestDeviceInUse(t *testing.T) {
	for _, device := range []string{"cpu", "simulated"} {
		text := (&DeviceList{InUse: device, Missing: "no CUDA GPU"}).String()
		if strings.Count(text, "in use") != 1 {
			t.Errorf("%s is in use, but the list is\n%s", device, text)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "in use") != strings.HasPrefix(line, device+" ") {
				t.Errorf("%s is in use, but the list has %q", device, line)
			}
		}
	}
}
