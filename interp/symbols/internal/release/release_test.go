package release_test

import (
	"go/version"
	"runtime"
	"testing"

	"github.com/quernlab/quern/interp/symbols/internal/archive"
	"github.com/quernlab/quern/interp/symbols/internal/release"
)

// TestCurrent compares the release that the build constraints select with the one that compiles.
func TestCurrent(t *testing.T) {
	current := release.Current()
	if want := version.Lang(runtime.Version()); current.Version != want {
		t.Errorf("selected %s, and %s compiles: run make generate", current.Version, want)
	}
	archives := map[string]string{"standard": current.Standard}
	if current.Platform != "" && current.Platform != release.UnknownPlatform {
		archives["platform"] = current.Platform
	}
	for name, data := range archives {
		r, err := archive.NewReader(data)
		if err != nil {
			t.Errorf("%s archive: %v", name, err)
			continue
		}
		if r.Version() != current.Version {
			t.Errorf("the %s archive is of %s, not of %s: run make generate", name, r.Version(), current.Version)
		}
	}
	if len(current.Symbols()) == 0 {
		t.Error("no tables")
	}
}
