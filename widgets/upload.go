package widgets

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// File is a file of a [FileUpload].
type File struct {
	Name     string    // without a folder
	Type     string    // the MIME type that the browser assumes; may be empty
	Content  []byte    // the bytes of the file
	Modified time.Time // when it was last modified
}

// Limits of an upload. The kernel holds the files in memory.
const (
	maxUploadBytes = 64 << 20
	maxUploadFiles = 1000
)

// UploadError is returned for files that were not accepted.
type UploadError struct {
	Name    string // of the file; empty if the problem concerns all
	Problem string // why they were not accepted
}

// Error names the file and the problem.
func (e *UploadError) Error() string {
	if e.Name == "" {
		return "widgets: upload: " + e.Problem
	}
	return fmt.Sprintf("widgets: upload of %q: %s", e.Name, e.Problem)
}

// FileUpload is a button with which a user selects files of the own computer, which the front end sends
// to the kernel: at most 64 MiB and 1000 files at once. Notebook servers have lower limits; Jupyter
// Server accepts messages of 10 MiB if it is not configured otherwise. The files are part of the saved
// states of the widgets.
type FileUpload struct {
	valued[[]File]
	err error // of the last upload; guarded by model.mu
}

// NewFileUpload returns a button without files. By default a user selects one file of any type; see
// [Accept] and [Multiple].
func NewFileUpload(options ...Option) *FileUpload {
	fit := func(files []File) any { return uploads(files) }
	u := &FileUpload{valued: newValued(kind[[]File]{name: "FileUpload", style: buttonStyle, fit: fit, state: map[string]any{
		"accept": "", "multiple": false, "icon": "upload", "button_style": "", "error": "",
	}}, nil, append([]Option{Description("Upload")}, options...))}
	u.text = func() string {
		var files []string
		for _, f := range u.now() {
			files = append(files, fmt.Sprintf("%q (%d bytes)", f.Name, len(f.Content)))
		}
		return "FileUpload(" + strings.Join(files, ", ") + ")"
	}
	u.accepts["error"] = func(text json.RawMessage) (any, error) { return decode[string](text) }
	u.quiet = []string{"error"}
	multiple := get[bool](u.model, "multiple")
	u.accepts["value"] = func(text json.RawMessage) (any, error) {
		files, err := readFiles(text, u.buffers, multiple)
		u.err = err // the lock is held
		return files, err
	}
	u.reject = func(err error) {
		u.set("error", err.Error())
		u.set("value", uploads(u.now())) // replaces what the front end has
	}
	return u
}

// Value returns the files of the last upload.
func (u *FileUpload) Value() []File { return u.now() }

// SetValue replaces the files; nil removes them.
func (u *FileUpload) SetValue(files []File) { u.put(files) }

// OnChange calls f when a user has uploaded files.
func (u *FileUpload) OnChange(f func(files []File)) { u.listen(f) }

// Err returns a [*UploadError] if the last upload was not accepted. Value is then that of the upload
// before.
func (u *FileUpload) Err() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// uploads are files as the state has them.
type uploads []File

func (u uploads) value() []File { return u }

// wire returns the files in the format of the front end; their contents become buffers.
func (u uploads) wire() any {
	all := make([]any, len(u))
	for i, f := range u {
		all[i] = map[string]any{
			"name": f.Name, "type": f.Type, "size": len(f.Content), "content": notNil(f.Content), "last_modified": f.Modified.UnixMilli(),
		}
	}
	return all
}

// readFiles decodes the files of an upload, whose contents are buffers with paths such as value, 0, content.
func readFiles(text json.RawMessage, buffers []buffer, multiple bool) (uploads, error) {
	var in []struct {
		Name     string  `json:"name"`
		Type     string  `json:"type"`
		Size     float64 `json:"size"`
		Modified float64 `json:"last_modified"` // in milliseconds since 1970
	}
	if err := json.Unmarshal(text, &in); err != nil || in == nil {
		return nil, &UploadError{Problem: "the message of the front end is no list of files"}
	}
	switch {
	case len(in) > 1 && !multiple:
		return nil, &UploadError{Problem: fmt.Sprintf("%d files were sent, but the widget is for one: see Multiple", len(in))}
	case len(buffers) > len(in):
		return nil, &UploadError{Problem: fmt.Sprintf("%d contents were sent for %d files", len(buffers), len(in))}
	case len(in) > maxUploadFiles:
		return nil, &UploadError{Problem: fmt.Sprintf("%d files were sent; the limit is %d", len(in), maxUploadFiles)}
	}
	contents := map[string][]byte{}
	for _, b := range buffers {
		contents[fmt.Sprint(b.path...)] = b.content
	}
	files, total := make(uploads, len(in)), 0
	for i, f := range in {
		content := contents[fmt.Sprint("value", i, "content")]
		total += len(content)
		switch {
		case f.Name == "" || f.Name == "." || f.Name == ".." || strings.ContainsAny(f.Name, "/\\\x00"):
			return nil, &UploadError{f.Name, "the name is no name of a file in a folder"}
		case f.Size != float64(len(content)):
			return nil, &UploadError{f.Name, fmt.Sprintf("%d of %.0f bytes have arrived", len(content), f.Size)}
		case total > maxUploadBytes:
			return nil, &UploadError{f.Name, fmt.Sprintf("the files have more than %d MiB; read them from the disk of the kernel instead", maxUploadBytes>>20)}
		}
		files[i] = File{f.Name, f.Type, content, time.UnixMilli(int64(clamp(f.Modified, -exact, exact))).UTC()}
	}
	return files, nil
}
