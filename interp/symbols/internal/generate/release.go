package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/format"
	"go/version"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/symbols/internal/describe"
)

// A release is a minor release of Go: 26 for Go 1.26.
type release int

// releases is the folder of package release, which contains the folders of the releases.
var releases = filepath.Join("internal", "release")

const standardArchive = "std.zip"

// running returns the release that compiled the generator. The go command that it calls must have the same
// release.
func running() (release, error) {
	number, ok := strings.CutPrefix(version.Lang(runtime.Version()), "go1.")
	n, err := strconv.Atoi(number)
	if !ok || err != nil {
		return 0, fmt.Errorf("%s is not a Go 1 release: run the generator with one, for example by setting GOTOOLCHAIN", runtime.Version())
	}
	return release(n), nil
}

func (r release) String() string { return fmt.Sprintf("go1.%d", int(r)) }

// name returns the name of the release's package and folder.
func (r release) name() string { return fmt.Sprintf("go1%d", int(r)) }

func (r release) folder() string { return filepath.Join(releases, r.name()) }

func (r release) path(file string) string { return filepath.Join(r.folder(), file) }

// constraint returns the build constraint that only this release satisfies.
func (r release) constraint() string { return fmt.Sprintf("%s && !%s", r, r+1) }

// writeEmbedding writes the files that embed the archives: the archive of home, and the differences of each
// platform.
func (r release) writeEmbedding() error {
	comment := fmt.Sprintf("// Package %s has the types, the documentation and the symbols of the standard library of %s.\n", r.name(), r)
	if err := writeSource(r.path("doc.go"), describe.Header+comment+"package "+r.name()+"\n"); err != nil { // without build constraint: the package exists for all releases
		return err
	}
	common := describe.Head(r.name(), r.constraint()) +
		fmt.Sprintf("import _ \"embed\"\n\n// Standard is the archive of %s.\n//\n//go:embed %s\nvar Standard string\n", home, standardArchive)
	if err := writeSource(r.path("standard.go"), common); err != nil {
		return err
	}
	known := []string{platformConstraint(home)}
	for _, t := range others {
		known = append(known, platformConstraint(t))
		text := describe.Head(r.name(), r.constraint()+" && "+platformConstraint(t)) +
			fmt.Sprintf("import _ \"embed\"\n\n// Platform is the archive of what differs on %s.\n//\n//go:embed %s\nvar Platform string\n", t, t.archive())
		if err := writeSource(r.path("platform_"+t.os+"_"+t.arch+".go"), text); err != nil {
			return err
		}
	}
	text := describe.Head(r.name(), r.constraint()+" && "+platformConstraint(home)) +
		"// Platform is empty: Standard is the archive of this platform.\nconst Platform = \"\"\n"
	if err := writeSource(r.path("platform_"+home.os+"_"+home.arch+".go"), text); err != nil {
		return err
	}
	text = describe.Head(r.name(), r.constraint()+" && !("+strings.Join(known, " || ")+")") +
		"// Platform is no archive: there is none for this platform.\nconst Platform = \"unknown\"\n"
	return writeSource(r.path("platform_other.go"), text)
}

func platformConstraint(t target) string { return "(" + t.os + " && " + t.arch + ")" }

// writeSelection writes the files of package release: one for each folder, and one for all other Go
// releases, which does not compile.
func writeSelection() error {
	old, err := filepath.Glob(filepath.Join(releases, "generated_*.go"))
	if err != nil {
		return err
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	all, err := generatedReleases()
	if err != nil {
		return err
	}
	var names []string
	for _, r := range all {
		names = append(names, strings.ReplaceAll(r.String(), ".", "_"))
		if err := writeSource(filepath.Join(releases, "generated_"+r.name()+".go"), r.selection()); err != nil {
			return err
		}
	}
	text := describe.Head("release", fmt.Sprintf("!%s || %s", all[0], all[len(all)-1]+1)) +
		"// current fails to compile: there are no types of this Go release. The name is the error message.\n" +
		"func current() Release {\n\treturn quern_compiles_with_" + strings.Join(names, "_and_") + "__see_docs_go_releases_md\n}\n"
	return writeSource(filepath.Join(releases, "generated_unknown.go"), text)
}

// selection returns the file that selects the folder of the release.
func (r release) selection() string {
	return describe.Head("release", r.constraint()) +
		fmt.Sprintf("import %q\n\n", module+"/interp/symbols/internal/release/"+r.name()) +
		fmt.Sprintf("func current() Release {\n\treturn Release{Version: %q, Standard: %s.Standard, Platform: %[2]s.Platform, tables: %[2]s.Tables}\n}\n", r, r.name())
}

// generatedReleases returns the releases that have a folder, oldest first. A gap between them is an error.
func generatedReleases() ([]release, error) {
	folders, err := filepath.Glob(filepath.Join(releases, "go1*", standardArchive))
	if err != nil {
		return nil, err
	}
	var all []release
	for _, folder := range folders {
		number, _ := strings.CutPrefix(filepath.Base(filepath.Dir(folder)), "go1")
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("%s is not the folder of a Go release: %w", filepath.Dir(folder), err)
		}
		all = append(all, release(n))
	}
	slices.SortFunc(all, func(a, b release) int { return cmp.Compare(a, b) })
	if len(all) == 0 {
		return nil, errors.New("no folder of a Go release in " + releases)
	}
	for i, r := range all {
		if r != all[0]+release(i) {
			return nil, fmt.Errorf("the folder %s is missing: run the generator with %s, or remove the older folders", (all[0] + release(i)).folder(), all[0]+release(i))
		}
	}
	return all, nil
}

func writeSource(file, text string) error {
	source, err := format.Source([]byte(text))
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", file, err, bytes.TrimSpace([]byte(text)))
	}
	return os.WriteFile(file, source, 0o644)
}
