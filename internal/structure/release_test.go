package structure

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The wheels and the packages of a release have the same programs: .ci/wheels and .goreleaser.yaml pass the same flags
// to the linker, and there are packages for every platform for which quern must build.
func TestRelease(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	find := func(name, pattern string) string {
		match := regexp.MustCompile(pattern).FindStringSubmatch(read(name))
		if match == nil {
			t.Fatalf("%s: nothing matches %s", name, pattern)
		}
		return match[1]
	}
	wheels := strings.ReplaceAll(find(".ci/wheels", `-ldflags "(.*?)"`), "$version", "VERSION")
	packages := strings.ReplaceAll(find(".goreleaser.yaml", `ldflags: \["(.*?)"\]`), "{{ .Version }}", "VERSION")
	if wheels != packages {
		t.Errorf("the flags of the linker differ:\n.ci/wheels:       %s\n.goreleaser.yaml: %s", wheels, packages)
	}
	targets := find(".goreleaser.yaml", `targets: \[(.*?)\]`)
	for _, platform := range platforms {
		target := strings.ReplaceAll(platform, "/", "_")
		if platform != "js/wasm" && !strings.Contains(targets, target+"_") {
			t.Errorf(".goreleaser.yaml has no target for %s", platform)
		}
	}
}
