package symbols

import (
	"errors"
	"go/version"
	"runtime"
	"testing"
)

func TestOpenArchives(t *testing.T) {
	tests := []struct {
		name, version, std, platform, own string
		want                              error
	}{
		{name: "this release", version: runtime.Version(), std: stdArchive, platform: platformArchive, own: ownArchive},
		{name: "another patch", version: version.Lang(runtime.Version()) + ".99", std: stdArchive, platform: platformArchive, own: ownArchive},
		{name: "an experiment", version: runtime.Version() + " X:jsonv2", std: stdArchive, platform: platformArchive, own: ownArchive},
		{name: "no version", version: "devel abc", std: stdArchive, platform: platformArchive, own: ownArchive, want: ErrVersion},
		{name: "older release", version: "go1.25.3", std: stdArchive, platform: platformArchive, own: ownArchive, want: ErrVersion},
		{name: "newer release", version: "go1.999rc1", std: stdArchive, platform: platformArchive, own: ownArchive, want: ErrVersion},
		{name: "no platform", version: runtime.Version(), std: stdArchive, platform: unknownPlatform, own: ownArchive, want: ErrPlatform},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, err := openArchives(test.version, test.std, test.platform, test.own)
			if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
				t.Fatalf("error %v, want %v", err, test.want)
			}
			if err == nil && a.names["fmt"] != "fmt" {
				t.Error("fmt is not in the archives")
			}
		})
	}
	if _, err := openArchives(runtime.Version(), stdArchive[:len(stdArchive)/2], platformArchive, ownArchive); err == nil {
		t.Error("half an archive: no error")
	}
}

// TestFresh fails when the toolchain has moved on to another release.
func TestFresh(t *testing.T) {
	if err := Check(); err != nil {
		t.Errorf("%v: run make generate", err)
	}
}
