package symbols

import (
	"errors"
	"testing"

	"github.com/quernlab/quern/interp/symbols/internal/release"
)

func TestOpenArchives(t *testing.T) {
	elsewhere := release.Current()
	elsewhere.Platform = release.UnknownPlatform
	half := release.Current()
	half.Standard = half.Standard[:len(half.Standard)/2]
	if a, err := openArchives(release.Current(), ownArchive); err != nil || a.names["fmt"] != "fmt" {
		t.Errorf("fmt is not in the archives: %v", err)
	}
	if _, err := openArchives(elsewhere, ownArchive); !errors.Is(err, ErrPlatform) {
		t.Errorf("no platform: %v, want %v", err, ErrPlatform)
	}
	if _, err := openArchives(half, ownArchive); err == nil {
		t.Error("half an archive: no error")
	}
}
