package cuda

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"

	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/internal/atomicfile"
)

// choices are the ways that were measured to be the fastest. A file keeps them, so
// that the same program computes the same numbers when it runs again on the machine:
// two ways differ in the last bits, and near ties would fall now this way and now
// that. What the file holds is taken for advice, and tried before it is followed.
type choices struct {
	path  string // empty for no file
	scope string // what the times depend on beyond the step
	known map[string]string
}

// mostChoices is how many a file holds; then it starts again.
const mostChoices = 1 << 14

// openChoices reads a file for a device.
func openChoices(path, device string) *choices {
	// Own kernels differ between versions, which their code tells even of builds without a version.
	c := &choices{path: path, scope: device + " " + kernels.Fingerprint(), known: map[string]string{}}
	read, err := c.read()
	if err != nil {
		slog.Debug("cuda: choices are measured anew", "error", err)
	}
	maps.Copy(c.known, read)
	return c
}

func (c *choices) read() (map[string]string, error) {
	if c.path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var read map[string]string
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	return read, nil
}

func (c *choices) key(kind any) string { return fmt.Sprintf("%s %T %+v", c.scope, kind, kind) }

// named is a way in a file: ways of one name differ in their number.
func named(number int, way step) string {
	name := "own kernel"
	if l, ok := way.(interface{ name() string }); ok {
		name = l.name()
	}
	return fmt.Sprintf("%d %s", number, name)
}

// get is the way that was the fastest; ok is false where that is not known.
func (c *choices) get(kind any, ways []step) (number int, ok bool) {
	name, ok := c.known[c.key(kind)]
	if !ok {
		return 0, false
	}
	for i, w := range ways {
		if named(i, w) == name {
			return i, true
		}
	}
	return 0, false
}

// put keeps a choice.
func (c *choices) put(kind any, number int, way step) { c.known[c.key(kind)] = named(number, way) }

// save writes the file, with what other processes have written meanwhile. A machine
// whose file cannot be written measures again.
func (c *choices) save() {
	if c.path == "" {
		return
	}
	if err := c.write(); err != nil {
		slog.Debug("cuda: choices are not kept", "error", err)
	}
}

func (c *choices) write() error {
	all, err := c.read()
	if err != nil || all == nil || len(all) >= mostChoices {
		all = map[string]string{} // a file that cannot be read is replaced
	}
	maps.Copy(all, c.known)
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o755); err != nil {
		return err
	}
	return atomicfile.Replace(c.path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
