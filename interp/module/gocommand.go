package module

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/mod/module"
)

// GoCommand is the go command as a Source.
type GoCommand struct{}

// HasGoCommand says whether there is a go command.
func HasGoCommand() bool {
	_, err := exec.LookPath("go")
	return err == nil
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

// run runs the go command outside of any module and decodes what it prints.
func (GoCommand) run(ctx context.Context, answer any, arguments ...string) error {
	cmd := exec.CommandContext(ctx, "go", arguments...)
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GO111MODULE=on", "GOFLAGS=-mod=mod", "GOWORK=off")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var failed struct{ Error string } // of go mod download
		if json.Unmarshal(stdout.Bytes(), &failed) == nil && failed.Error != "" {
			return errors.New(failed.Error)
		}
		if text := strings.TrimPrefix(strings.TrimSpace(stderr.String()), "go: "); text != "" {
			return errors.New(text)
		}
		return fmt.Errorf("go %s: %w", strings.Join(arguments, " "), err)
	}
	return json.Unmarshal(stdout.Bytes(), answer)
}
