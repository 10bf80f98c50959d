package module

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/quernlab/quern/internal/secret"
)

// GoCommand is the go command as a Source.
type GoCommand struct{}

// HasGoCommand reports whether there is a go command.
func HasGoCommand() bool {
	_, err := exec.LookPath("go")
	return err == nil
}

// Default returns the go command if it is installed, and otherwise the proxies of the
// environment.
func Default() Source {
	if HasGoCommand() {
		return GoCommand{}
	}
	return NewProxy()
}

// Complete adds the requirements of the packages of the module in a folder to its go.mod and
// go.sum. It is an error if they need another version of a module that go.mod names already.
func (GoCommand) Complete(ctx context.Context, dir string) error {
	path := filepath.Join(dir, "go.mod")
	before, err := requires(path)
	if err != nil {
		return err
	}
	if _, err := command(ctx, dir, "list", "-deps", "./..."); err != nil {
		return err
	}
	after, err := requires(path)
	if err != nil {
		return err
	}
	for m, version := range before {
		if after[m] != version {
			return fmt.Errorf("%s: the packages together need %s %s in place of %s", path, m, after[m], version)
		}
	}
	return nil
}

// requires returns the versions of the require lines of a go.mod file.
func requires(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file, err := modfile.Parse(path, text, nil)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for _, r := range file.Require {
		versions[r.Mod.Path] = r.Mod.Version
	}
	return versions, nil
}

// Resolve implements Source.
func (g GoCommand) Resolve(ctx context.Context, path, query string) (string, error) {
	var answer struct{ Version string }
	err := g.run(ctx, &answer, "list", "-m", "-json", path+"@"+query)
	return answer.Version, err
}

// GoMod implements Source.
func (g GoCommand) GoMod(ctx context.Context, m module.Version) ([]byte, error) {
	var answer struct{ GoMod string }
	if err := g.run(ctx, &answer, "list", "-m", "-json", m.String()); err != nil {
		return nil, err
	}
	if answer.GoMod == "" { // go list does not report a cache that it cannot write to; this command does
		if err := g.run(ctx, &answer, "mod", "download", "-json", m.String()); err != nil {
			return nil, err
		}
	}
	if answer.GoMod == "" {
		return nil, fmt.Errorf("the go command found no go.mod of %s", m)
	}
	return os.ReadFile(answer.GoMod)
}

// Dir implements Source.
func (g GoCommand) Dir(ctx context.Context, m module.Version) (string, error) {
	var answer struct{ Dir, Error string }
	if err := g.run(ctx, &answer, "mod", "download", "-json", m.String()); err != nil {
		return "", err
	}
	return answer.Dir, nil
}

// run runs the go command outside of any module and decodes its output.
func (GoCommand) run(ctx context.Context, answer any, arguments ...string) error {
	text, err := command(ctx, os.TempDir(), arguments...)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, answer)
}

// cacheHint returns an error text of the go command as an error, with what to do if the command
// cannot write to its module cache.
func cacheHint(text string) error {
	if strings.Contains(text, "module cache") || strings.Contains(text, "read-only file system") || strings.Contains(text, "permission denied") {
		text += "; set GOMODCACHE to a directory that you can write to, before Jupyter starts"
	}
	return errors.New(text)
}

// command runs the go command in a folder and returns its output.
func command(ctx context.Context, dir string, arguments ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", arguments...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GO111MODULE=on", "GOFLAGS=-mod=mod", "GOWORK=off")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var failed struct{ Error string } // of go mod download
		if json.Unmarshal(stdout.Bytes(), &failed) == nil && failed.Error != "" {
			return nil, cacheHint(secret.Text(failed.Error))
		}
		if text := strings.TrimPrefix(strings.TrimSpace(stderr.String()), "go: "); text != "" {
			return nil, errors.New(secret.Text(text))
		}
		return nil, fmt.Errorf("go %s: %w", strings.Join(arguments, " "), err)
	}
	return stdout.Bytes(), nil
}
