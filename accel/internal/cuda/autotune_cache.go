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

// tuned is the result of measuring a step.
type tuned struct {
	Op         string          `json:"op"` // with its shapes
	Selected   string          `json:"selected"`
	Candidates []candidateTime `json:"candidates"`
}

// candidateTime is the time of a candidate.
type candidateTime struct {
	Name         string  `json:"name"`
	Milliseconds float64 `json:"milliseconds,omitempty"`
	Rejected     string  `json:"rejected,omitempty"` // why it is never selected; then it has no time
}

// tuningCache holds the candidates that were measured to be the fastest. A file keeps
// them with the times of all candidates, so that a program computes the same results when it runs again on the machine:
// two algorithms differ in the last bits, and which of two equally fast ones is the
// fastest differs from run to run. An entry of the file is a hint: the candidate is run
// before it is selected.
type tuningCache struct {
	path  string // empty for no file
	scope string // what the times depend on besides the step: device and kernels
	known map[string]tuned
}

// maxTuned is how many entries a file holds before it is started again.
const maxTuned = 1 << 14

// openTuningCache reads the entries of a file. Errors are logged: they cost a measurement.
func openTuningCache(path, device string) *tuningCache {
	// The fingerprint changes with the kernels, also in builds without a version.
	c := &tuningCache{path: path, scope: device + " " + kernels.Fingerprint(), known: map[string]tuned{}}
	read, err := c.read()
	if err != nil {
		slog.Debug("cuda: algorithms are measured again", "error", err)
	}
	maps.Copy(c.known, read)
	return c
}

func (c *tuningCache) read() (map[string]tuned, error) {
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
	var read map[string]tuned
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	return read, nil
}

func (c *tuningCache) key(step any) string { return fmt.Sprintf("%s %T %+v", c.scope, step, step) }

// get returns what was measured for a step; nothing is selected if it is not known.
func (c *tuningCache) get(key any) tuned { return c.known[c.key(key)] }

// put sets what was measured for a step.
func (c *tuningCache) put(key any, t tuned) { c.known[c.key(key)] = t }

// save writes the file, merged with what other processes have written meanwhile. Errors
// are logged: the next process measures again.
func (c *tuningCache) save() {
	if c.path == "" {
		return
	}
	if err := c.write(); err != nil {
		slog.Debug("cuda: measured algorithms are not saved", "error", err)
	}
}

func (c *tuningCache) write() error {
	all, err := c.read()
	if err != nil || all == nil || len(all) >= maxTuned {
		all = map[string]tuned{} // replace a file that cannot be read
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
