package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// Names of the kernelspec in a default installation.
const (
	DefaultName        = "quern"
	DefaultDisplayName = "Go (Quern)"
)

// ResourceDir is what Jupyter replaces in kernel.json by the folder of the kernelspec. With it a package
// works wherever it is unpacked.
const ResourceDir = "{resource_dir}"

// Spec is the content of kernel.json.
type Spec struct {
	Name        string            // folder name: letters, digits, dot, dash, underscore
	DisplayName string            // name in the launcher
	Executable  string            // absolute path of the quern binary, or one that begins with ResourceDir
	Env         map[string]string // extra environment of the kernel; may be nil
	Metadata    map[string]any    // more metadata, such as that of a kernel provisioner; may be nil
	Gateway     bool              // started by a process proxy of Enterprise Gateway on another machine
}

// kernelJSON has the structure and order of the file.
type kernelJSON struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Env           map[string]string `json:"env,omitempty"`
	Metadata      map[string]any    `json:"metadata"`
}

var validName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// NameError reports an invalid name of a kernelspec.
type NameError struct {
	Name string // as requested
}

func (e *NameError) Error() string {
	return fmt.Sprintf("kernelspec name %q: only letters, digits, dot, dash and underscore are allowed", e.Name)
}

// JSON returns the content of kernel.json. It returns a *NameError for an invalid name.
func (s Spec) JSON() ([]byte, error) {
	if !validName.MatchString(s.Name) || strings.Trim(s.Name, ".") == "" {
		return nil, &NameError{s.Name}
	}
	if !filepath.IsAbs(s.Executable) && !path.IsAbs(s.Executable) && !strings.HasPrefix(s.Executable, ResourceDir+"/") {
		return nil, fmt.Errorf("kernelspec executable %q is not an absolute path, nor one that begins with %s/", s.Executable, ResourceDir)
	}
	metadata := map[string]any{"debugger": false, "supported_encryption": []string{"curve"}}
	maps.Copy(metadata, s.Metadata)
	argv := []string{s.Executable, "kernel", "-f", "{connection_file}"}
	if s.Gateway {
		argv = []string{s.Executable, "launch", "--kernel-id", "{kernel_id}", "--response-address", "{response_address}",
			"--public-key", "{public_key}", "--port-range", "{port_range}"}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(kernelJSON{
		Argv:        argv,
		DisplayName: s.DisplayName,
		Language:    "go",
		// An interrupt message reaches only the kernel, on all systems. A signal would
		// also reach the worker and the user's child processes.
		InterruptMode: "message",
		Env:           s.Env,
		Metadata:      metadata,
	})
	return b.Bytes(), err
}

// executableName returns the file name of the binary on this system.
func executableName() string {
	if runtime.GOOS == "windows" {
		return "quern.exe"
	}
	return "quern"
}
