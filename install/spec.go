package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// Names of the kernelspec that an ordinary installation writes.
const (
	DefaultName        = "quern"
	DefaultDisplayName = "Go (Quern)"
)

// Spec is what kernel.json says.
type Spec struct {
	Name        string            // folder name: letters, digits, dot, dash, underscore
	DisplayName string            // what a launcher shows
	Executable  string            // absolute path of the quern binary
	Env         map[string]string // extra environment of the kernel; may be nil
}

// kernelJSON is the file's own shape and order.
type kernelJSON struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Env           map[string]string `json:"env,omitempty"`
	Metadata      map[string]any    `json:"metadata"`
}

var validName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// NameError says that a kernelspec cannot have this name.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("kernelspec name %q: only letters, digits, dot, dash and underscore are allowed", e.Name)
}

// JSON is the text of kernel.json. It returns a *NameError for a bad name.
func (s Spec) JSON() ([]byte, error) {
	if !validName.MatchString(s.Name) || strings.Trim(s.Name, ".") == "" {
		return nil, &NameError{s.Name}
	}
	if !filepath.IsAbs(s.Executable) {
		return nil, fmt.Errorf("kernelspec executable %q is not an absolute path", s.Executable)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(kernelJSON{
		Argv:        []string{s.Executable, "kernel", "-f", "{connection_file}"},
		DisplayName: s.DisplayName,
		Language:    "go",
		// A message reaches the kernel alone, on every system; a signal would hit
		// the worker and the user's own child processes too.
		InterruptMode: "message",
		Env:           s.Env,
		Metadata:      map[string]any{"debugger": false, "supported_encryption": []string{"curve"}},
	})
	return b.Bytes(), err
}

// executableName is the file name of the binary on this system.
func executableName() string {
	if runtime.GOOS == "windows" {
		return "quern.exe"
	}
	return "quern"
}
