package magic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/quernlab/quern/interp/internal/descendants"
)

var shell = command{
	name: "!", usage: "!command", doc: "runs a shell command (on rank 0), with values of Go for {name}; lines := !ls keeps its output",
}

// prepareShell returns the action of a shell command.
func prepareShell(l line) (action, error) {
	if l.text == "" {
		return nil, errors.New("! needs a command: !ls")
	}
	if rest, ok := strings.CutPrefix(l.text, "*"); ok {
		rest = strings.TrimSpace(rest)
		return nil, fmt.Errorf("there is no folder of generated code in which !*%s could run: !%[1]s runs in the working directory, and %%get downloads a module", rest)
	}
	return func(ctx context.Context, r *Run, values []any) error {
		text, err := r.words(l.pieces, values)
		if err != nil {
			return err
		}
		c := exec.Command(systemShell[0], append(systemShell[1:len(systemShell):len(systemShell)], text)...)
		if l.at == l.start {
			return r.once(ctx, "!"+l.text, c)
		}
		r.output, err = r.outputOf(ctx, "!"+l.text, c)
		return err
	}, nil
}

var bash = command{
	name: "%%bash", usage: "%%bash", doc: "runs the rest of the cell as a bash script",
	prepare: func(text string) (action, error) {
		if strings.TrimSpace(text) == "" {
			return nil, errors.New("%%bash needs a script in the lines below it")
		}
		return func(ctx context.Context, r *Run, _ []any) error {
			return r.once(ctx, "%%bash", exec.Command("bash", "-c", text))
		}, nil
	},
}

// sh is %%bash with the shell of the system.
var sh = command{
	name: "%%sh", usage: "%%sh", doc: "runs the rest of the cell as a script of the shell, as !command does",
	prepare: func(text string) (action, error) {
		if strings.TrimSpace(text) == "" {
			return nil, errors.New("%%sh needs a script in the lines below it")
		}
		return func(ctx context.Context, r *Run, _ []any) error {
			return r.once(ctx, "%%sh", exec.Command(systemShell[0], append(systemShell[1:len(systemShell):len(systemShell)], text)...))
		}, nil
	},
}

// lateOutput is how long to wait for output once a command has ended. Processes that it has
// started in the background may keep the streams open forever.
const lateOutput time.Duration = 300 * time.Millisecond

const (
	// grace is how long an interrupted command may take to end before it is killed.
	grace = time.Second
	// interruptWait is how long the cell waits for the end of an interrupted command.
	interruptWait = 30 * time.Millisecond
)

// once runs a command on one rank. The others wait for it, because the rest of the cell may
// depend on it.
func (r *Run) once(ctx context.Context, what string, c *exec.Cmd) error {
	_, err := r.session.Ranks().Once(ctx, r.first+r.number, func() (string, error) { return "", r.command(ctx, what, c, nil) })
	return err
}

// outputOf runs a command on rank 0 and returns the lines of its standard output.
func (r *Run) outputOf(ctx context.Context, what string, c *exec.Cmd) ([]string, error) {
	text, err := r.session.Ranks().Once(ctx, r.first+r.number, func() (string, error) {
		var out strings.Builder
		if err := r.command(ctx, what, c, &out); err != nil {
			return "", err
		}
		return out.String(), nil
	})
	if err != nil {
		return nil, err
	}
	lines := []string{}
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
	}
	return lines, nil
}

// command runs a command without standard input and shows its output at once. When ctx ends,
// the command and its children are interrupted.
// If out is not nil, it gets the standard output, until the last of the children that write to it has ended.
func (r *Run) command(ctx context.Context, what string, c *exec.Cmd, out io.Writer) error {
	var copying sync.WaitGroup
	var ends []*os.File
	stream := func(to io.Writer) (*os.File, error) {
		in, out, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		ends = append(ends, out)
		copying.Go(func() {
			defer in.Close()
			// If the stream ends early, what came before is shown.
			_, _ = io.Copy(to, in)
		})
		return out, nil
	}
	closeEnds := func() {
		for _, f := range ends {
			f.Close()
		}
	}
	late := lateOutput
	if out == nil {
		out = r.session.Stdout()
	} else {
		late = math.MaxInt64
	}
	end, err := stream(out)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	c.Stdout = end
	if end, err = stream(r.session.Stderr()); err != nil {
		closeEnds()
		return fmt.Errorf("%s: %w", what, err)
	}
	c.Stderr = end
	err = c.Start()
	closeEnds()
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	ended := make(chan error, 1)
	go func() {
		err := c.Wait()
		copied := make(chan struct{})
		go func() { // ends with the last of the command's children
			copying.Wait()
			close(copied)
		}()
		within(late, copied)
		ended <- err
	}()
	select {
	case err = <-ended:
	case <-ctx.Done():
		tree := descendants.Of(c.Process.Pid)
		tree.Interrupt()
		time.AfterFunc(grace, tree.Kill)
		// Output that comes soon still belongs to the cell.
		select {
		case err = <-ended:
		case <-time.After(interruptWait):
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var status *exec.ExitError
	if errors.As(err, &status) {
		return fmt.Errorf("%s: %w", what, status)
	} else if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// within waits for done, at most for d.
func within(d time.Duration, done <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
