package symbols

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/quernlab/quern/interp/symbols/internal/release"
)

func TestOpenArchives(t *testing.T) {
	elsewhere := release.Current()
	elsewhere.Platform = release.UnknownPlatform
	half := release.Current()
	half.Standard = half.Standard[:len(half.Standard)/2]
	ours, err := fs.Sub(ownFiles, "own")
	if err != nil {
		t.Fatal(err)
	}
	if a, err := openArchives(release.Current(), ours); err != nil || a.names["fmt"] != "fmt" {
		t.Errorf("fmt is not in the archives: %v", err)
	}
	if _, err := openArchives(elsewhere, ours); !errors.Is(err, ErrPlatform) {
		t.Errorf("no platform: %v, want %v", err, ErrPlatform)
	}
	if _, err := openArchives(half, ours); err == nil {
		t.Error("half an archive: no error")
	}
	if _, err := openArchives(release.Current(), fstest.MapFS{}); err == nil {
		t.Error("no packages of ours: no error")
	}
}
