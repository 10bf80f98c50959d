package module

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// retractions are the retract lines of the newest version of a module
// (https://go.dev/ref/mod#go-mod-file-retract).
type retractions []*modfile.Retract

// noReason is the go command's text for a version that is retracted without a reason.
const noReason = "retracted by module author"

// reason returns why a version is retracted; "" if it is not.
func (r retractions) reason(version string) string {
	for _, line := range r {
		if semver.Compare(line.Low, version) <= 0 && semver.Compare(version, line.High) <= 0 {
			return cmp.Or(strings.Join(strings.Fields(line.Rationale), " "), noReason)
		}
	}
	return ""
}

// retractions returns the retractions of a module among versions, which are all versions that a
// proxy lists. They are in the go.mod file of the newest one, also if it retracts itself.
func (p *Proxy) retractions(ctx context.Context, path string, versions []string) (retractions, error) {
	if len(versions) == 0 {
		return nil, nil
	}
	m := module.Version{Path: path, Version: slices.MaxFunc(versions, compareReleases)}
	text, err := p.GoMod(ctx, m)
	if err != nil {
		return nil, err
	}
	file, err := modfile.ParseLax(m.String()+"/go.mod", text, nil)
	if err != nil {
		return nil, err
	}
	return file.Retract, nil
}

// compareReleases orders versions as "latest" does: releases are higher than pre-releases.
func compareReleases(a, b string) int {
	if ra, rb := semver.Prerelease(a) == "", semver.Prerelease(b) == ""; ra != rb {
		if ra {
			return 1
		}
		return -1
	}
	return semver.Compare(a, b)
}

// Retracted implements Source.
func (p *Proxy) Retracted(ctx context.Context, m module.Version) (reason string, err error) {
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return "", err
	}
	err = p.try(m.Path, func(base string) error {
		versions, err := p.versions(ctx, base, escaped, m.Path)
		if err != nil {
			return err
		}
		retracted, err := p.retractions(ctx, m.Path, versions)
		reason = retracted.reason(m.Version)
		return err
	})
	return reason, err
}

// versions returns the versions that a proxy lists.
func (p *Proxy) versions(ctx context.Context, base, escaped, path string) ([]string, error) {
	text, err := p.readURL(ctx, base+"/"+escaped+"/@v/list")
	if err != nil && !errors.Is(err, errNotFound) {
		return nil, err
	}
	var versions []string
	for line := range strings.Lines(string(text)) {
		version, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if module.Check(path, version) == nil {
			versions = append(versions, version)
		}
	}
	return versions, nil
}

// Retracted implements Source.
func (g GoCommand) Retracted(ctx context.Context, m module.Version) (string, error) {
	var answer struct{ Retracted []string }
	if err := g.run(ctx, &answer, "list", "-m", "-json", "-retracted", m.String()); err != nil || len(answer.Retracted) == 0 {
		return "", err
	}
	return strings.Join(strings.Fields(answer.Retracted[0]), " "), nil
}
